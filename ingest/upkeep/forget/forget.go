// Package forget removes artifacts from store, lake and names, by id or by rules.
//
//	choose   the rules pick artifacts, or names of builds
//	mark     a record answers no more; its loads wait for removal
//	ledger   objects without any other artifact are marked
//	remove   rows, names and look-up times
//
// If the process dies, the marked artifacts answer no more, and the next forget removes them.
package forget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Options names the artifacts to remove: by id, or all artifacts that every given rule applies to.
type Options struct {
	projection.Stores
	Artifacts []symbol.ID

	App        string        // APP or APP@BUILD; "": any app, and artifacts without an app
	KeepLast   int           // keep so many builds of each app that were loaded last (0: none)
	OlderThan  time.Duration // loaded longer ago than this (0: at any time)
	UnaskedFor time.Duration // not looked up for so long (0: at any time)

	DryRun bool
	Now    func() time.Time // nil: time.Now
}

// Report counts the removed artifacts, or the ones that would be removed.
type Report struct {
	Job       string   `json:"job"`
	Started   string   `json:"started"`
	Seconds   float64  `json:"seconds"`
	DryRun    bool     `json:"dry_run,omitempty"`
	Artifacts int      `json:"artifacts"` // removed
	Loads     int      `json:"loads"`     // of these
	Bytes     uint64   `json:"bytes"`     // of these loads' rows
	Renamed   int      `json:"renamed"`   // that lost a build and belong to others still
	Objects   int      `json:"objects"`   // of the ledger that hold nothing else
	Forgotten []string `json:"forgotten"` // ids, 1,000 at most
}

var (
	// ErrUnasked says that the store has not noted look-ups for as long as the rule asks.
	ErrUnasked = errors.New("look-ups have not been noted for so long")
	errNoRule  = errors.New("no artifact and no rule given")
)

// Run removes artifacts from store, lake and names. A mark stays in their records and in the ledger;
// only a forced ingest lifts it.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	began := o.Now()
	f := &forgetter{Options: o, cat: catalog.New(o.Store.Catalog, o.Keyring), doomed: map[symbol.ID]bool{}, builds: map[symbol.ID][]string{},
		report: &Report{Job: "forget", Started: began.UTC().Format(time.RFC3339), DryRun: o.DryRun, Forgotten: []string{}}}
	err := f.run(ctx)
	f.report.Objects = int(f.objects.Load())
	f.report.Seconds = o.Now().Sub(began).Seconds()
	return f.report, err
}

// forgetter is one forget at work.
type forgetter struct {
	Options
	cat    *catalog.Catalog
	doomed map[symbol.ID]bool     // artifacts to remove
	builds map[symbol.ID][]string // builds to take from artifacts that stay
	report *Report
	// objects are marked several at a time.
	objects atomic.Int64
}

func (f *forgetter) run(ctx context.Context) error {
	switch {
	case len(f.Artifacts) > 0:
		for _, id := range f.Artifacts {
			f.doomed[id] = true
		}
	case f.App == "" && f.KeepLast == 0 && f.OlderThan == 0 && f.UnaskedFor == 0:
		return errNoRule
	default:
		if err := f.choose(ctx); err != nil {
			return err
		}
	}
	if !f.DryRun {
		// An earlier forget may have died.
		err := f.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
			if r.State == catalog.Forgotten && len(r.Names)+len(r.Progress) > 0 {
				f.doomed[r.ID] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for id, names := range f.builds {
		if f.doomed[id] {
			continue
		}
		f.report.Renamed++
		if !f.DryRun {
			if err := record.RemoveNames(ctx, f.cat, id, func(n symbol.Name) bool { return record.IsBuild(n, names) }); err != nil {
				return err
			}
		}
	}
	var ids []symbol.ID
	for id := range f.doomed {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		if err := f.mark(ctx, id); err != nil {
			return fmt.Errorf("forget artifact %s: %w", id, err)
		}
	}
	if err := f.ledger(ctx); err != nil || f.DryRun {
		return err
	}
	if f.Lake != nil && len(ids) > 0 {
		if err := f.Lake.Drop(ctx, ids); err != nil {
			return fmt.Errorf("drop artifacts from the lake: %w", err)
		}
	}
	return parallel.Each(ids, func(id symbol.ID) error { return f.remove(ctx, id) })
}

// mark takes the loads of an artifact out of sight: look-ups find none from now on.
func (f *forgetter) mark(ctx context.Context, id symbol.ID) error {
	for {
		old, err := f.cat.Artifacts.Get(ctx, id)
		if err != nil || old == nil {
			return err
		}
		next := record.Copy(old, id)
		next.State, next.Published, next.Previous = catalog.Forgotten, nil, nil
		var bytes uint64
		loads := 0
		for _, l := range []*row.Loaded{old.Published, old.Previous} {
			if l != nil {
				next.Progress = append(next.Progress, catalog.Progress{Load: l.Load, Owner: record.Superseded, Lease: f.Now()})
				bytes += l.Bytes
				loads++
			}
		}
		for i := range next.Progress { // one under way can no longer be published
			next.Progress[i].Owner = record.Superseded
		}
		if !f.DryRun && (old.State != catalog.Forgotten || loads > 0) {
			err := f.cat.Artifacts.Swap(ctx, old, next)
			if errors.Is(err, sinks.ErrConflict) {
				continue
			}
			if err != nil {
				return err
			}
		}
		f.report.Artifacts++
		f.report.Loads += loads
		f.report.Bytes += bytes
		if len(f.report.Forgotten) < report.MaxListed {
			f.report.Forgotten = append(f.report.Forgotten, id.String())
		}
		return nil
	}
}

// remove drops rows and names of a marked artifact. Its id and the mark stay.
func (f *forgetter) remove(ctx context.Context, id symbol.ID) error {
	rec, err := f.cat.Artifacts.Get(ctx, id)
	if err != nil || rec == nil || rec.State != catalog.Forgotten {
		return err
	}
	var drop [][]byte
	for _, p := range rec.Progress {
		drop = append(drop, row.LoadPrefix(id, p.Load))
	}
	if len(drop) > 0 {
		if err := f.Store.Blocks.Drop(ctx, drop); err != nil {
			return err
		}
	}
	for _, n := range rec.Names {
		if err := f.cat.Names.Remove(ctx, n.Text, catalog.Ref{Artifact: id}); err != nil {
			return err
		}
	}
	if err := f.cat.Demand.RemoveAsked(ctx, id); err != nil {
		return err
	}
	next := record.Copy(rec, id)
	next.Names, next.Progress = nil, nil
	err = f.cat.Artifacts.Swap(ctx, rec, next)
	if errors.Is(err, sinks.ErrConflict) {
		return nil // a forced ingest brought it back, or the next forget ends it
	}
	return err
}

// ledger marks objects without artifacts that stay.
func (f *forgetter) ledger(ctx context.Context) error {
	if len(f.doomed) == 0 {
		return nil
	}
	var touched []*catalog.Object
	err := f.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		if slices.ContainsFunc(ledger.Artifacts(o), func(id symbol.ID) bool { return f.doomed[id] }) {
			touched = append(touched, o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(touched, func(o *catalog.Object) error { return f.object(ctx, o) })
}

// object changes the ledger entry of one object.
func (f *forgetter) object(ctx context.Context, o *catalog.Object) error {
	for {
		next := *o
		next.Artifacts = slices.Clone(o.Artifacts)
		left, gone := 0, int64(0)
		for i := range next.Artifacts {
			a := &next.Artifacts[i]
			switch {
			case f.doomed[a.ID]:
				a.Outcome = ledger.OutcomeForgotten
			case a.Outcome == ledger.OutcomeLoaded, a.Outcome == ledger.OutcomeKept, a.Outcome == ledger.OutcomeConflict:
				left++
			}
		}
		switch {
		case left == 0:
			next.State, next.Reason, next.Last, next.Owner = catalog.ObjectGone, ledger.ReasonForgotten, f.Now(), row.WorkerID{}
			gone = 1
		case !slices.ContainsFunc(next.Artifacts, func(a catalog.ObjectArtifact) bool { return a.Outcome == ledger.OutcomeLoaded }):
			next.State = ledger.StateOf(next.Artifacts)
		}
		var err error
		if !f.DryRun {
			err = f.cat.Ledger.Swap(ctx, o, &next)
		}
		if err == nil {
			f.objects.Add(gone)
		}
		if !errors.Is(err, sinks.ErrConflict) {
			return err
		}
		if o, err = f.cat.Ledger.Get(ctx, o.URL); err != nil || o == nil {
			return err
		}
	}
}
