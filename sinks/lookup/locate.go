package lookup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// Location says where a place of an artifact stands in its rows.
type Location struct {
	Known      bool // Position is known
	Position   uint64
	Row        int    // index of the row that speaks for the position
	Start, End uint64 // of the range or hole around the position; both 0 unless the row is cached
}

// Locate finds the place of a question. It reads no row, so call Lookup first if you want the range. The error is ctx's.
func (c *Client) Locate(ctx context.Context, q Query) (l Location, err error) {
	e, err := c.record(ctx, q.Artifact, c.o.Now())
	if err != nil {
		return l, err
	}
	pos, i, status, why := e.place(q.Where)
	l.Position, l.Known = pos, !errors.Is(why, errBefore) && !errors.Is(why, ErrNowhere)
	if status != symbol.Found {
		return l, nil
	}
	l.Row = i
	if b, ok := c.blocks.Get(place{e.load, int32(i)}); ok {
		l.Start, l.End = b.Range(pos)
	}
	return l, nil
}

// ClassRow returns the index of the row where a class of a mapping stands, or would stand; false if the mapping cannot be
// read or has no rows for it.
func (c *Client) ClassRow(ctx context.Context, mapping symbol.ID, class string) (int, bool) {
	e, err := c.record(ctx, mapping, c.o.Now())
	if err != nil || e.status != symbol.Found {
		return 0, false
	}
	return e.load.opened.IndexOf(class)
}

// mostNamesakes bounds the records that Namesakes reads.
const mostNamesakes = 16

// Namesakes returns the records of published artifacts that have a name, at most 16. It leaves out artifacts
// without a readable record.
func (c *Client) Namesakes(ctx context.Context, name string) (all []*catalog.Record) {
	now := c.o.Now()
	n, err := c.named(ctx, strings.ToLower(name), now)
	if err != nil {
		return nil
	}
	for _, id := range n.ids[:min(len(n.ids), mostNamesakes)] {
		if e, err := c.record(ctx, id, now); err == nil && e.rec != nil && e.rec.Published != nil {
			all = append(all, e.rec)
		}
	}
	return all
}

// Function finds the pieces of code of the function with that name, a linkage
// name or a readable one: the position where each begins, ascending. Several
// are functions of one name, or one function in several parts. Rows are not kept by
// name, so this reads and opens every one of the artifact. The answer is Found
// when that could be done, else why not.
func (c *Client) Function(ctx context.Context, id symbol.ID, name string) ([]uint64, symbol.Answer) {
	starts, a := c.Functions(ctx, id, map[string]bool{name: true})
	return starts[name], a
}

// Functions is Function for several names at once.
func (c *Client) Functions(ctx context.Context, id symbol.ID, names map[string]bool) (map[string][]uint64, symbol.Answer) {
	fail := func(err error) (map[string][]uint64, symbol.Answer) {
		return nil, symbol.Answer{Status: statusOf(err), Err: err}
	}
	e, err := c.record(ctx, id, c.o.Now())
	if err != nil {
		return fail(err)
	}
	if e.status != symbol.Found {
		return nil, symbol.Answer{Status: e.status, Err: e.err}
	}
	opened := e.load.opened
	rows := opened.Rows()
	if rows == 0 || e.load.artifact.Kind.HasClasses() {
		return nil, symbol.Answer{Status: symbol.Found}
	}
	if err := c.shared(ctx, e.load); err != nil {
		return fail(err)
	}
	readable := false
	for name := range names {
		readable = readable || strings.ContainsAny(name, "(: <~")
	}
	starts := map[string][]uint64{}
	add := func(name string, start uint64) error {
		starts[name] = append(starts[name], start)
		if n := len(starts[name]); n%1024 == 0 {
			return room.Take(ctx, 1024*16)
		}
		return nil
	}
	var last string // the outermost function of the range before
	next := uint64(0)
	i := 0
	all := sinks.Span{From: opened.Row(0).From, Stop: opened.Row(rows - 1).Stop}
	err = c.store.Blocks.Scan(ctx, all, func(r sinks.Row) error {
		if i == rows {
			return errGone
		}
		b, err := opened.Block(i, r)
		if err != nil {
			return fmt.Errorf("row %d of the load: %w", i, err)
		}
		i++
		return b.Each(func(start, end uint64, chain []symbol.Frame) error {
			outer := ""
			if len(chain) > 0 {
				outer = chain[len(chain)-1].Linkage
			}
			goes := start == next && outer == last
			last, next = outer, end
			switch {
			case goes || outer == "":
			case names[outer]:
				return add(outer, start)
			case readable:
				if name := demangle.Name(outer); names[name] {
					return add(name, start)
				}
			}
			return nil
		})
	})
	if err == nil && i < rows {
		err = errGone
	}
	if err != nil {
		return fail(err)
	}
	return starts, symbol.Answer{Status: symbol.Found}
}

// maxEntryRows bounds the rows that Entry goes back through: a function of more is taken to begin there.
const maxEntryRows = 64

// Entry gives the position where the function around a place begins: of the ranges that lead up to it
// without a gap, the first one with the same outermost function. false where the place has no answer.
func (c *Client) Entry(ctx context.Context, q Query) (uint64, bool) {
	e, err := c.record(ctx, q.Artifact, c.o.Now())
	if err != nil {
		return 0, false
	}
	pos, i, status, _ := e.place(q.Where)
	if status != symbol.Found {
		return 0, false
	}
	entry, name := uint64(0), ""
	for n := 0; ; n++ {
		a := c.Lookup(ctx, Query{q.Artifact, symbol.Where{Space: symbol.Position, Value: pos}})
		b, cached := c.blocks.Get(place{e.load, int32(i)})
		if a.Status != symbol.Found || len(a.Frames) == 0 || !cached {
			return entry, n > 0
		}
		outer := a.Frames[len(a.Frames)-1].Linkage
		if n > 0 && outer != name {
			return entry, true
		}
		start, open, ok := b.Entry(pos)
		if !ok {
			return entry, n > 0
		}
		entry, name = start, outer
		if !open || start == 0 || n == maxEntryRows {
			return entry, true
		}
		pos, i = start-1, i-1
	}
}
