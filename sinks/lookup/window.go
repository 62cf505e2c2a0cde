package lookup

import (
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/loads"
	"github.com/symlake/symlake/sinks/row/ranges"
)

const (
	// slabFrames are allocated at once for the answers of a batch: 32,000 bytes, the most that the runtime has at hand.
	slabFrames = 400
	// passingFrames hold an answer that is passed on at once. A longer chain gets memory of its own.
	passingFrames = 32
)

// answer takes the answers of items from the block that speaks for them, now or at the next flush.
func (b *Batch) answer(e *entry, block *loads.Block, items []item) {
	if b.names != nil {
		b.answerClasses(e, block, items)
		return
	}
	w := &b.window
	b.repeats.begin()
	for i := range items {
		if b.answers != nil && b.repeats.is(&items[i]) { // an emitted answer is not kept
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

// take answers a question. Its answer is zero so far.
func (b *Batch) take(w *waiting, q *ranges.Question) {
	room := b.roomFor()
	frames, found := q.Find(room)
	switch err := w.e.load.opened.Err(); {
	case err != nil: // shared strings came back empty
		b.fail(w.e, []item{w.item}, err)
		return
	case !found:
		b.settle(w.item.q, symbol.Hole, w.e.load.whyHole(q.Pos))
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

// answerClasses takes the classes of items from the block that speaks for them.
func (b *Batch) answerClasses(e *entry, from *loads.Block, items []item) {
	for k := range items {
		name := b.names[items[k].q]
		class, err := from.Classes.Class(name)
		if err == nil {
			err = e.load.opened.Err()
		}
		if err != nil {
			b.fail(e, items[k:], err)
			return
		}
		kept := newKept(name, class)
		if b.kept.room != nil {
			if b.failed = b.kept.room(kept.bytes); b.failed != nil {
				return
			}
		}
		b.c.classes.Set(classOf{e.load, name}, kept)
		b.classes[items[k].q] = kept.Class
		b.answers[items[k].q].Status = symbol.Found
	}
}

const (
	keptBlocks = 1 << 20
	// longName is the length from which on demangled names are counted, and remembered by the batch itself.
	longName = 1 << 10
)

// demangle fills in what people read. A name that is too long for the client's cache is made once a batch.
func (b *Batch) demangle(e *entry, frames []symbol.Frame) {
	if b.kept.room == nil || b.answers == nil {
		b.c.demangle(e, frames)
		return
	}
	for i := range frames {
		f := &frames[i]
		if name, known := b.long[f.Linkage]; known {
			f.Function = name
			continue
		}
		b.c.demangle(e, frames[i:i+1])
	}
}

// brought counts a block that was read for this batch.
func (b *Batch) brought(bytes int64) {
	if b.kept.room == nil || b.answers == nil {
		return
	}
	if b.bytes += bytes; b.bytes > keptBlocks {
		return
	}
	if err := b.kept.room(bytes); err != nil && b.failed == nil {
		b.failed = err
	}
}

// keep counts the memory of an answer that stays. The error is the room's.
func (b *Batch) keep(frames []symbol.Frame) error {
	n := int64(len(frames)) * int64(unsafe.Sizeof(symbol.Frame{}))
	for i := range frames {
		f := &frames[i]
		same := f.Function == f.Linkage
		if b.bytes > keptBlocks {
			n += int64(len(f.Linkage) + len(f.File) + len(f.Name))
			f.Linkage, f.File, f.Name = strings.Clone(f.Linkage), strings.Clone(f.File), strings.Clone(f.Name)
		}
		switch {
		case same:
			f.Function = f.Linkage
		case len(f.Function) >= longName:
			if _, known := b.long[f.Linkage]; !known {
				if b.long == nil {
					b.long = map[string]string{}
				}
				b.long[f.Linkage] = f.Function
				n += int64(len(f.Function))
			}
		}
	}
	return b.kept.room(n)
}
