// Package gc removes from a store what no record needs: rows of abandoned and replaced loads, names
// and waiters without an artifact, and conflicts that are past.
//
//	listed     works on the records that the catalog lists as garbage, if counters prove that this is all
//	record     marks the expired entries of a record, drops their rows, then removes the entries
//	previous   forgets previous loads without rows
//	orphans    drops rows that no record names, and names that lead nowhere
//	conflicts  removes conflicts that are past
//	waits      removes waits that are void, and records the wake-ups that are due
//	renew      writes records of earlier versions anew in the compact form
//
// A load enters its record before its first row and its first name, and the ledger entry of its object
// is older than both. gc removes rows, then names, then the record. So gc can tell leftovers from
// damage:
//
//	found without a record          meaning                             gc
//	names or waiters, no rows       a process died                      removes them
//	rows, and nothing leads there   a slow process wrote too late       removes them after the grace
//	rows, with names or an object   the record was lost                 keeps and reports them
//	  that the ledger calls loaded
//
// A published load without a ledger entry of its object is damage of the ledger, unless it was copied
// without the entry (row.Loaded.Copied). Package verify reports it.
package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Options says what gc may remove.
type Options struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	// Grace is how long a replaced load stays for readers that still know it (0: 24 hours). It must be
	// above the catalog TTL of all clients.
	Grace time.Duration
	// Alone says that the caller holds the store's ingest lock. Then no load is in progress, even if
	// its lease runs, and no reader has ever seen one.
	Alone  bool
	DryRun bool
	Now    func() time.Time // nil: time.Now
	// Progress is called as gc goes on, from one goroutine (nil: none). stage names the things that done counts: record,
	// load, row. total is 0 where it is not known.
	Progress func(stage string, done, total int)
}

// Report tells what gc did, or would do.
type Report struct {
	Job       string    `json:"job"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Artifacts int       `json:"artifacts"`           // records read, or counted by the store
	Loads     int       `json:"loads"`               // dropped: abandoned and superseded
	Orphans   int       `json:"orphans"`             // of Loads: without a record
	Records   int       `json:"records"`             // removed, because they were empty
	Lost      int       `json:"lost"`                // previous loads without rows: a rollback cannot reach them
	Names     int       `json:"names"`               // names and waiters that led to no record and no rows
	Conflicts int       `json:"conflicts,omitempty"` // removed, because they were past
	Renewed   int       `json:"renewed,omitempty"`   // records of earlier versions that were written anew
	Freed     int64     `json:"freed"`               // bytes that unfinished batches and unused pages of the catalog had left
	// Damaged lists losses that gc did not cause. gc keeps everything that is left of them.
	Damaged []report.Problem `json:"damaged"`
}

// Run drops the rows of loads with a lease that ended more than the grace ago: abandoned loads, and loads
// that were replaced twice. It also drops rows without a record that are older than the grace, and
// names that lead to neither a record nor rows. It keeps rows without a record, and lists them in
// Report.Damaged.
//
// If the process dies, the rows that are left are still named, and the next Run drops them.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Grace == 0 {
		o.Grace = 24 * time.Hour
	}
	g := &collector{Options: o, known: make(map[symbol.ID]bool), cat: catalog.New(o.Store.Catalog, o.Keyring), report: &Report{Job: "gc", Started: o.Now(), Damaged: []report.Problem{}}}
	g.before = g.report.Started.Add(-o.Grace)
	g.beyond = g.report.Started.Add(2 * record.LeaseTime)
	err := g.run(ctx)
	g.report.Seconds = o.Now().Sub(g.report.Started).Seconds()
	return g.report, err
}

// collector is one gc at work.
type collector struct {
	Options
	cat    *catalog.Catalog
	before time.Time          // leases that ended before this time are due
	beyond time.Time          // so are leases beyond this time: only a wrong clock writes them
	known  map[symbol.ID]bool // artifacts with a record when gc began, without those that gc removed
	loads  []stored.Known     // that records named when gc began, without those that are due
	report *Report
}

func (g *collector) run(ctx context.Context) error {
	done, err := g.listed(ctx)
	if err == nil && !done {
		err = g.collect(ctx)
	}
	if err != nil {
		return err
	}
	if err := g.conflicts(ctx); err != nil {
		return err
	}
	if err := g.waits(ctx); err != nil {
		return err
	}
	if err := g.renew(ctx); err != nil || g.DryRun {
		return err
	}
	if err := g.cat.SettleCounters(ctx); err != nil && !row.DoesNotOpen(err) {
		return err // verify names a record that does not open
	}
	g.report.Freed, err = g.Store.Blocks.Tidy(ctx, g.before)
	return err
}

// collect works on all records of artifacts, then on what they do not name.
func (g *collector) collect(ctx context.Context) error {
	var due, garbage []symbol.ID
	var older []olderLoad
	first := g.report.Started.Add(record.LeaseTime)
	err := g.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
		g.report.Artifacts++
		g.progress("record", g.report.Artifacts, 0)
		g.known[r.ID] = true
		g.loads = stored.AppendKnown(g.loads, r, g.expired)
		if record.HasRows(r.Previous) {
			older = append(older, olderOf(r))
		}
		if g.isDue(r) {
			due = append(due, r.ID)
		}
		if r.HasGarbage() {
			garbage = append(garbage, r.ID)
		}
		for _, p := range r.Progress {
			if p.Lease.Before(first) && p.Loads() && !g.expired(p) {
				first = p.Lease
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, id := range due {
		g.progress("load", i, len(due))
		if err := g.record(ctx, id); err != nil {
			return fmt.Errorf("collect artifact %s: %w", id, err)
		}
	}
	if err := g.previous(ctx, older); err != nil {
		return err
	}
	if err := g.orphans(ctx); err != nil {
		return err
	}
	return g.passed(ctx, garbage, first)
}

func (g *collector) progress(stage string, done, total int) {
	if g.Progress != nil {
		g.Progress(stage, done, total)
	}
}

// expired reports whether gc may drop the load of an entry.
func (g *collector) expired(p catalog.Progress) bool {
	return g.over(p.Lease) || g.Alone && p.Owner != record.Superseded
}

// over reports whether a time is due.
func (g *collector) over(t time.Time) bool { return t.Before(g.before) || t.After(g.beyond) }

// record drops the expired loads of one artifact.
func (g *collector) record(ctx context.Context, id symbol.ID) error {
	var drop [][]byte
	var loads []sinks.Load
	if g.DryRun {
		r, err := g.cat.Artifacts.Get(ctx, id)
		if err == nil && r != nil {
			for _, p := range r.Progress {
				if g.expired(p) {
					g.report.Loads++
				}
			}
		}
		return err
	}
	err := g.change(ctx, id, func(r *catalog.Record) bool {
		drop, loads = nil, nil
		for i := range r.Progress {
			if p := &r.Progress[i]; g.expired(*p) {
				p.Owner = record.Doomed
				loads = append(loads, p.Load)
				if l := p.Load; !(r.Published != nil && r.Published.Load == l || r.Previous != nil && r.Previous.Load == l) {
					drop = append(drop, row.LoadPrefix(id, l))
				}
			}
		}
		return len(loads) > 0
	})
	if err != nil {
		return err
	}
	if len(drop) > 0 {
		if err := g.Store.Blocks.Drop(ctx, drop); err != nil {
			return err
		}
	}
	gone := false
	err = g.change(ctx, id, func(r *catalog.Record) bool {
		n := len(r.Progress)
		r.Progress = slices.DeleteFunc(r.Progress, func(p catalog.Progress) bool { return p.Owner == record.Doomed && slices.Contains(loads, p.Load) })
		gone = record.Empty(r)
		return len(r.Progress) < n || gone
	})
	if err != nil {
		return err
	}
	g.report.Loads += len(loads)
	if gone {
		g.report.Records++
		delete(g.known, id)
	}
	return nil
}

// change swaps a record for a copy that edit has changed. If the copy is empty, change removes the
// record and the names that lead to it.
func (g *collector) change(ctx context.Context, id symbol.ID, edit func(*catalog.Record) bool) error {
	for range 100 {
		old, err := g.cat.Artifacts.Get(ctx, id)
		if err != nil || old == nil {
			return err
		}
		next := record.Copy(old, id)
		if !edit(next) {
			return nil
		}
		if record.Empty(next) {
			for _, n := range next.Names {
				if err := g.cat.Names.Remove(ctx, n.Text, catalog.Ref{Artifact: id}); err != nil {
					return err
				}
			}
			next = nil
		}
		if err := g.cat.Artifacts.Swap(ctx, old, next); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
	return record.ErrBusy
}
