package lookup

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row/loads"
)

// Unwound says how the registers of a caller follow at a place.
type Unwound struct {
	// Status is Found if Rules count. Hole: nothing is known at the place or, if Err is ErrNoUnwind, at no place of the
	// load. Others are as in an answer with frames.
	Status     symbol.Status
	Rules      string           // coded, see formats/unwind
	Position   uint64           // of the place; 0 where it is unknown
	Start, End uint64           // positions with these rules; zero unless Found
	Artifact   *symbol.Artifact // of the load, read only; nil where there is none
	Err        error            // the reason, unless Found
}

// ErrNoUnwind is the reason of a hole in a load without any call frame information.
var ErrNoUnwind = errors.New("the load has no call frame information")

var errNoRules = errors.New("no call frame information speaks for the position")

// Unwind asks for the call frame information at many places. out is called once for every question, in the order asked,
// on this goroutine; u is valid during the call. Rows that are not cached are asked for together. The error is out's or
// ctx's; a row that cannot be read is the status of its questions.
func (c *Client) Unwind(ctx context.Context, qs []Query, out func(i int, u *Unwound) error) error {
	for first := 0; first < len(qs); first += chunkQueries {
		w := unwinding{c: c, qs: qs[first:min(first+chunkQueries, len(qs))], entries: map[symbol.ID]*entry{}}
		if err := w.run(ctx); err != nil {
			return err
		}
		for i := range w.all {
			if err := out(first+i, &w.all[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// unwinding is a chunk of questions.
type unwinding struct {
	c       *Client
	qs      []Query
	all     []Unwound // by question
	entries map[symbol.ID]*entry
	at      []place // of the row of each question; no load: none is wanted
	rows    map[place]*unwindRow
}

// unwindRow is a row that questions of a chunk want.
type unwindRow struct {
	block *loads.Block // nil for the table of rules
	err   error
}

// The places of rows of call frame information, as numbers of rows.
const (
	unwindRules = sharedStrings - 1
	unwindFirst = unwindRules - 1 // of blocks; those behind it count down
)

func (w *unwinding) run(ctx context.Context) error {
	w.all, w.at = make([]Unwound, len(w.qs)), make([]place, len(w.qs))
	w.rows = map[place]*unwindRow{}
	now := w.c.o.Now()
	for i := range w.qs {
		id := w.qs[i].Artifact
		e := w.entries[id]
		if e == nil {
			var err error
			if e, err = w.c.record(ctx, id, now); err != nil {
				return err
			}
			w.entries[id] = e
		}
		w.place(i, e)
	}
	if err := w.fetch(ctx); err != nil {
		return err
	}
	again := map[symbol.ID]bool{} // true: the record was read again, and has another load
	for i := range w.all {
		if !w.answer(i) {
			continue
		}
		id := w.qs[i].Artifact
		fresh, read := again[id]
		if !read {
			old := w.entries[id]
			e, err := w.c.recordAfter(ctx, id, old)
			if err != nil {
				return err
			}
			fresh = e.load != old.load
			w.entries[id], again[id] = e, fresh
		}
		if fresh {
			w.place(i, w.entries[id])
		} else {
			w.at[i].load = nil
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := w.fetch(ctx); err != nil {
		return err
	}
	for i := range w.all {
		if again[w.qs[i].Artifact] {
			w.answer(i)
		}
	}
	return nil
}

// place answers a question that needs no row, and notes the row of any other.
func (w *unwinding) place(i int, e *entry) {
	u := &w.all[i]
	*u, w.at[i] = Unwound{}, place{}
	_, _, status, why := e.place(w.qs[i].Where)
	u.Status, u.Err = status, why
	if e.load == nil {
		return
	}
	u.Artifact = e.load.artifact
	pos, ok := u.Artifact.Position(w.qs[i].Where)
	if !ok {
		return
	}
	u.Position = pos
	opened := e.load.opened
	row, ok := opened.UnwindIndex(pos)
	switch {
	case status == symbol.Outside && !ok:
	case !opened.HasUnwind():
		u.Status, u.Err = symbol.Hole, ErrNoUnwind
	case !ok:
		u.Status, u.Err = symbol.Hole, errNoRules
	default:
		w.at[i] = place{e.load, int32(unwindFirst - row)}
		w.rows[w.at[i]] = nil
		if opened.Rules() == nil {
			w.rows[place{e.load, unwindRules}] = nil
		}
	}
}

// answer answers a question from its row. true: the row is bad, and a newer record may help.
func (w *unwinding) answer(i int) (bad bool) {
	at := w.at[i]
	if at.load == nil {
		return false
	}
	u, r := &w.all[i], w.rows[at]
	err := r.err
	rules := at.load.opened.Rules()
	if err == nil && rules == nil {
		err = w.rows[place{at.load, unwindRules}].err
	}
	if err != nil {
		u.Status, u.Err = statusOf(err), err
		return u.Status == symbol.Corrupt || u.Status == symbol.Sealed
	}
	n, start, end, ok := r.block.Unwinds.Find(u.Position)
	if !ok {
		if u.Status != symbol.Outside {
			u.Status, u.Err = symbol.Hole, errNoRules
		}
		return false
	}
	u.Status, u.Err = symbol.Found, nil
	u.Rules, u.Start, u.End = rules.Get(n), start, end
	return false
}

// fetch brings in the rows that are wanted and not there. It waits for rows that another caller reads already after our own
// have landed. The error is ctx's.
func (w *unwinding) fetch(ctx context.Context) error {
	c := w.c
	wanted, hits := 0, 0
	for at, r := range w.rows {
		if r != nil {
			continue
		}
		wanted++
		if block, ok := c.blocks.Get(at); ok {
			hits++
			w.rows[at] = &unwindRow{block: block}
		}
	}
	c.o.Observer.cached(wanted, hits)
	for {
		t := unwindTrip{c: c}
		theirs := map[place]*flight[*loads.Block]{}
		for at, r := range w.rows {
			if r != nil {
				continue
			}
			if f, leads := c.blockFlights.join(at); leads {
				t.ours, t.flights = append(t.ours, at), append(t.flights, f)
			} else {
				theirs[at] = f
			}
		}
		if len(t.ours)+len(theirs) == 0 {
			return nil
		}
		if err := t.run(ctx, w.rows); err != nil {
			return err
		}
		for at, f := range theirs {
			block, again, err := f.wait(ctx)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !again {
				w.rows[at] = &unwindRow{block, err}
			}
		}
	}
}

// unwindTrip is one round trip, for rows of flights that we lead.
type unwindTrip struct {
	c       *Client
	ours    []place
	flights []*flight[*loads.Block] // nil: landed
}

// run reads the rows. All flights have landed when it returns, come what may. The error is ctx's or its room's.
func (t *unwindTrip) run(ctx context.Context, into map[place]*unwindRow) (err error) {
	lost := errAbandoned // the error if the store panics
	defer func() {
		for i := range t.ours {
			t.land(i, nil, lost)
		}
	}()
	brought := int64(0)
	land := func(i int, r sinks.Row, err error) bool {
		at := t.ours[i]
		var block *loads.Block
		if err == nil {
			block, err = t.open(at, r)
		}
		if err != nil {
			err = at.rowErr(err)
		}
		if block != nil {
			brought += block.Bytes()
		}
		into[at] = &unwindRow{block, err}
		t.land(i, block, err)
		return err == nil
	}
	var rest []int
	for i, at := range t.ours {
		if block, ok := t.c.blocks.Get(at); ok || at.row == unwindRules && at.load.opened.Rules() != nil { // landed between our look and our join
			into[at] = &unwindRow{block: block}
			t.land(i, block, nil)
			continue
		}
		rest = append(rest, i)
	}
	rest = t.second(ctx, rest, land)
	for len(rest) > 0 {
		trip := rest[:min(len(rest), tripRows)]
		rest = rest[len(trip):]
		err := t.first(ctx, trip, land)
		if ctx.Err() != nil {
			lost = ctx.Err()
			return lost
		}
		for _, i := range trip { // rows that the store said nothing about
			if t.flights[i] != nil {
				land(i, sinks.Row{}, errors.Join(err, errAbandoned))
			}
		}
	}
	if err := room.Take(ctx, brought); err != nil {
		lost = err
		return err
	}
	return nil
}

// first asks the store.
func (t *unwindTrip) first(ctx context.Context, rows []int, land func(i int, r sinks.Row, err error) bool) error {
	began := time.Now()
	spans := make([]sinks.Span, len(rows))
	for k, i := range rows {
		spans[k] = t.ours[i].unwindSpan()
	}
	told := Read{From: LevelStore, Rows: len(rows)}
	var fresh []sinks.Row
	err := t.c.store.Blocks.First(ctx, spans, func(k int, r sinks.Row, err error) {
		if err == nil && r.Key == nil {
			err = errGone
		}
		if err == nil {
			told.Hits++
		}
		if land(rows[k], r, err) && t.c.o.Shared != nil {
			fresh = append(fresh, r)
		}
	})
	told.Err = err
	t.c.o.Observer.read(told, began)
	if len(fresh) > 0 {
		t.c.o.Shared.Put(ctx, fresh)
	}
	return err
}

// second asks the shared cache, lands what opens, and returns the rows for the store.
func (t *unwindTrip) second(ctx context.Context, rows []int, land func(i int, r sinks.Row, err error) bool) (rest []int) {
	if t.c.o.Shared == nil || len(rows) == 0 {
		return rows
	}
	began := time.Now()
	keys := make([][]byte, len(rows))
	for k, i := range rows {
		keys[k] = t.ours[i].unwindSpan().From
	}
	given := make([][]byte, len(rows))
	t.c.o.Shared.Get(ctx, keys, func(k int, value []byte) { given[k] = value })
	told := Read{From: LevelShared, Rows: len(rows)}
	for k, i := range rows {
		if given[k] != nil {
			told.Hits++
			r := sinks.Row{Key: keys[k], Value: given[k]}
			if _, err := t.open(t.ours[i], r); err == nil {
				land(i, r, nil)
				continue
			}
			told.Bad++
		}
		rest = append(rest, i)
	}
	t.c.o.Observer.read(told, began)
	return rest
}

// open opens a row and keeps it.
func (t *unwindTrip) open(at place, r sinks.Row) (*loads.Block, error) {
	opened := at.load.opened
	if at.row == unwindRules {
		if err := opened.SetUnwindRules(r); err != nil {
			return nil, err
		}
		t.c.recs.Reweigh(at.load.id, func(e *entry) bool { return e.load == at.load })
		return nil, nil
	}
	b, err := opened.Unwinds(int(unwindFirst-at.row), r)
	if err != nil {
		return nil, err
	}
	block := &loads.Block{Unwinds: b}
	t.c.blocks.Set(at, block)
	return block, nil
}

// land ends a flight of ours, unless it has ended.
func (t *unwindTrip) land(i int, block *loads.Block, err error) {
	if f := t.flights[i]; f != nil {
		t.flights[i] = nil
		t.c.blockFlights.land(t.ours[i], f, block, err)
	}
}

// unwindSpan is the span of a row of call frame information.
func (p place) unwindSpan() sinks.Span {
	if p.row == unwindRules {
		span, _ := p.load.opened.UnwindRules()
		return span
	}
	return p.load.opened.UnwindRow(int(unwindFirst - p.row))
}
