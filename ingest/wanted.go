package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// maxWanted bounds the table of names that were asked for in vain.
	maxWanted = 20_000
	// maxDemand bounds what one process remembers until it notes it.
	maxDemand = 4096
)

// Demand is what look-ups asked for, counted until it is noted. One goroutine.
type Demand struct {
	wanted map[string]*catalog.Wanted
	asked  map[symbol.ID]bool
}

// Missing counts a frame whose image led to nothing: its name, the image's file, the kind of stack.
func (d *Demand) Missing(name, file, kind string, now time.Time) {
	name = wantedName(name)
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

// Empty: there is nothing to note.
func (d *Demand) Empty() bool { return len(d.wanted)+len(d.asked) == 0 }

// Note adds what was counted to the catalog and begins anew. It is for information: who may not write leaves
// it, and of an error nobody else need hear.
func (d *Demand) Note(ctx context.Context, c *catalog.Catalog, now time.Time) error {
	wanted, asked := d.wanted, d.asked
	d.wanted, d.asked = nil, nil
	if err := c.AddAsked(ctx, symbol.ID{}, now); err != nil {
		return err
	}
	var ids []symbol.ID
	for id := range asked {
		ids = append(ids, id)
	}
	if err := parallel.Each(ids, func(id symbol.ID) error { return c.AddAsked(ctx, id, now) }); err != nil {
		return err
	}
	if len(wanted) == 0 {
		return nil
	}
	var all []*catalog.Wanted
	if err := c.WantedNames(ctx, func(w *catalog.Wanted) error { all = append(all, w); return nil }); err != nil {
		return err
	}
	if over := len(all) + len(wanted) - maxWanted; over > 0 {
		slices.SortFunc(all, lessWanted)
		if err := parallel.Each(all[:min(over, len(all))], func(w *catalog.Wanted) error { return c.RemoveWanted(ctx, w) }); err != nil {
			return err
		}
	}
	var list []*catalog.Wanted
	for _, w := range wanted {
		list = append(list, w)
	}
	return parallel.Each(list, func(w *catalog.Wanted) error { return c.AddWanted(ctx, *w) })
}

// lessWanted orders by what is least worth keeping: asked for least, then longest ago.
func lessWanted(a, b *catalog.Wanted) int {
	switch {
	case a.Asked != b.Asked && a.Asked < b.Asked:
		return -1
	case a.Asked != b.Asked:
		return 1
	}
	return a.Last.Compare(b.Last)
}

// Wanted lists the names that were asked for in vain, those asked for most first.
func Wanted(ctx context.Context, c *catalog.Catalog) ([]*catalog.Wanted, error) {
	var all []*catalog.Wanted
	err := c.WantedNames(ctx, func(w *catalog.Wanted) error { all = append(all, w); return nil })
	slices.SortFunc(all, func(a, b *catalog.Wanted) int { return lessWanted(b, a) })
	return all, err
}

// wantedName is a name as the table has it: in lower case, an id without dashes and age.
func wantedName(name string) string {
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

// readWanted holds the table for the run: it is bounded, and an artifact has many names.
func (j *job) readWanted(ctx context.Context) error {
	j.wanted = map[string]*catalog.Wanted{}
	return j.cat.WantedNames(ctx, func(w *catalog.Wanted) error {
		j.wanted[wantedName(w.Name)] = w
		return nil
	})
}

// arrivals tells which of an artifact's names had been asked for in vain. The names stay in the
// catalog until the report is in the outbox.
func (j *job) arrivals(id symbol.ID, names []symbol.Name) {
	for _, n := range names {
		j.mu.Lock()
		w := j.wanted[wantedName(n.Text)]
		if w != nil {
			delete(j.wanted, wantedName(n.Text))
			j.report.AddWanted(w, id)
			j.arrived = append(j.arrived, w)
		}
		j.mu.Unlock()
	}
}
