package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// lakeVerifier is a lake that can be read back.
type lakeVerifier interface {
	Verify(ctx context.Context, rows func(id symbol.ID, load sinks.Load, n uint64), problem func(where string, err error)) error
}

// lake checks that the lake names what the store publishes, no more and no less, and has its rows.
func (v *verifier) lake(ctx context.Context) error {
	if v.Lake == nil {
		return nil
	}
	live, err := v.Lake.Live(ctx)
	if err != nil {
		v.problem("lake", err)
		return ctx.Err()
	}
	v.report.InLake = len(live)
	counts := map[symbol.ID]uint64{}
	if l, ok := v.Lake.(lakeVerifier); ok {
		err := l.Verify(ctx, func(id symbol.ID, _ sinks.Load, n uint64) { counts[id] = n },
			func(where string, err error) { v.problem("lake: "+where, err) })
		if err != nil && ctx.Err() == nil {
			v.problem("lake", err)
		}
	}
	err = v.cat.Artifacts(ctx, func(r *row.Record) error {
		mark, named := live[r.ID]
		delete(live, r.ID)
		n, counted := counts[r.ID]
		switch l := r.Published; {
		case !published(r) && named:
			err = errors.New("the lake names it, and the store does not publish it")
		case !published(r):
			return ctx.Err()
		case !named:
			err = errors.New("the lake does not name it: symlake compact adds it")
		case mark.Load != l.Load:
			err = fmt.Errorf("the lake names load %x, not %x: symlake compact sets it right", mark.Load, l.Load)
		case mark.Revision != lakeLoad(r).Revision():
			err = errors.New("the lake has other names or counts: symlake compact sets them right")
		case counted && (n > l.Ranges || n < l.Ranges && l.Artifact.End <= math.MaxInt64):
			err = fmt.Errorf("the lake has %d of its %d ranges", n, l.Ranges)
		default:
			return ctx.Err()
		}
		v.problem("artifact "+r.ID.String(), err)
		return ctx.Err()
	})
	for id := range live {
		v.problem("artifact "+id.String(), errors.New("the lake names it, and the store knows nothing of it"))
	}
	return err
}
