package lookup

import (
	"context"
	"errors"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
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
	if b, ok := c.blocks.GetIfPresent(place{e.load, int32(i)}); ok {
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
// whose records it cannot read.
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
