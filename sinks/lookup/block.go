package lookup

import (
	"context"
	"time"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row/loads"
)

// A round trip asks for at most so many rows, and ends when they are likely to have so many bytes.
const (
	tripRows  = 256
	tripBytes = 8 << 20
)

// want is a row that is not cached, and the questions for it.
type want struct {
	place
	e     *entry
	items []item
}

// fetch brings in and answers the wanted rows. It waits for rows that another caller
// reads already after our own have landed. The error is ctx's.
func (b *Batch) fetch(ctx context.Context, wants []want) error {
	for len(wants) > 0 {
		t := trip{b: b}
		var theirs []want
		var waits []*flight[*loads.Block]
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

// trip is one round trip, for the rows of flights that we lead.
type trip struct {
	b       *Batch
	ours    []want
	flights []*flight[*loads.Block] // of ours; nil: landed
	early   []early
	fresh   []sinks.Row // for the shared cache
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
	lost := errAbandoned // the error if the store panics
	defer func() {
		for i := range t.ours {
			if t.flights[i] != nil {
				t.land(i, nil, lost)
			}
		}
	}()
	var asks []ask
	for i, w := range t.ours {
		if block, ok := t.b.c.blocks.Get(w.place); ok { // landed between our look and our join
			t.land(i, block, nil)
			continue
		}
		asks = append(asks, ask{span: w.load.opened.Row(int(w.row)), i: i})
	}
	if len(asks) == 0 {
		return nil
	}
	shared := t.claimShared(&asks)
	defer shared.land(t.b.c, errAbandoned)
	if asks = t.second(ctx, asks, shared); len(asks) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		lost = ctx.Err()
		shared.land(t.b.c, lost)
		return lost
	}
	err = t.first(ctx, asks, shared)
	if ctx.Err() != nil {
		lost = ctx.Err()
		shared.land(t.b.c, lost)
		return lost
	}
	if err == nil {
		err = errAbandoned
	}
	shared.land(t.b.c, err)
	for _, l := range shared.loads {
		if err := room.Take(ctx, l.opened.Bytes()); err != nil {
			lost = err
			return err
		}
	}
	for _, e := range t.early {
		l := t.ours[e.i].load
		switch oops := t.b.c.shared(ctx, l); {
		case oops == nil:
			if t.open(e.i, e.r) && t.b.c.o.Shared != nil {
				t.fresh = append(t.fresh, e.r)
			}
		case ctx.Err() != nil:
			lost = ctx.Err()
			return lost
		default:
			t.land(e.i, nil, oops)
		}
	}
	lost = err // rows the store said nothing about
	if len(t.fresh) > 0 {
		t.b.c.o.Shared.Put(ctx, t.fresh)
	}
	return nil
}

// ask is a row to be read: of ours, or one of shared strings.
type ask struct {
	span    sinks.Span
	i       int // into ours, or into the claims
	strings bool
}

// first asks the store.
func (t *trip) first(ctx context.Context, asks []ask, shared *claims) error {
	began := time.Now()
	spans := make([]sinks.Span, len(asks))
	for k := range asks {
		spans[k] = asks[k].span
	}
	told := Read{From: LevelStore, Rows: len(asks)}
	err := t.b.c.store.Blocks.First(ctx, spans, func(k int, r sinks.Row, err error) {
		if err == nil && r.Key != nil {
			told.Hits++
		}
		good := false
		if asks[k].strings {
			good = shared.set(t.b.c, asks[k].i, r, err)
		} else {
			good = t.take(asks[k].i, r, err)
		}
		if good && t.b.c.o.Shared != nil {
			t.fresh = append(t.fresh, r)
		}
	})
	told.Err = err
	t.b.c.o.Observer.read(told, began)
	return err
}

// second asks the shared cache, lands what opens, and returns the rows for the store. A row
// that came before its load's shared strings is left too.
func (t *trip) second(ctx context.Context, asks []ask, shared *claims) (rest []ask) {
	c := t.b.c
	if c.o.Shared == nil {
		return asks
	}
	began := time.Now()
	keys := make([][]byte, len(asks))
	for k := range asks {
		keys[k] = asks[k].span.From
	}
	given := make([][]byte, len(asks))
	c.o.Shared.Get(ctx, keys, func(k int, value []byte) { given[k] = value })
	told := Read{From: LevelShared, Rows: len(asks)}
	for _, strings := range [2]bool{true, false} {
		for k, a := range asks {
			if a.strings != strings {
				continue
			}
			if given[k] == nil {
				rest = append(rest, a)
				continue
			}
			told.Hits++
			if !t.opens(a, sinks.Row{Key: keys[k], Value: given[k]}, shared) {
				told.Bad++
				rest = append(rest, a)
			}
		}
	}
	c.o.Observer.read(told, began)
	return rest
}

// opens lands a row of the shared cache, if it is what it should be.
func (t *trip) opens(a ask, r sinks.Row, shared *claims) bool {
	if a.strings {
		l := shared.loads[a.i]
		if t.b.c.setShared(l, r, nil) != nil {
			return false
		}
		shared.done(t.b.c, a.i, nil)
		return true
	}
	w := t.ours[a.i]
	if !w.load.opened.HasDictionary() {
		return false
	}
	block, err := w.load.opened.Block(int(w.row), r)
	if err != nil {
		return false
	}
	t.b.c.blocks.Set(w.place, block)
	t.b.brought(block.Bytes())
	t.land(a.i, block, nil)
	return true
}

// take receives the row of one of ours; false: it is not what it should be.
func (t *trip) take(i int, r sinks.Row, err error) bool {
	w := t.ours[i]
	switch {
	case err != nil:
		t.land(i, nil, w.rowErr(err))
	case r.Key == nil:
		t.land(i, nil, w.rowErr(errGone))
	case !w.load.opened.HasDictionary():
		t.early = append(t.early, early{i, r})
	default:
		return t.open(i, r)
	}
	return false
}

func (t *trip) open(i int, r sinks.Row) bool {
	w := t.ours[i]
	block, err := w.load.opened.Block(int(w.row), r)
	if err != nil {
		t.land(i, nil, w.rowErr(err))
		return false
	}
	t.b.c.blocks.Set(w.place, block)
	t.b.brought(block.Bytes())
	t.land(i, block, nil)
	return true
}

// land ends a flight of ours and answers its questions.
func (t *trip) land(i int, block *loads.Block, err error) {
	w, f := t.ours[i], t.flights[i]
	t.flights[i] = nil
	t.b.c.blockFlights.land(w.place, f, block, err)
	if err == nil {
		t.b.answer(w.e, block, w.items)
	} else {
		t.b.fail(w.e, w.items, err)
	}
}

// claimShared adds to asks the rows of shared strings that no caller has read
// or reads.
func (t *trip) claimShared(asks *[]ask) *claims {
	s := &claims{}
	for _, w := range t.ours {
		l := w.load
		if l.opened.HasDictionary() || len(s.loads) > 0 && s.loads[len(s.loads)-1] == l { // ours are sorted by load
			continue
		}
		f, leads := t.b.c.blockFlights.join(place{l, sharedStrings})
		if !leads {
			continue // waited for when a row needs them
		}
		if l.opened.HasDictionary() {
			t.b.c.blockFlights.land(place{l, sharedStrings}, f, nil, nil)
			continue
		}
		span, _ := l.opened.Dictionary()
		*asks = append(*asks, ask{span, len(s.loads), true})
		s.loads, s.flights = append(s.loads, l), append(s.flights, f)
	}
	return s
}
