package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Projection is a store and the lake that is made of it.
type Projection struct {
	Store   *sinks.Store
	Keyring *row.Keyring
	Lake    sinks.Lake
	// Settled leaves loads alone that were published after this: another process
	// may be about to write them (zero: none are).
	Settled time.Time
}

// Projected is what Project found to do.
type Projected struct {
	Artifacts int   // whose rows were written
	Facts     int   // of which only names or counts had changed
	Dropped   int   // that the store publishes no longer
	Bytes     int64 // of the files written
	Files     []string
}

// Project makes the lake name exactly what the store publishes, and writes what it lacks from
// the store's own rows: after a process died in between, for a lake that is new, after
// a rollback. only, when not nil, are the artifacts looked at.
func Project(ctx context.Context, p Projection, only []symbol.ID) (*Projected, error) {
	done := &Projected{}
	for tries := 0; ; tries++ {
		err := project(ctx, p, only, done)
		switch {
		case err == nil:
			return done, nil
		case !errors.Is(err, sinks.ErrConflict) || tries == maxProjections:
			return nil, err
		}
		// Another process wrote the same rows meanwhile: what it left is written.
	}
}

// maxProjections bounds how often others may write the same rows at the same time.
const maxProjections = 10

func project(ctx context.Context, p Projection, only []symbol.ID, done *Projected) error {
	live, err := p.Lake.Live(ctx)
	if err != nil {
		return fmt.Errorf("read the lake: %w", err)
	}
	w := &projector{Projection: p, cat: row.NewCatalog(p.Store.Catalog, p.Keyring), live: live, done: done}
	defer w.abort()
	if only != nil {
		for _, id := range only {
			rec, err := w.cat.Artifact(ctx, id)
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
	err = w.cat.Artifacts(ctx, func(rec *row.Record) error {
		if published(rec) {
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

// published reports whether a record has rows to show.
func published(rec *row.Record) bool {
	return rec.Published != nil && !rec.State.Removed() && len(rec.Published.WrappedKey) > 0
}

type projector struct {
	Projection
	cat    *row.Catalog
	live   map[symbol.ID]sinks.LakeMark
	batch  sinks.LakeBatch
	ranges uint64
	loads  []*sinks.LakeLoad
	done   *Projected

	artifacts, facts int // of the batch
}

func (w *projector) abort() {
	if w.batch != nil {
		w.batch.Abort()
	}
}

func (w *projector) artifact(ctx context.Context, rec *row.Record) error {
	if !published(rec) || !w.Settled.IsZero() && rec.Published.At.After(w.Settled) {
		return nil
	}
	l := lakeLoad(rec)
	mark, named := w.live[rec.ID]
	if named && mark.Load == l.Load && mark.Revision == l.Revision() {
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
		if err := exportLoad(ctx, w.Store, w.Keyring, rec, w.batch); err != nil {
			return fmt.Errorf("write the lake from the rows of artifact %s: %w", rec.ID, err)
		}
		w.artifacts++
		w.ranges += rec.Published.Ranges
	}
	w.loads = append(w.loads, l)
	if w.ranges >= lakeRanges {
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

// exportLoad writes the rows of a record's published load to a batch, as the sweep would have.
func exportLoad(ctx context.Context, s *sinks.Store, k *row.Keyring, rec *row.Record, b sinks.LakeBatch) error {
	a := rec.Published.Artifact
	if err := b.Load(&a, rec.Published.Load); err != nil {
		return err
	}
	return exportRows(ctx, s, k, rec.ID, rec.Published, b.Write)
}

// exportRows gives what the rows of a load say, a range or class a run.
func exportRows(ctx context.Context, s *sinks.Store, k *row.Keyring, id symbol.ID, l *row.Loaded, write func(*symbol.Run) error) error {
	opened, err := k.Open(id, l)
	if err != nil {
		return err
	}
	check := opened.Verify()
	runs := newRunMaker(l.Rank, write)
	prefix := row.LoadPrefix(id, l.Load)
	err = s.Blocks.Scan(ctx, sinks.Span{From: prefix, Stop: after(prefix)}, func(rw sinks.Row) error {
		block, err := check.Add(rw)
		if err != nil || block == nil {
			return err
		}
		for i := range block.Classes() {
			c, err := block.ClassAt(i)
			if err == nil {
				err = write(&symbol.Run{Class: c})
			}
			if err != nil {
				return err
			}
		}
		return runs.block(block)
	})
	if err == nil {
		_, err = check.Digest()
	}
	return errors.Join(err, opened.Err())
}

// runMaker makes runs of the ranges of blocks: one a range, all with one table of strings.
type runMaker struct {
	write   func(*symbol.Run) error
	run     symbol.Run
	numbers map[string]uint32
}

func newRunMaker(rank symbol.Rank, write func(*symbol.Run) error) *runMaker {
	return &runMaker{write: write, numbers: map[string]uint32{"": 0}, run: symbol.Run{Rank: rank, Strings: []string{""}}}
}

func (m *runMaker) block(b *row.Block) error {
	return b.Each(func(start, end uint64, chain []symbol.Frame) error {
		r := &m.run
		r.Scopes, r.Ranges = r.Scopes[:0], r.Ranges[:0]
		for i := len(chain) - 1; i >= 0; i-- { // parents first
			s := symbol.Scope{Parent: int32(len(r.Scopes) - 1), Function: m.number(chain[i].Linkage)}
			if i+1 < len(chain) {
				s.Call = m.site(&chain[i+1])
			}
			r.Scopes = append(r.Scopes, s)
		}
		if len(chain) == 0 {
			return nil
		}
		g := symbol.Range{Start: start, End: end, Scope: int32(len(r.Scopes) - 1), At: m.site(&chain[0]), Name: m.number(chain[0].Name)}
		if chain[0].Ignored {
			g.Flags |= symbol.Ignored
		}
		r.Ranges = append(r.Ranges, g)
		return m.write(r)
	})
}

func (m *runMaker) site(f *symbol.Frame) symbol.Site {
	return symbol.Site{File: m.number(f.File), Line: f.Line, Column: f.Column}
}

func (m *runMaker) number(s string) uint32 {
	n, ok := m.numbers[s]
	if !ok {
		n = uint32(len(m.run.Strings))
		m.run.Strings = append(m.run.Strings, s)
		m.numbers[s] = n
	}
	return n
}
