package lookup

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Excerpt is lines of a source file, without their ends.
type Excerpt struct {
	First uint32 // the number of Lines[0], from 1
	Lines []string
}

// Excerpt gives the line of a frame (its File and Line) with up to around lines before and
// behind it, from the load that is published: no lines if that keeps no text of the
// file (only ingest with sources_content keeps any), or if its text ends before. An error says that
// what should be there could not be read; it wraps the store's, row.ErrSealed or row.ErrUnauthentic.
func (c *Client) Excerpt(ctx context.Context, artifact symbol.ID, file string, line, around uint32) (x Excerpt, err error) {
	e, err := c.record(ctx, artifact, c.o.Now())
	if err != nil {
		return x, err
	}
	x, err = c.excerpt(ctx, e, file, line, around)
	if err != nil && ctx.Err() == nil { // a load that went meanwhile
		newer, oops := c.recordAfter(ctx, artifact, e)
		if oops != nil {
			return x, oops
		}
		if newer.load != nil && e.load != nil && newer.load.loaded.Load != e.load.loaded.Load {
			x, err = c.excerpt(ctx, newer, file, line, around)
		}
	}
	if err != nil {
		return Excerpt{}, fmt.Errorf("text of %s in %s: %w", file, artifact, err)
	}
	return x, nil
}

func (c *Client) excerpt(ctx context.Context, e *entry, file string, line, around uint32) (x Excerpt, err error) {
	switch {
	case e.load == nil:
		return x, e.err
	case !e.load.opened.HasTexts() || line == 0:
		return x, nil
	}
	o := e.load.opened
	if span, wanted := o.TextDirectory(); wanted {
		rows, err := c.rows(ctx, []sinks.Span{span})
		if err != nil {
			return x, err
		}
		if err := o.SetTextDirectory(rows[0]); err != nil {
			return x, err
		}
		c.recs.Reweigh(e.load.id, func(now *entry) bool { return now.load == e.load })
	}
	first, last := max(line, around+1)-around, line+min(around, ^uint32(0)-line)
	parts := o.TextRows(file, first, last)
	if len(parts) == 0 {
		return x, nil
	}
	spans := make([]sinks.Span, len(parts))
	for i, p := range parts {
		spans[i] = p.Span
	}
	rows, err := c.rows(ctx, spans)
	if err != nil {
		return x, err
	}
	for i, p := range parts {
		lines, err := o.Text(p, rows[i])
		if err != nil {
			return Excerpt{}, err
		}
		for k, text := range lines {
			if n := p.From + uint32(k); n >= first && n <= last {
				if x.First == 0 {
					x.First = n
				}
				if err := room.Take(ctx, int64(len(text))+nameRoom); err != nil {
					return Excerpt{}, err
				}
				x.Lines = append(x.Lines, text)
			}
		}
	}
	if x.First == 0 || line-x.First >= uint32(len(x.Lines)) {
		return Excerpt{}, nil
	}
	return x, nil
}

// rows reads one row a span; a missing row is an error.
func (c *Client) rows(ctx context.Context, spans []sinks.Span) ([]sinks.Row, error) {
	rows, errs := make([]sinks.Row, len(spans)), make([]error, len(spans))
	err := c.store.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		if rows[i], errs[i] = r, err; err == nil && r.Key == nil {
			errs[i] = errGone
		}
	})
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return rows, err
}
