package client

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/waits"
)

// firsts is one run of First.
type firsts struct {
	c     *Client
	t     Table
	col   Column
	spans []Span
	found func(i int, c Cell, err error)
	done  chan *call

	queue  []step // to be sent
	later  []step // to be sent after a pause
	sent   map[*call]sent
	last   error
	began  time.Time
	doubts map[int]*doubts // of spans that had to be asked for again
}

// step is the search for a span's first row from some key on.
type step struct {
	i      int
	from   []byte
	region *Region // that was asked last, or nil
}

// sent is a step that a server has been asked.
type sent struct {
	step
	conn *conn
	at   time.Time
}

// First finds the first cell of each span, with one call a span, all on their way together.
// First calls found once a span, in any order, on this goroutine: with a cell, with an empty Cell
// if the span has none, or with an error. The error of First itself is the context's;
// then some spans were not answered.
func (c *Client) First(ctx context.Context, t Table, col Column, spans []Span, found func(i int, cell Cell, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f := &firsts{c: c, t: t, col: col, spans: spans, found: found, done: make(chan *call, min(window, len(spans))), sent: make(map[*call]sent), began: time.Now()}
	for i, s := range spans {
		if s.empty() {
			found(i, Cell{}, nil)
			continue
		}
		f.queue = append(f.queue, step{i: i, from: s.From})
	}
	bounded, cancel := c.patient(ctx)
	defer cancel()
	err := f.run(bounded)
	for k, s := range f.sent { // their callers are gone
		s.conn.forget(k)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // out of patience: the other spans have no answer
		for _, s := range f.sent {
			f.queue = append(f.queue, s.step)
		}
		for _, s := range append(f.queue, f.later...) {
			f.found(s.i, Cell{}, opError("scan", t, s.region, ended(bounded, f.last)))
		}
	}
	return nil
}

func (f *firsts) run(ctx context.Context) error {
	for pauses := 0; len(f.queue)+len(f.later)+len(f.sent) > 0; {
		if len(f.queue) == 0 && len(f.sent) == 0 {
			pauses++
			if err := pause(ctx, pauses); err != nil {
				return err
			}
			f.queue, f.later = f.later, nil
		}
		for len(f.queue) > 0 && len(f.sent) < window {
			s := f.queue[0]
			if err := f.send(ctx, s); err != nil {
				return err
			}
			f.queue = f.queue[1:]
		}
		if len(f.sent) > 0 {
			if err := f.receive(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// send asks for a step; what fails is settled. The error is ctx's.
func (f *firsts) send(ctx context.Context, s step) error {
	r, err := f.c.locate(ctx, f.t, s.from)
	var conn *conn
	if err == nil {
		s.region = r
		conn, err = f.c.conn(ctx, connKey{r.Server, clientService, ""})
	}
	if err == nil {
		q := scan{start: s.from, stop: f.spans[s.i].Stop, family: f.col.Family, qualifier: f.col.Qualifier, rows: 1}
		k := &call{method: "Scan", param: q.request(r), timeout: remaining(ctx, f.c.o.Attempt), done: f.done}
		f.sent[k] = sent{s, conn, time.Now()}
		if err = conn.send(ctx, k); err == nil {
			f.c.calls.Add(1)
			return nil
		}
		delete(f.sent, k)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.settle(s, err)
	return nil
}

// settle puts a failed step aside to be tried again, or answers it.
func (f *firsts) settle(s step, err error) {
	if f.doubts == nil {
		f.doubts = make(map[int]*doubts)
	}
	if f.doubts[s.i] == nil {
		f.doubts[s.i] = new(doubts)
	}
	err = f.doubts[s.i].see(err)
	f.last = err
	if f.c.settle(f.t, s.region, err) {
		f.later = append(f.later, s)
		f.c.waits.Failed(waits.At(f.t, s.region), f.began, err)
		return
	}
	f.found(s.i, Cell{}, opError("scan", f.t, s.region, err))
}

// receive takes the answers that are there, or waits for one. The error is ctx's.
func (f *firsts) receive(ctx context.Context) error {
	wait := f.c.o.Attempt
	if f.c.waits.On() {
		wait = min(wait, waits.After)
	}
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case k := <-f.done:
		f.take(k)
	case <-limit.C:
		f.silent()
		f.overdue()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		select {
		case k := <-f.done:
			f.take(k)
		default:
			return nil
		}
	}
}

// silent notes which regions have not answered for some seconds.
func (f *firsts) silent() {
	for _, s := range f.sent {
		if time.Since(s.at) >= waits.After {
			f.c.waits.Failed(waits.At(f.t, s.region), s.at, waits.ErrSilent)
		}
	}
}

// overdue gives up calls that were not answered within an attempt.
func (f *firsts) overdue() {
	for k, s := range f.sent {
		if time.Since(s.at) < f.c.o.Attempt || !s.conn.forget(k) {
			continue
		}
		delete(f.sent, k)
		if s.conn.quiet(f.c.o.Attempt) {
			s.conn.fail(errAttempt)
		}
		f.settle(s.step, errAttempt)
	}
}

// take is an answer.
func (f *firsts) take(k *call) {
	s, ok := f.sent[k]
	if !ok {
		return
	}
	delete(f.sent, k)
	got, err := scanned{}, k.err
	if err == nil {
		got, err = readScan(k.answer)
	}
	switch {
	case errors.Is(err, errMalformed):
		f.found(s.i, Cell{}, opError("scan", f.t, s.region, err))
		return
	case err != nil:
		f.settle(s.step, err)
		return
	}
	f.c.waits.Answered(f.t, s.region)
	switch {
	case len(got.rows) > 0:
		f.found(s.i, got.rows[0][0], nil)
	case f.spans[s.i].beyond(s.region): // the span goes on in the next region
		f.queue = append(f.queue, step{i: s.i, from: s.region.End})
	default:
		f.found(s.i, Cell{}, nil)
	}
}
