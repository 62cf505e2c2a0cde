package tables

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/lookup"
)

// answerer turns sorted records into answers by row, for one worker.
type answerer struct {
	u       *unit
	near    *pile.Near
	queries []lookup.Query
	of      []uint32 // by query: its answer in texts
	bodies  [][]byte
	text    []byte // of all bodies
	groups  map[[group.Functions]string]uint32
	namer   group.Namer
	spread  spreader
}

func newAnswerer(u *unit) *answerer {
	return &answerer{u: u, near: pile.NewNear(u.texts), groups: map[[group.Functions]string]uint32{}}
}

// chunk answers records, each distinct place once.
func (a *answerer) chunk(ctx context.Context, c []pile.Record) error {
	a.queries, a.of, a.bodies, a.text = a.queries[:0], a.of[:0], a.bodies[:0], a.text[:0]
	// The next chunk may have another text at an address.
	a.near.Forget()
	clear(a.groups)
	var err error
	var places []place
	a.u.places.mu.Lock()
	places = a.u.places.all
	a.u.places.mu.Unlock()
	type step struct {
		query int // -1: place.answer
		place uint32
	}
	var steps []step
	index := make([]int32, len(c)) // of steps
	for i := range c {
		if i == 0 || c[i-1].Less(c[i]) {
			s := step{-1, c[i].Place()}
			if x := &places[s.place]; x.answer == nil {
				s.query = len(a.queries)
				a.queries = append(a.queries, x.query(c[i].Value))
			}
			steps = append(steps, s)
		}
		index[i] = int32(len(steps) - 1)
	}
	answers := make([]symbol.Answer, len(a.queries))
	if err := a.u.j.o.Client.Frames(ctx, a.queries, func(i int, x symbol.Answer) { answers[i] = x }); err != nil {
		return err
	}
	numbers := make([]uint32, len(steps))
	var last *symbol.Answer
	for k, s := range steps {
		x := &places[s.place]
		answer := x.answer
		if s.query >= 0 {
			answer = &answers[s.query]
		}
		if last == nil || !sameAnswer(last, answer) {
			if err = a.encode(answer); err != nil {
				return err
			}
			last = answer
		}
		numbers[k] = uint32(len(a.bodies) - 1)
	}
	first, err := a.u.answer.Add(a.bodies...)
	if err != nil {
		return err
	}
	a.u.j.distinct.Add(uint64(len(a.queries)))
	for i := range c {
		if err := a.u.put(&a.spread, c[i].Segment(), c[i].Row(), first+numbers[index[i]]); err != nil {
			return err
		}
	}
	return nil
}

// sameAnswer reports whether two answers were made of the same stored texts.
func sameAnswer(a, b *symbol.Answer) bool {
	if a == b {
		return true
	}
	return a.Status == b.Status && a.Err == b.Err && slices.Equal(a.Frames, b.Frames)
}

// encode appends a body: status, reason, group, then of each function its name, file, line and column; texts by number.
func (a *answerer) encode(x *symbol.Answer) error {
	at := len(a.text)
	var err error
	put := func(n uint32) { a.text = binary.AppendUvarint(a.text, uint64(n)) }
	text := func(s string) uint32 {
		n, terr := a.near.Number(s)
		if terr != nil {
			err = terr
		}
		return n
	}
	put(text(string(x.Status)))
	reason := ""
	if x.Status != symbol.Found {
		reason = x.Reason()
	}
	n, terr := a.u.texts.Number(reason) // made for the occasion: its address says nothing
	if terr != nil {
		return terr
	}
	put(n)
	var number uint32
	if final(x.Status) {
		if number, terr = a.group(x); terr != nil {
			return terr
		}
	}
	put(number)
	put(uint32(len(x.Frames)))
	for i := range x.Frames {
		f := &x.Frames[i]
		put(text(f.Readable()))
		put(text(f.File))
		put(f.Line)
		put(f.Column)
	}
	if err != nil {
		return err
	}
	a.bodies = append(a.bodies, a.text[at:len(a.text):len(a.text)])
	return nil
}

// group numbers the group of one frame.
func (a *answerer) group(x *symbol.Answer) (uint32, error) {
	var s group.Stack
	s.Add(&a.namer, nil, x, true)
	var key [group.Functions]string
	if copy(key[:], s.Names()) == 0 {
		return 0, nil
	}
	if number, ok := a.groups[key]; ok {
		return number, nil
	}
	number, err := a.u.texts.Number(s.Group())
	a.groups[key] = number
	return number, err
}

// decodeAnswer reads a body; the memory of to is used again.
func decodeAnswer(b []byte, to *answers.Answer) {
	next := func() uint32 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return uint32(v)
	}
	to.Status, to.Reason, to.Group = next(), next(), next()
	to.Lines = to.Lines[:0]
	for range next() {
		to.Lines = append(to.Lines, answers.Line{Function: next(), File: next(), Line: next(), Col: next()})
	}
}

func (a *answerer) end() error { return a.u.flush(&a.spread) }

// chunkRecords is how many records one worker looks up at once.
const chunkRecords = 1 << 16

// answerAll looks up the records of all lanes.
func (u *unit) answerAll(ctx context.Context) error {
	u.sorter.File = u.file
	if err := u.newNumbers(); err != nil {
		return err
	}
	cursors, err := u.sorter.Start()
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	chunks := make(chan []pile.Record, u.j.o.Workers)
	free := sync.Pool{New: func() any { c := make([]pile.Record, chunkRecords); return &c }}
	g.Go(func() error {
		defer close(chunks)
		for {
			c := free.Get().(*[]pile.Record)
			n, err := pile.Merge(&cursors, (*c)[:chunkRecords])
			if err != nil {
				return err
			}
			if n == 0 {
				return nil
			}
			select {
			case chunks <- (*c)[:n]:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for range u.j.o.Workers {
		g.Go(func() error {
			a := newAnswerer(u)
			for c := range chunks {
				if err := a.chunk(ctx, c); err != nil {
					return err
				}
				free.Put(&c)
			}
			return a.end()
		})
	}
	err = g.Wait()
	u.sorter.Runs = nil
	return err
}
