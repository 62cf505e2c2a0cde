package gc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/upkeep/dangling"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// damage reports a loss. gc does not touch the rest.
func (g *collector) damage(where string, err error) {
	g.report.Damaged = append(g.report.Damaged, report.Problem{Where: where, Error: err.Error()})
}

// without works on artifacts that have no record. rows are their loads in the store; the value says
// whether a load is old enough to drop. The package doc says what stays and what goes.
func (g *collector) without(ctx context.Context, rows map[stored.Load]bool) error {
	loads := make(map[symbol.ID][]stored.Load)
	for l := range rows {
		loads[l.Artifact] = append(loads[l.Artifact], l)
	}
	found, err := dangling.Find(ctx, g.cat, g.known, slices.Collect(maps.Keys(loads)))
	if err != nil {
		return err
	}
	ids := slices.SortedFunc(maps.Keys(found), func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range ids {
		d, of := found[id], loads[id]
		switch {
		case len(of) > 0 && (len(d.Names) > 0 || d.Object != ""):
			g.damage("artifact "+id.String(), fmt.Errorf("its record is gone, and its rows and names are there: %s", d.Heal()))
		case d.Object != "":
			// verify reports it. gc keeps the names and waiters as proof.
		case len(of) > 0:
			err = g.orphan(ctx, of, rows)
		default:
			err = g.unname(ctx, id, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// orphan drops the loads that are old enough.
func (g *collector) orphan(ctx context.Context, loads []stored.Load, old map[stored.Load]bool) error {
	for _, l := range loads {
		if !old[l] {
			continue
		}
		if err := g.drop(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// drop removes the rows of a load that no record names.
func (g *collector) drop(ctx context.Context, l stored.Load) error {
	g.report.Loads++
	g.report.Orphans++
	if g.DryRun {
		return nil
	}
	return g.Store.Blocks.Drop(ctx, [][]byte{row.LoadPrefix(l.Artifact, l.ID)})
}

// unname removes names and waiters that lead to no record and no rows. If a load has entered a record
// meanwhile, it counts on the names, and unname puts them back.
func (g *collector) unname(ctx context.Context, id symbol.ID, d *dangling.Traces) error {
	g.report.Names += len(d.Names) + len(d.Waiters)
	if g.DryRun {
		return nil
	}
	for _, p := range d.Names {
		if err := g.cat.Names.RemovePair(ctx, p); err != nil {
			return err
		}
	}
	for _, w := range d.Waiters {
		if err := g.cat.Waiters.Remove(ctx, w.Companion, w.Waiter); err != nil {
			return err
		}
	}
	r, err := g.cat.Artifacts.Get(ctx, id)
	if err != nil || r == nil {
		return err
	}
	for _, p := range d.Names {
		err = errors.Join(err, g.cat.Names.RestorePair(ctx, p))
	}
	for _, w := range d.Waiters {
		err = errors.Join(err, g.cat.Waiters.Add(ctx, w.Companion, w.Waiter))
	}
	return err
}

// olderLoad is the previous load of an artifact beside the published one.
type olderLoad struct {
	stored.Load
	published sinks.Load
	answers   bool   // the published load has rows
	url       string // of the published load's object
}

func olderOf(r *catalog.Record) olderLoad {
	o := olderLoad{Load: stored.Load{Artifact: r.ID, ID: r.Previous.Load}}
	if p := r.Published; p != nil {
		o.published, o.answers, o.url = p.Load, record.HasRows(p), p.Source.URL
	}
	return o
}

// previous forgets previous loads without rows: a rollback cannot reach them. If the published load
// has no rows either, the store has lost rows, and previous touches nothing.
func (g *collector) previous(ctx context.Context, list []olderLoad) error {
	loads := make([]stored.Load, len(list))
	for i, o := range list {
		loads[i] = o.Load
	}
	have, err := stored.HaveRows(ctx, g.Store.Blocks, loads)
	if err != nil {
		return err
	}
	for i, o := range list {
		if have[i] {
			continue
		}
		is := []bool{true}
		if o.answers {
			if is, err = stored.HaveRows(ctx, g.Store.Blocks, []stored.Load{{Artifact: o.Artifact, ID: o.published}}); err != nil {
				return err
			}
		}
		if is[0] {
			err = g.forgetPrevious(ctx, o.Load)
		} else {
			g.damage("artifact "+o.Artifact.String(), fmt.Errorf("its rows are gone: restore them from a backup, or copy them again: symlake load --force, or symlake ingest --force %s", o.url))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetPrevious takes a previous load out of its record.
func (g *collector) forgetPrevious(ctx context.Context, l stored.Load) error {
	g.report.Lost++
	if g.DryRun {
		return nil
	}
	is := func(p *row.Loaded) bool { return p != nil && p.Load == l.ID }
	gone := false
	err := g.change(ctx, l.Artifact, func(r *catalog.Record) bool {
		gone = is(r.Previous) && !is(r.Published)
		if gone {
			r.Previous = nil
		}
		return gone
	})
	if err != nil || !gone {
		return err
	}
	// The store may still name a file for it.
	return g.Store.Blocks.Drop(ctx, [][]byte{row.LoadPrefix(l.Artifact, l.ID)})
}

// orphans drops rows that no record names. Their last rows came after gc had given up their load.
func (g *collector) orphans(ctx context.Context) error {
	without := make(map[stored.Load]bool)
	err := stored.Strays(ctx, g.Store.Blocks, g.loads, func(id symbol.ID, l sinks.Load) error {
		old := g.over(stored.Began(l))
		if g.known[id] && !old {
			return nil
		}
		r, err := g.cat.Artifacts.Get(ctx, id)
		switch {
		case err != nil || record.Knows(r, l):
			return err
		case r == nil:
			without[stored.Load{Artifact: id, ID: l}] = old
			return nil
		case old:
			return g.drop(ctx, stored.Load{Artifact: id, ID: l})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.without(ctx, without)
}
