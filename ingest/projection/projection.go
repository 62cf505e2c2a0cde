// Package projection keeps a lake up to date with its store, and compacts it.
package projection

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Stores is a store and the lake that is made of it.
type Stores struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake
	// Until protects loads that were published after it: another process may be about to write them
	// (zero: no load is protected).
	Until time.Time
	Now   func() time.Time // nil: time.Now
}

// Result counts the work of Update.
type Result struct {
	Artifacts int   // their rows were written
	Facts     int   // only names or counts of these artifacts had changed
	Dropped   int   // artifacts that the store no longer publishes
	Left      int   // artifacts that Until protects
	Bytes     int64 // of the files written
	Files     []string
}

// Update makes the lake name exactly the loads that the store publishes. It writes missing rows from the
// store's own rows: after a process died, for a new lake, after a rollback. only restricts it to some
// artifacts (nil: all).
func Update(ctx context.Context, p Stores, only []symbol.ID) (*Result, error) {
	if only != nil {
		return update(ctx, p, only, nil)
	}
	cat := catalog.New(p.Store.Catalog, p.Keyring)
	noted, lags, err := lagging(ctx, p.Lake, cat)
	if err != nil {
		return nil, err
	}
	return updateAll(ctx, p, cat, noted, lags, nil)
}

// CatchUp makes the lake name the loads that the store publishes, as Update does. It compares all of them only if something
// may differ: a process died, or changed records without the lake, or the store has not noted the end of the lake's log. alive
// tells whether the worker of a lag still looks after its changes itself.
func CatchUp(ctx context.Context, p Stores, alive func(context.Context, row.WorkerID) (bool, error)) (*Result, error) {
	cat := catalog.New(p.Store.Catalog, p.Keyring)
	noted, all, err := lagging(ctx, p.Lake, cat)
	if err != nil {
		return nil, err
	}
	var lags []*catalog.Lag
	for _, l := range all {
		lives := false
		if l.Worker != (row.WorkerID{}) {
			if lives, err = alive(ctx, l.Worker); err != nil {
				return nil, err
			}
		}
		if !lives {
			lags = append(lags, l)
		}
	}
	if noted && len(lags) == 0 {
		return &Result{}, nil
	}
	return compare(ctx, p, cat, lags, noted, nil)
}

// lagging reports whether the store has noted the end of the lake's log, and returns all lags.
func lagging(ctx context.Context, lake sinks.Lake, cat *catalog.Catalog) (noted bool, lags []*catalog.Lag, err error) {
	if noted, err = lake.Noted(ctx); err != nil {
		return false, nil, fmt.Errorf("read the lake: %w", err)
	}
	err = cat.Lakes.EachLag(ctx, func(l *catalog.Lag) error {
		lags = append(lags, l)
		return nil
	})
	return noted, lags, err
}

// updateAll compares all artifacts. noted and all are what lagging returned.
func updateAll(ctx context.Context, p Stores, cat *catalog.Catalog, noted bool, all []*catalog.Lag, progress func(done, total int)) (*Result, error) {
	workers := map[row.WorkerID]bool{}
	err := cat.Workers.Each(ctx, func(w *catalog.Worker) error {
		workers[w.ID] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	// A worker with a lease may change more. A worker without a lease has ended.
	lags := slices.DeleteFunc(all, func(l *catalog.Lag) bool { return workers[l.Worker] })
	return compare(ctx, p, cat, lags, noted, progress)
}

// compare compares all artifacts, and ends lags that the lake has followed then. noted says that the store has noted the end of
// the lake's log.
func compare(ctx context.Context, p Stores, cat *catalog.Catalog, lags []*catalog.Lag, noted bool, progress func(done, total int)) (*Result, error) {
	if !noted {
		// The first commit of this comparison notes the end. If the process dies after it, the lag tells that the lake is not
		// complete.
		id := row.NewWorkerID() // without a lease, so it passes for dead
		if err := cat.Lakes.NoteOf(ctx, id); err != nil {
			return nil, err
		}
		err := cat.Lakes.EachLag(ctx, func(l *catalog.Lag) error {
			if l.Worker == id {
				lags = append(lags, l)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	now := p.now()
	done, err := update(ctx, p, nil, progress)
	if err != nil || done.Left > 0 {
		return done, err
	}
	for _, l := range lags {
		if l.Worker == (row.WorkerID{}) && now.Sub(l.At) < catalog.LagAge {
			continue // its process may still change records
		}
		if err := cat.Lakes.EndLag(ctx, l); err != nil {
			return done, err
		}
	}
	return done, p.Lake.Note(ctx)
}

func (p *Stores) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// update is Update. progress is called after each artifact (nil: none).
func update(ctx context.Context, p Stores, only []symbol.ID, progress func(done, total int)) (*Result, error) {
	done := &Result{}
	for tries := 0; ; tries++ {
		err := project(ctx, p, only, done, progress)
		switch {
		case err == nil:
			return done, nil
		case !errors.Is(err, sinks.ErrConflict) || tries == maxProjections:
			return nil, err
		}
		// Another process wrote the same rows meanwhile: try the rest.
	}
}

// BatchRanges is the number of ranges after which a batch of the lake is committed: its files need no
// compaction.
const BatchRanges = 8_000_000

// maxProjections bounds the attempts while other processes write the same rows.
const maxProjections = 10

func project(ctx context.Context, p Stores, only []symbol.ID, done *Result, progress func(done, total int)) error {
	live, err := p.Lake.Live(ctx)
	if err != nil {
		return fmt.Errorf("read the lake: %w", err)
	}
	done.Left = 0
	w := &projector{Stores: p, cat: catalog.New(p.Store.Catalog, p.Keyring), live: live, done: done}
	defer w.abort()
	if only != nil {
		for _, id := range only {
			rec, err := w.cat.Artifacts.Get(ctx, id)
			if err == nil && rec != nil {
				err = w.artifact(ctx, rec)
			}
			if err != nil {
				return err
			}
		}
		return w.commit(ctx)
	}
	gone := make(map[symbol.ID]bool, len(live))
	for id := range live {
		gone[id] = true
	}
	seen := 0
	err = w.cat.Artifacts.Each(ctx, func(rec *catalog.Record) error {
		if seen++; progress != nil {
			progress(seen, 0)
		}
		if record.Published(rec) {
			delete(gone, rec.ID)
		}
		return w.artifact(ctx, rec)
	})
	if err == nil {
		err = w.commit(ctx)
	}
	if err != nil {
		return err
	}
	ids := make([]symbol.ID, 0, len(gone))
	for id := range gone {
		ids = append(ids, id)
	}
	if w.done.Dropped = len(ids); len(ids) > 0 {
		if err := p.Lake.Drop(ctx, ids); err != nil {
			return fmt.Errorf("drop artifacts from the lake: %w", err)
		}
	}
	return nil
}

// projector is one update at work.
type projector struct {
	Stores
	cat    *catalog.Catalog
	live   map[symbol.ID]sinks.LakeMark
	batch  sinks.LakeBatch
	ranges uint64
	loads  []*sinks.LakeLoad
	done   *Result

	artifacts, facts int // of the batch
}

func (w *projector) abort() {
	if w.batch != nil {
		w.batch.Abort()
	}
}

func (w *projector) artifact(ctx context.Context, rec *catalog.Record) error {
	if !record.Published(rec) {
		return nil
	}
	l := LoadOf(rec)
	mark, named := w.live[rec.ID]
	if named && mark.Load == l.Load && mark.Revision == l.Revision() {
		return nil
	}
	if !w.Until.IsZero() && rec.Published.At.After(w.Until) {
		w.done.Left++
		return nil
	}
	if w.batch == nil {
		var err error
		if w.batch, err = w.Lake.Begin(ctx); err != nil {
			return fmt.Errorf("begin a batch of the lake: %w", err)
		}
	}
	held := named && mark.Load == l.Load
	if named && !held && bytes.Compare(l.Load[:], mark.Load[:]) < 0 { // rolled back: its rows may be there still
		var err error
		if held, err = w.Lake.Holds(ctx, &l.Artifact, l.Load); err != nil {
			return fmt.Errorf("read the lake: %w", err)
		}
	}
	if held {
		w.facts++
	} else {
		if err := Export(ctx, w.Store, w.Keyring, rec, w.batch); err != nil {
			return fmt.Errorf("write the lake from the rows of artifact %s: %w", rec.ID, err)
		}
		w.artifacts++
		w.ranges += rec.Published.Ranges
	}
	w.loads = append(w.loads, l)
	if w.ranges >= BatchRanges {
		return w.commit(ctx)
	}
	return nil
}

func (w *projector) commit(ctx context.Context) error {
	if w.batch == nil {
		return nil
	}
	done, err := w.batch.Commit(ctx, w.loads)
	w.batch.Abort()
	w.batch, w.loads, w.ranges = nil, nil, 0
	if err != nil {
		return fmt.Errorf("commit a batch of the lake: %w", err)
	}
	w.done.Artifacts, w.done.Facts = w.done.Artifacts+w.artifacts, w.done.Facts+w.facts
	w.artifacts, w.facts = 0, 0
	w.done.Bytes += done.Bytes
	w.done.Files = append(w.done.Files, done.Files...)
	return nil
}

// Export writes the rows of a record's published load to a batch, as an ingest would.
func Export(ctx context.Context, s *sinks.Store, k *row.Keyring, rec *catalog.Record, b sinks.LakeBatch) error {
	a := rec.Published.Artifact
	if err := b.Load(&a, rec.Published.Load); err != nil {
		return err
	}
	return stored.Export(ctx, s, k, rec.ID, rec.Published, b)
}

// LoadOf returns the lake's description of a record's published load.
func LoadOf(rec *catalog.Record) *sinks.LakeLoad {
	l := rec.Published
	a := l.Artifact
	a.Names = rec.Names
	a.Anchors, a.Parts, a.Segments = nil, nil, nil
	q := l.Quality
	if len(q.Missing) == 0 {
		q.Missing = nil
	}
	return &sinks.LakeLoad{Artifact: a, Load: l.Load, Format: l.Format, Parser: l.Parser, Ranges: l.Ranges, Quality: q,
		URL: l.Source.URL, Member: l.Source.Member, ETag: l.Source.ETag, Size: l.Source.Size, At: l.At.UTC().Truncate(time.Microsecond)}
}
