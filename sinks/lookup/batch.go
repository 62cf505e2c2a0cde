package lookup

import (
	"context"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/ranges"
)

// Batch answers questions about several artifacts together, a row at a time. The client's own calls
// give it one chunk of questions after another. A layer that finds the artifacts itself
// calls Client.Batch. Its memory is used again for the next call, except for the
// answers and their frames, which the caller owns. Not safe for concurrent use.
type Batch struct {
	c       *Client
	now     time.Time
	known   map[*entry]int32 // the groups that Artifact added
	answers []symbol.Answer  // by question; nil: they are emitted
	items   []item
	spare   []item // for sorting
	groups  []*entry
	slab    []symbol.Frame
	bad     []bad
	asked   []asked // the questions
	window  window
	repeats repeats
	room    []symbol.Answer // for the answers of Frames, all zero between chunks
	emits                   // for the answers of Each
	kept
	told  []outcome // for the observer
	final bool      // records were read past the cache: a bad row is corrupt

	names   []string // the questions are for these classes; nil: for frames
	classes []*Class
}

// asked is a question: the group of its artifact, and its answer.
type asked struct{ group, to int32 }

// item is a question that a row speaks for.
type item struct {
	key uint64 // index into batch.groups << 32 | row
	pos uint64
	q   int32 // into batch.asked
}

// bad is a row that was not what the record promised, and its questions.
type bad struct {
	e   *entry
	qs  []int32
	err error
}

// borrow gives a batch that another call used before, so that its memory is neither
// made nor cleared again for each; giveBack is its end.
func (c *Client) borrow() *Batch {
	if b, is := c.batches.Get().(*Batch); is {
		return b
	}
	return new(Batch)
}

// giveBack keeps a batch, which holds nothing of its callers any more, for the next call. After an
// error, leave the batch to the garbage collector instead.
func (c *Client) giveBack(b *Batch) {
	clear(b.groups[:cap(b.groups)])
	clear(b.bad[:cap(b.bad)])
	clear(b.window.at[:])
	clear(b.window.of[:])
	b.answers, b.slab, b.kept, b.known = nil, nil, kept{}, nil
	b.emits.end()
	c.batches.Put(b)
}

// begin makes the batch ready for questions. It fills answers.
func (b *Batch) begin(ctx context.Context, c *Client, answers []symbol.Answer) {
	b.c, b.answers = c, answers
	b.kept = kept{room: room.Of(ctx)}
	b.groups = b.groups[:0]
}

// next makes room for n questions; the groups stay.
func (b *Batch) next(n int) {
	b.final, b.told = false, b.told[:0]
	b.items, b.asked, b.bad = slices.Grow(b.items[:0], n), slices.Grow(b.asked[:0], n), b.bad[:0]
}

// group adds an artifact.
func (b *Batch) group(e *entry) int {
	b.groups = append(b.groups, e)
	return len(b.groups) - 1
}

// outcome is how many answers of a kind of artifact have a status.
type outcome struct {
	kind   symbol.Kind
	status symbol.Status
	n      int
}

// tell counts an answer for the observer.
func (b *Batch) tell(q int32, s symbol.Status) {
	if b.c.o.Observer.Answered == nil {
		return
	}
	kind := b.groups[b.asked[q].group].kind()
	for i := range b.told {
		if o := &b.told[i]; o.status == s && o.kind == kind {
			o.n++
			return
		}
	}
	b.told = append(b.told, outcome{kind, s, 1})
}

// settle answers a question otherwise than with frames.
func (b *Batch) settle(q int32, s symbol.Status, why error) {
	b.tell(q, s)
	if to := b.asked[q].to; b.answers != nil {
		a := &b.answers[to]
		a.Status, a.Err = s, why
	} else {
		b.pass(to, s, nil, why)
	}
}

// fail answers items with a row's error. What may be cured by a newer record
// is put aside, once.
func (b *Batch) fail(e *entry, items []item, err error) {
	status := statusOf(err)
	if !b.final && (status == symbol.Corrupt || status == symbol.Sealed) {
		aside := bad{e: e, err: err}
		for _, it := range items {
			aside.qs = append(aside.qs, it.q)
		}
		b.bad = append(b.bad, aside)
		return
	}
	for _, it := range items {
		b.settle(it.q, status, err)
	}
}

// windowQuestions are answered together: enough that their waits for memory overlap, and few enough
// that their blocks are still in the processor's first cache when they are used.
const windowQuestions = 32

// window holds questions with their blocks until they are worth answering.
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

// repeatSlot is a position of a row, and the question that asked for it first.
type repeatSlot struct {
	pos uint64
	row uint32
	q   int32 // into batch.asked
}

// repeated is a question, and the equal question before it.
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

// kept bounds the memory of answers that a batch keeps until all are there. What stands in the client's caches is not
// counted: their own bounds hold for it. Each call answers for what it brings in.
//
// The strings of an answer are pieces of its block, so an answer keeps all of the block's text. That is the cheapest as
// long as new blocks are few. Beyond keptBlocks, answers get strings of their own.
type kept struct {
	room  func(bytes int64) error // nil: there is no bound
	bytes int64                   // of the blocks that were read
	long  map[string]string       // demangled names that may be too long for the cache, by linkage name
}
