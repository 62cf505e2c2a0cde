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
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Options says what may go.
type Options struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	// Grace is how long a load that nobody needs stays for readers that still know it
	// (0: 24 hours). It must be above the catalog TTL of all clients.
	Grace time.Duration
	// Alone: the caller holds the store's ingest lock, so no load is in progress
	// whatever its lease says, and none was ever seen by a reader.
	Alone  bool
	DryRun bool
	Now    func() time.Time // nil: time.Now
}

// Report is what gc did, or would do.
type Report struct {
	Job       string    `json:"job"`
	Started   time.Time `json:"started"`
	Seconds   float64   `json:"seconds"`
	Artifacts int       `json:"artifacts"`           // records looked at
	Loads     int       `json:"loads"`               // abandoned and superseded ones that were dropped
	Orphans   int       `json:"orphans"`             // of these: loads that no record named
	Records   int       `json:"records"`             // that had nothing left and went
	Lost      int       `json:"lost"`                // previous loads whose rows were gone: nothing can be rolled back to them
	Names     int       `json:"names"`               // and waiters, that led to no record and no rows
	Conflicts int       `json:"conflicts,omitempty"` // records of what nobody has to settle any more
	Freed     int64     `json:"freed"`               // bytes that unfinished batches had left
	// Damaged is what was lost otherwise than by gc. gc leaves all that it finds of it.
	Damaged []report.Problem `json:"damaged"`
}

// Run drops the rows of loads whose lease, plus grace, is over: abandoned ones,
// and those that were replaced twice. An entry is marked, then its rows are dropped, then it is
// removed, so a death in between leaves rows that are still named and go next
// time. Rows that no record names go too, once they are older than the grace, and names that lead to
// neither a record nor rows. Where names or the ledger say that a record was there, its rows stay: see GCReport.Damaged.
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

type collector struct {
	Options
	cat    *catalog.Catalog
	before time.Time          // what was over then is due
	beyond time.Time          // and so is what no clock that is right can have written
	known  map[symbol.ID]bool // artifacts that had a record when gc began, without those that it removed
	report *Report
}

func (g *collector) run(ctx context.Context) error {
	var due []symbol.ID
	var older []olderLoad
	err := g.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
		g.report.Artifacts++
		g.known[r.ID] = true
		if record.HasRows(r.Previous) {
			older = append(older, olderOf(r))
		}
		if r.Published == nil && len(r.Progress) == 0 || slices.ContainsFunc(r.Progress, g.expired) {
			due = append(due, r.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range due {
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
	if err := g.conflicts(ctx); err != nil {
		return err
	}
	if err := g.waits(ctx); err != nil || g.DryRun {
		return err
	}
	g.report.Freed, err = g.Store.Blocks.Tidy(ctx, g.before)
	return err
}

func (g *collector) expired(p catalog.Progress) bool {
	return g.over(p.Lease) || g.Alone && p.Owner != record.Superseded
}

func (g *collector) over(t time.Time) bool { return t.Before(g.before) || t.After(g.beyond) }

// record drops what is due of one artifact.
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
		gone = r.Published == nil && r.Previous == nil && len(r.Progress) == 0 && r.State == catalog.Live
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

// change swaps a record for a copy that edit has changed; one that holds
// nothing any more is removed, with the names that lead to it.
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
		if next.Published == nil && next.Previous == nil && len(next.Progress) == 0 && next.State == catalog.Live {
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
