// Package dangling finds names and waiters that lead to artifacts without a record.
//
// A load has a record before its first name, and keeps it longer than its last name. So such a name
// means that a process died in the middle of gc, or that a record was lost.
package dangling

import (
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/catalog"
)

// Traces are the entries of a catalog that lead to one artifact without a record.
type Traces struct {
	Names   []catalog.Pair
	Waiters []companions.Wait
	Object  string // by the ledger, this object brought it; "": no object did
}

// String says how many entries lead to the artifact.
func (d *Traces) String() string {
	if len(d.Names) > 0 {
		return fmt.Sprintf("%d names lead to it", len(d.Names))
	}
	return fmt.Sprintf("%d companions wake it", len(d.Waiters))
}

// Heal says how to bring the record back.
func (d *Traces) Heal() string {
	if d.Object == "" {
		return "restore the catalog from a backup, or run symlake ingest --force with the object that holds it"
	}
	return "restore the catalog from a backup, or run symlake ingest --force " + d.Object
}

// Find returns the traces of artifacts that have no record: artifacts that names or waiters lead to,
// and the artifacts in also. known are artifacts that had a record just now.
func Find(ctx context.Context, c *catalog.Catalog, known map[symbol.ID]bool, also []symbol.ID) (map[symbol.ID]*Traces, error) {
	found := make(map[symbol.ID]*Traces)
	of := func(id symbol.ID) *Traces {
		if known[id] || id == (symbol.ID{}) {
			return nil
		}
		if found[id] == nil {
			found[id] = &Traces{}
		}
		return found[id]
	}
	for _, id := range also {
		of(id)
	}
	err := c.Names.Each(ctx, func(p catalog.Pair) error {
		if d := of(p.Artifact); d != nil {
			d.Names = append(d.Names, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = c.Waiters.Each(ctx, func(companion string, w catalog.Waiter) error {
		if d := of(w.Artifact); d != nil {
			d.Waiters = append(d.Waiters, companions.Wait{Companion: companion, Waiter: w})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id, d := range found { // a run may be at work: look again
		r, err := c.Artifacts.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if r == nil && len(d.Names) > 0 { // gc removes the names before the record
			var left []catalog.Pair
			for _, p := range d.Names {
				has, err := c.Names.HasPair(ctx, p)
				if err != nil {
					return nil, err
				}
				if has {
					left = append(left, p)
				}
			}
			d.Names = left
		}
		if r != nil || len(d.Names)+len(d.Waiters) == 0 && !slices.Contains(also, id) {
			delete(found, id)
		}
	}
	if len(found) == 0 {
		return found, nil
	}
	err = c.Ledger.Each(ctx, "", func(o *catalog.Object) error {
		for _, id := range ledger.InStore(o) {
			if d := found[id]; d != nil {
				d.Object = o.URL
			}
		}
		return nil
	})
	return found, err
}
