package lookup

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// tripRows is how many rows are asked for in one round trip: some megabytes.
const tripRows = 256

// sharedStrings is the place of the row with a load's shared strings.
const sharedStrings = -1

// place names a row of an opened load.
type place struct {
	load *load
	row  int32
}

// want is a row that is not cached, and who asks for it.
type want struct {
	place
	e     *entry
	items []item
}

// errGone: a row that the record promises. A hole would be a lie.
var errGone = fmt.Errorf("%w: the row is gone", row.ErrUnauthentic)

// fetch brings in and answers the wanted rows. Those that another caller
// reads already are waited for after our own have landed. The error is ctx's.
func (b *batch) fetch(ctx context.Context, wants []want) error {
	for len(wants) > 0 {
		t := trip{b: b}
		var theirs []want
		var waits []*flight[*row.Block]
		for _, w := range wants {
			if f, leads := b.c.blockFlights.join(w.place); leads {
				t.ours, t.flights = append(t.ours, w), append(t.flights, f)
			} else {
				theirs, waits = append(theirs, w), append(waits, f)
			}
		}
		if err := t.run(ctx); err != nil {
			return err
		}
		wants = nil
		for i, w := range theirs {
			block, again, err := waits[i].wait(ctx)
			switch {
			case again:
				wants = append(wants, w)
			case err == nil:
				b.answer(w.e, block, w.items)
			case ctx.Err() != nil:
				return ctx.Err()
			default:
				b.fail(w.e, w.items, err)
			}
		}
	}
	return nil
}

// trip is one round trip: rows whose flights we lead.
type trip struct {
	b       *batch
	ours    []want
	flights []*flight[*row.Block] // of ours; nil: landed
	early   []early
}

// early is a row that came before its load's shared strings.
type early struct {
	i int
	r sinks.Row
}

// run reads the rows and answers from them. All flights have landed when it
// returns, come what may. The error is ctx's.
func (t *trip) run(ctx context.Context) (err error) {
	if len(t.ours) == 0 {
		return nil
	}
	lost := errAbandoned // what is left if the store panics
	defer func() {
		for i := range t.ours {
			if t.flights[i] != nil {
				t.land(i, nil, lost)
			}
		}
	}()
	var spans []sinks.Span
	var index []int // of spans in ours
	for i, w := range t.ours {
		if block, ok := t.b.c.blocks.GetIfPresent(w.place); ok { // landed between our look and our join
			t.land(i, block, nil)
			continue
		}
		spans, index = append(spans, w.load.opened.Row(int(w.row))), append(index, i)
	}
	if len(spans) == 0 {
		return nil
	}
	shared := t.claimShared(&spans)
	defer shared.land(t.b.c, errAbandoned)
	rows := len(index)
	err = t.b.c.store.Blocks.First(ctx, spans, func(k int, r sinks.Row, err error) {
		if k >= rows {
			shared.set(t.b.c, k-rows, r, err)
		} else {
			t.take(index[k], r, err)
		}
	})
	if ctx.Err() != nil {
		lost = ctx.Err()
		shared.land(t.b.c, lost)
		return lost
	}
	if err == nil {
		err = errAbandoned
	}
	shared.land(t.b.c, err)
	for _, e := range t.early {
		l := t.ours[e.i].load
		switch oops := t.b.c.shared(ctx, l); {
		case oops == nil:
			t.open(e.i, e.r)
		case ctx.Err() != nil:
			lost = ctx.Err()
			return lost
		default:
			t.land(e.i, nil, oops)
		}
	}
	lost = err // rows the store said nothing about
	return nil
}

// take receives the row of one of ours.
func (t *trip) take(i int, r sinks.Row, err error) {
	w := t.ours[i]
	switch {
	case err != nil:
		t.land(i, nil, w.rowErr(err))
	case r.Key == nil:
		t.land(i, nil, w.rowErr(errGone))
	case !w.load.opened.HasDictionary():
		t.early = append(t.early, early{i, r})
	default:
		t.open(i, r)
	}
}

func (t *trip) open(i int, r sinks.Row) {
	w := t.ours[i]
	block, err := w.load.opened.Block(int(w.row), r)
	if err != nil {
		t.land(i, nil, w.rowErr(err))
		return
	}
	t.b.c.blocks.Set(w.place, block)
	t.land(i, block, nil)
}

// land ends a flight of ours and answers its questions.
func (t *trip) land(i int, block *row.Block, err error) {
	w, f := t.ours[i], t.flights[i]
	t.flights[i] = nil
	t.b.c.blockFlights.land(w.place, f, block, err)
	if err == nil {
		t.b.answer(w.e, block, w.items)
	} else {
		t.b.fail(w.e, w.items, err)
	}
}
