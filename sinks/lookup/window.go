package lookup

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/loads"
	"github.com/symlake/symlake/sinks/row/ranges"
)

// windowQuestions are answered together: enough that their waits for memory overlap, and few enough
// that what was brought in is still in the processor's first cache when it is used.
const windowQuestions = 32

// window holds questions whose blocks are there until they are worth answering.
type window struct {
	n  int
	at [windowQuestions]ranges.Question
	of [windowQuestions]waiting
}

// waiting is a question of the window.
type waiting struct {
	e    *entry
	item item
}

// repeatBits is the logarithm of how many positions of a row are known to be asked for: stacks repeat their frames.
const repeatBits = 10

// repeats tells questions of a row that another one asked.
type repeats struct {
	row  uint32 // counts them
	at   [1 << repeatBits]repeatSlot
	same []repeated // what to answer as others
}

// repeatSlot is a position of a row, and who asked for it first.
type repeatSlot struct {
	pos uint64
	row uint32
	q   int32 // into batch.asked
}

// repeated is a question, and the one that was asked before.
type repeated struct{ q, as int32 }

// begin is called before the questions of each row.
func (r *repeats) begin() {
	if r.row++; r.row == 0 { // it began anew
		clear(r.at[:])
		r.row = 1
	}
}

// is notes a question of the row: true if it was asked.
func (r *repeats) is(it *item) bool {
	at := &r.at[it.pos*0x9E3779B97F4A7C15>>(64-repeatBits)]
	if at.row == r.row && at.pos == it.pos {
		r.same = append(r.same, repeated{it.q, at.q})
		return true
	}
	at.pos, at.row, at.q = it.pos, r.row, it.q
	return false
}

// repeat answers what was asked before, when all else is answered: a row may have been read again.
func (b *Batch) repeat() {
	for _, s := range b.repeats.same {
		a := &b.answers[b.asked[s.q].to]
		*a = b.answers[b.asked[s.as].to]
		b.tell(s.q, a.Status)
	}
	b.repeats.same = b.repeats.same[:0]
}

// answer takes the answers of items from the block that speaks for them, now or at the next flush.
func (b *Batch) answer(e *entry, block *loads.Block, items []item) {
	if b.names != nil {
		b.answerClasses(e, block, items)
		return
	}
	w := &b.window
	b.repeats.begin()
	for i := range items {
		if b.answers != nil && b.repeats.is(&items[i]) { // nothing is left of what was emitted
			continue
		}
		if w.n == windowQuestions {
			b.flush()
		}
		w.at[w.n].Block, w.at[w.n].Pos = &block.Block, items[i].pos
		w.of[w.n] = waiting{e, items[i]}
		w.n++
	}
}

// flush answers the window's questions.
func (b *Batch) flush() {
	w := &b.window
	ranges.Locate(w.at[:w.n])
	for i := range w.of[:w.n] {
		b.take(&w.of[i], &w.at[i])
	}
	w.n = 0
}

// take answers a question, whose answer is zero so far.
func (b *Batch) take(w *waiting, q *ranges.Question) {
	room := b.roomFor()
	frames, found := q.Find(room)
	switch err := w.e.load.opened.Err(); {
	case err != nil: // shared strings came back empty
		b.fail(w.e, []item{w.item}, err)
		return
	case !found:
		b.settle(w.item.q, symbol.Hole, errHole)
		return
	}
	b.demangle(w.e, frames)
	if b.answers != nil && b.kept.room != nil {
		if err := b.keep(frames); err != nil {
			b.failed = err
			return
		}
	}
	b.tell(w.item.q, symbol.Found)
	frames = frames[:len(frames):len(frames)]
	to := b.asked[w.item.q].to
	if b.answers == nil && !b.held {
		b.pass(to, symbol.Found, frames, nil)
		return
	}
	if len(frames) <= cap(room) {
		b.slab = b.slab[:len(b.slab)+len(frames)]
	}
	if b.answers == nil {
		b.pass(to, symbol.Found, frames, nil)
		return
	}
	a := &b.answers[to]
	a.Status, a.Frames = symbol.Found, frames
}

// roomFor gives memory for the frames of the next answer; a longer chain gets memory of its own.
func (b *Batch) roomFor() []symbol.Frame {
	if b.answers == nil && !b.held {
		if b.emits.frames == nil {
			b.emits.frames = make([]symbol.Frame, passingFrames)
		}
		return b.emits.frames[:0]
	}
	if cap(b.slab)-len(b.slab) < 16 {
		b.slab = make([]symbol.Frame, 0, min(slabFrames, 16+4*len(b.items)))
	}
	return b.slab[len(b.slab):]
}
