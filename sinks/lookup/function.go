package lookup

import (
	"context"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Function finds the pieces of code of the function with that name, a linkage
// name or a readable one: the position where each begins, ascending. Several
// are functions of one name, or one whose parts lie apart. Rows are not kept by
// name, so this reads and opens every one of the artifact. The answer is Found
// when that could be done, else why not.
func (c *Client) Function(ctx context.Context, id symbol.ID, name string) ([]uint64, symbol.Answer) {
	fail := func(err error) ([]uint64, symbol.Answer) {
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
	if rows == 0 {
		return nil, symbol.Answer{Status: symbol.Found}
	}
	if err := c.shared(ctx, e.load); err != nil {
		return fail(err)
	}
	readable := strings.ContainsAny(name, "(: <~")
	var starts []uint64
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
			if !goes && outer != "" && (outer == name || readable && demangle.Name(outer) == name) {
				starts = append(starts, start)
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
