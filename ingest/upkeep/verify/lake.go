package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// lakeVerifier is a lake that can verify its own files.
type lakeVerifier interface {
	Verify(ctx context.Context, rows func(id symbol.ID, load sinks.Load, n uint64), problem func(where string, err error)) error
}

// lake checks that the lake names exactly the artifacts that the store publishes, and has their rows.
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
	v.progress("lake", 0)
	counts := map[symbol.ID]uint64{}
	if l, ok := v.Lake.(lakeVerifier); ok {
		err := l.Verify(ctx, func(id symbol.ID, _ sinks.Load, n uint64) { counts[id] = n },
			func(where string, err error) { v.problem("lake: "+where, err) })
		if err != nil && ctx.Err() == nil {
			v.problem("lake", err)
		}
	}
	var doubts []symbol.ID
	err = v.cat.Artifacts.Each(ctx, func(r *catalog.Record) error {
		mark, named := live[r.ID]
		delete(live, r.ID)
		n, counted := counts[r.ID]
		switch l := r.Published; {
		case naming(r, mark, named) != nil:
			doubts = append(doubts, r.ID)
		case l != nil && counted && (n > l.Ranges || n < l.Ranges && l.Artifact.End <= math.MaxInt64):
			v.problem("artifact "+r.ID.String(), fmt.Errorf("the lake has %d of its %d ranges", n, l.Ranges))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for id := range live {
		doubts = append(doubts, id)
	}
	return v.doubtful(ctx, doubts)
}

// naming returns an error if the lake names the load of a record wrongly, or not at all.
func naming(r *catalog.Record, mark sinks.LakeMark, named bool) error {
	switch {
	case r == nil && named:
		return errors.New("the lake names it, and the store knows nothing of it")
	case (r == nil || !record.Published(r)) && !named:
		return nil
	case !record.Published(r):
		return errors.New("the lake names it, and the store does not publish it")
	case !named:
		return errors.New("the lake does not name it: symlake compact adds it")
	case mark.Load != r.Published.Load:
		return fmt.Errorf("the lake names load %x, not %x: symlake compact sets it right", mark.Load, r.Published.Load)
	case mark.Revision != projection.LoadOf(r).Revision():
		return errors.New("the lake has other names or counts: symlake compact sets them right")
	}
	return nil
}

// doubtful looks again at artifacts that lake and store named differently. A run may have worked
// between the two readings, so doubtful counts such an artifact as waiting:
//
//   - the ledger says that a run has published it and not named it yet;
//   - any run holds its lease: it may add names to the loads of other objects.
func (v *verifier) doubtful(ctx context.Context, ids []symbol.ID) error {
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	// Asked before the lake is read: a run that ends meanwhile has named its loads.
	atWork, err := v.working(ctx)
	if err != nil {
		return err
	}
	var first []*catalog.Object
	for _, id := range ids {
		r, err := v.cat.Artifacts.Get(ctx, id)
		var o *catalog.Object
		if err == nil && r != nil && record.Published(r) {
			o, err = v.cat.Ledger.Get(ctx, r.Published.Source.URL)
		}
		if err != nil {
			return err
		}
		first = append(first, o)
	}
	live, err := v.Lake.Live(ctx)
	if err != nil {
		return err
	}
	for i, id := range ids {
		r, err := v.cat.Artifacts.Get(ctx, id)
		if err != nil {
			return err
		}
		mark, named := live[id]
		switch err := naming(r, mark, named); {
		case err == nil:
		case atWork, first[i] != nil && (first[i].State == catalog.ObjectLoading || first[i].State == catalog.ObjectPublished):
			v.report.Waiting++
		default:
			v.problem("artifact "+id.String(), err)
		}
	}
	return nil
}
