// Package wanted counts the names that look-ups ask for and the store does not have, and tells a run
// when it brings one.
package wanted

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// maxWanted bounds the table of wanted names.
	maxWanted = 20_000
	// maxDemand bounds what one process remembers until it notes it.
	maxDemand = 4096
)

// Demand counts the names and artifacts that look-ups ask for, until Note writes them down. One
// goroutine uses it.
type Demand struct {
	wanted map[string]*catalog.Wanted
	asked  map[symbol.ID]bool
}

// Missing counts a frame of an image that is not in the store: the image's name, its file, the kind of
// stack.
func (d *Demand) Missing(name, file, kind string, now time.Time) {
	name = Key(name)
	if name == "" || len(name) > 512 {
		return
	}
	if d.wanted == nil {
		d.wanted = map[string]*catalog.Wanted{}
	}
	w := d.wanted[name]
	if w == nil {
		if len(d.wanted) >= maxDemand {
			return
		}
		w = &catalog.Wanted{Name: name, File: file, Kind: kind, First: now}
		d.wanted[name] = w
	}
	w.Asked++
	w.Last = now
}

// Found notes an artifact that was asked for.
func (d *Demand) Found(id symbol.ID) {
	if d.asked == nil {
		d.asked = map[symbol.ID]bool{}
	}
	if len(d.asked) < maxDemand {
		d.asked[id] = true
	}
}

// Empty reports whether there is nothing to note.
func (d *Demand) Empty() bool { return len(d.wanted)+len(d.asked) == 0 }

// Note adds the counts to the catalog and begins anew. The counts are for information: a caller that
// may not write skips Note, and may ignore its error.
func (d *Demand) Note(ctx context.Context, c *catalog.Catalog, now time.Time) error {
	wanted, asked := d.wanted, d.asked
	d.wanted, d.asked = nil, nil
	if err := c.Demand.AddAsked(ctx, symbol.ID{}, now); err != nil {
		return err
	}
	var ids []symbol.ID
	for id := range asked {
		ids = append(ids, id)
	}
	if err := parallel.Each(ids, func(id symbol.ID) error { return c.Demand.AddAsked(ctx, id, now) }); err != nil {
		return err
	}
	if len(wanted) == 0 {
		return nil
	}
	var all []*catalog.Wanted
	if err := c.Demand.EachWanted(ctx, func(w *catalog.Wanted) error { all = append(all, w); return nil }); err != nil {
		return err
	}
	if over := len(all) + len(wanted) - maxWanted; over > 0 {
		slices.SortFunc(all, lessWanted)
		if err := parallel.Each(all[:min(over, len(all))], func(w *catalog.Wanted) error { return c.Demand.RemoveWanted(ctx, w) }); err != nil {
			return err
		}
	}
	var list []*catalog.Wanted
	for _, w := range wanted {
		list = append(list, w)
	}
	return parallel.Each(list, func(w *catalog.Wanted) error { return c.Demand.AddWanted(ctx, *w) })
}

// lessWanted puts the names first that are least worth keeping: asked for least, then longest ago.
func lessWanted(a, b *catalog.Wanted) int {
	switch {
	case a.Asked != b.Asked && a.Asked < b.Asked:
		return -1
	case a.Asked != b.Asked:
		return 1
	}
	return a.Last.Compare(b.Last)
}

// All lists the wanted names, most often asked for first.
func All(ctx context.Context, c *catalog.Catalog) ([]*catalog.Wanted, error) {
	var all []*catalog.Wanted
	err := c.Demand.EachWanted(ctx, func(w *catalog.Wanted) error { all = append(all, w); return nil })
	slices.SortFunc(all, func(a, b *catalog.Wanted) int { return lessWanted(b, a) })
	return all, err
}

// Key returns a name as the table keeps it: in lower case, an id without dashes and age.
func Key(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	bare := strings.ReplaceAll(name, "-", "")
	if len(bare) < 32 || strings.Trim(bare, "0123456789abcdef") != "" {
		return name
	}
	if len(bare) == 33 || len(name) > 36 && len(bare) > 32 && name[8] == '-' {
		return bare[:32]
	}
	return bare
}

// Names are the wanted names of the catalog, held for a run: their number is bounded, and an
// artifact has many names. Several goroutines may use them.
type Names struct {
	mu      sync.Mutex
	byKey   map[string]*catalog.Wanted
	arrived []*catalog.Wanted
}

// Read reads the wanted names of a catalog.
func Read(ctx context.Context, c *catalog.Catalog) (*Names, error) {
	n := &Names{byKey: map[string]*catalog.Wanted{}}
	err := c.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		n.byKey[Key(w.Name)] = w
		return nil
	})
	return n, err
}

// Arrive notes that the run brought an artifact with this name. It returns the wanted name, once,
// and nil if look-ups did not ask for it.
func (n *Names) Arrive(name string) *catalog.Wanted {
	key := Key(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.byKey[key]
	if w != nil {
		delete(n.byKey, key)
		n.arrived = append(n.arrived, w)
	}
	return w
}

// Strike removes the names that arrived from the catalog. A run calls it once its report is in the
// outbox.
func (n *Names) Strike(ctx context.Context, c *catalog.Catalog) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return parallel.Each(n.arrived, func(w *catalog.Wanted) error { return c.Demand.RemoveWanted(ctx, w) })
}
