package lookup

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/loads"
)

// Each answers many questions, each as soon as it can be: emit is called once for every one, i being its place in qs,
// in no order that can be relied upon, on this goroutine. An answer is valid during the call, its frames too, and must
// not be changed; the strings of frames may be kept. So nothing is allocated for answers, and they are looked
// at while they are in the processor's nearest cache: a caller gets twice as many a second as from Frames.
// Rows that are not cached are asked for together. emit may use the client. Its error comes back
// unchanged, and ends the call as ctx's does; other errors there are none. The questions that are left then go unanswered.
func (c *Client) Each(ctx context.Context, qs []Query, emit func(i int, a *symbol.Answer) error) error {
	b := c.borrow()
	b.emit = emit
	for b.first = 0; b.first < len(qs); b.first += chunkQueries {
		if err := b.run(ctx, c, qs[b.first:min(b.first+chunkQueries, len(qs))], nil); err != nil {
			return err
		}
	}
	c.giveBack(b)
	return nil
}

// Frames answers many questions like Each, for callers that keep the answers: out
// is called in the order asked, i counting from 0, on this goroutine. The frames of an
// answer are never reused by the client, but must not be changed: equal questions
// share them. The frames of a batch share memory in pieces of some hundred, so copy the few that you
// keep for long. The only errors come from ctx and its room (package room), which bounds the answers of 16,384 questions; the
// questions of the last 16,384 are then unanswered.
func (c *Client) Frames(ctx context.Context, qs []Query, out func(i int, a symbol.Answer)) error {
	b := c.borrow()
	for start := 0; start < len(qs); start += chunkQueries {
		chunk := qs[start:min(start+chunkQueries, len(qs))]
		b.room = slices.Grow(b.room[:0], len(chunk))[:len(chunk)]
		if err := b.run(ctx, c, chunk, b.room); err != nil {
			return err
		}
		for i := range chunk {
			out(start+i, b.answers[i])
		}
		clear(b.answers)
	}
	c.giveBack(b)
	return nil
}

// Lookup answers one question; Unavailable when ctx ends first. The caller may
// keep the answer, and must not change it.
func (c *Client) Lookup(ctx context.Context, q Query) symbol.Answer {
	e, err := c.record(ctx, q.Artifact, c.o.Now())
	if err != nil {
		return symbol.Answer{Status: symbol.Unavailable, Err: err}
	}
	pos, i, status, why := e.place(q.Where)
	if status != symbol.Found {
		c.o.Observer.answered(e.kind(), status, 1)
		return symbol.Answer{Status: status, Err: why}
	}
	if block, ok := c.blocks.Get(place{e.load, int32(i)}); ok {
		c.o.Observer.cached(1, 1)
		a := c.find(e, block, pos)
		c.o.Observer.answered(e.kind(), a.Status, 1)
		return a
	}
	var a symbol.Answer
	if err := c.Frames(ctx, []Query{q}, func(_ int, found symbol.Answer) { a = found }); err != nil {
		return symbol.Answer{Status: symbol.Unavailable, Err: err}
	}
	return a
}

// find takes an answer from the block that speaks for pos.
func (c *Client) find(e *entry, block *loads.Block, pos uint64) symbol.Answer {
	var room [12]symbol.Frame
	frames, found := block.Find(pos, room[:0])
	if err := e.load.opened.Err(); err != nil {
		return symbol.Answer{Status: statusOf(err), Err: err}
	}
	if !found {
		return symbol.Answer{Status: symbol.Hole, Err: e.load.whyHole(pos)}
	}
	own := slices.Clone(frames) // a variable of its own keeps room on the stack
	c.demangle(e, own)
	return symbol.Answer{Status: symbol.Found, Frames: own}
}
