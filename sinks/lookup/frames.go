package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// chunkQueries are sorted and answered together. What the client holds for
	// a caller is bounded by it, and stays in the second cache of a processor; cold blocks are read once in it.
	chunkQueries = 1 << 14
	// slabFrames are allocated at once for the answers of a batch: 32,000 bytes, the most that the runtime has at hand.
	slabFrames = 400
)

// The reasons that need no detail, so that they cost nothing.
var (
	errHole    = errors.New("no source of this artifact says anything about this position")
	errPast    = errors.New("the position lies beyond the end of the image")
	errBefore  = errors.New("the address lies below the image base")
	errNowhere = errors.New("the artifact has no such section or symbol to count from")
)

// Frames answers many questions. Internally they are sorted by artifact and
// position, and the rows that are not cached are asked for together; out
// is called in the order asked, i counting from 0, on this goroutine. The frames of an
// answer are never reused by the client, but must not be changed: equal questions
// share them. Those of a batch share memory in pieces of some hundred, so who keeps few for long should copy
// them. The only error is ctx's; the questions of the last 16,384 are then
// unanswered.
func (c *Client) Frames(ctx context.Context, qs []Query, out func(i int, a symbol.Answer)) error {
	b := c.borrow()
	for start := 0; start < len(qs); start += chunkQueries {
		chunk := qs[start:min(start+chunkQueries, len(qs))]
		if err := b.run(ctx, c, chunk); err != nil {
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
	if block, ok := c.blocks.GetIfPresent(place{e.load, int32(i)}); ok {
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
func (c *Client) find(e *entry, block *row.Block, pos uint64) symbol.Answer {
	var room [12]symbol.Frame
	frames, found := block.Find(pos, room[:0])
	if err := e.load.opened.Err(); err != nil {
		return symbol.Answer{Status: statusOf(err), Err: err}
	}
	if !found {
		return symbol.Answer{Status: symbol.Hole, Err: errHole}
	}
	own := slices.Clone(frames) // a variable of its own keeps room on the stack
	c.demangle(e, own)
	return symbol.Answer{Status: symbol.Found, Frames: own}
}

func (c *Client) demangle(e *entry, frames []symbol.Frame) {
	plain := c.names == nil || e.load.artifact.Kind == symbol.SourceMap // a script's names are never mangled, whatever they look like
	for i := range frames {
		f := &frames[i]
		if f.Function = f.Linkage; !plain {
			f.Function = c.names.Name(f.Linkage)
		}
	}
}

// place turns a place into a position and the row that speaks for it. The
// status is Found when there is one, else it is the answer's, as the reason is.
func (e *entry) place(w symbol.Where) (pos uint64, i int, status symbol.Status, why error) {
	if e.status != symbol.Found {
		return 0, 0, e.status, e.err
	}
	pos, ok := e.load.artifact.Position(w)
	switch {
	case !ok && w.Space == symbol.Anchored:
		return 0, 0, symbol.Outside, errNowhere
	case !ok:
		return 0, 0, symbol.Outside, errBefore
	case pos >= e.load.artifact.End:
		return pos, 0, symbol.Outside, errPast
	}
	if i, ok = e.load.opened.Index(pos); !ok { // past the last row: the record's fence is the proof
		return pos, 0, symbol.Hole, errHole
	}
	return pos, i, symbol.Found, nil
}

// batch is one chunk of questions on its way. Its memory is used again for
// the next chunk and the next call, except for the slabs, which the caller owns.
type batch struct {
	c       *Client
	answers []symbol.Answer
	items   []item
	spare   []item // for sorting
	groups  []*entry
	slab    []symbol.Frame
	bad     []bad
	asked   []asked // the questions
	window  window
	repeats repeats
	room    []symbol.Answer // for those of Frames, all zero between chunks
	final   bool            // records were read past the cache: a bad row is corrupt

	names   []string // the questions are for these classes; nil: for frames
	classes []*retrace.Class
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
func (c *Client) borrow() *batch {
	if b, is := c.batches.Get().(*batch); is {
		return b
	}
	return new(batch)
}

// giveBack keeps a batch, which holds nothing of its callers' any more, for the next call. One whose
// call ended with an error is left to the garbage collector.
func (c *Client) giveBack(b *batch) {
	clear(b.groups[:cap(b.groups)])
	clear(b.bad[:cap(b.bad)])
	clear(b.window.at[:])
	clear(b.window.of[:])
	b.answers, b.slab = nil, nil
	c.batches.Put(b)
}

// begin makes the batch ready for questions whose answers are those.
func (b *batch) begin(c *Client, answers []symbol.Answer) {
	b.c, b.answers = c, answers
	b.groups = b.groups[:0]
}

// next makes room for n questions; the groups stay.
func (b *batch) next(n int) {
	b.final = false
	b.items, b.asked, b.bad = slices.Grow(b.items[:0], n), slices.Grow(b.asked[:0], n), b.bad[:0]
}

// group adds an artifact.
func (b *batch) group(e *entry) int {
	b.groups = append(b.groups, e)
	return len(b.groups) - 1
}

func (b *batch) run(ctx context.Context, c *Client, qs []Query) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.room = slices.Grow(b.room[:0], len(qs))
	b.begin(c, b.room[:len(qs)])
	b.next(len(qs))
	if err := b.find(ctx, qs, c.o.Now()); err != nil {
		return err
	}
	return b.finish(ctx, func(q int32) symbol.Where { return qs[q].Where })
}

// finish answers what was put; where tells the place of a question.
func (b *batch) finish(ctx context.Context, where func(q int32) symbol.Where) error {
	groups := len(b.groups)
	err := b.walk(ctx)
	if err == nil && len(b.bad) > 0 {
		err = b.retry(ctx, where)
		b.groups = b.groups[:groups]
	}
	b.repeat()
	if err == nil && b.c.o.Observer.Answered != nil {
		b.tell()
	}
	return err
}

// tell counts the answers for the observer.
func (b *batch) tell() {
	type outcome struct {
		kind   symbol.Kind
		status symbol.Status
	}
	counts := map[outcome]int{}
	n := 0
	for i, q := range b.asked {
		n++
		if i+1 < len(b.asked) && b.asked[i+1].group == q.group && b.answers[b.asked[i+1].to].Status == b.answers[q.to].Status {
			continue
		}
		counts[outcome{b.groups[q.group].kind(), b.answers[q.to].Status}] += n
		n = 0
	}
	for o, n := range counts {
		b.c.o.Observer.Answered(o.kind, o.status, n)
	}
}

// find answers what needs no row and notes the row of everything else.
func (b *batch) find(ctx context.Context, qs []Query, now time.Time) error {
	var known map[symbol.ID]int
	g := -1
	for i := range qs {
		q := &qs[i]
		if g < 0 || q.Artifact != qs[i-1].Artifact {
			var ok bool
			if g, ok = known[q.Artifact]; !ok {
				e, err := b.c.record(ctx, q.Artifact, now)
				if err != nil {
					return err
				}
				g = b.group(e)
				if known == nil {
					known = map[symbol.ID]int{}
				}
				known[q.Artifact] = g
			}
		}
		b.put(asked{int32(g), int32(i)}, i, q.Where)
	}
	return nil
}

// put asks question q, which is the next one.
func (b *batch) put(a asked, q int, w symbol.Where) {
	b.asked = append(b.asked, a)
	b.place(int(a.group), int32(q), w)
}

// place answers a question that needs no row and notes the row of any other.
func (b *batch) place(g int, q int32, w symbol.Where) {
	pos, at, status, why := b.groups[g].place(w)
	if status != symbol.Found {
		b.answers[b.asked[q].to] = symbol.Answer{Status: status, Err: why}
		return
	}
	b.items = append(b.items, item{key: uint64(g)<<32 | uint64(uint32(at)), pos: pos, q: q})
}

// walk answers the items row by row. While other calls do, it begins with a row of its own and goes round: of calls that
// begin with the same row, each would wait for the one before to read it.
func (b *batch) walk(ctx context.Context) error {
	b.items, b.spare = sortByRow(b.items, b.spare)
	others := b.c.walking.Add(1) - 1
	defer b.c.walking.Add(-1)
	if others > 0 && len(b.items) > 0 {
		from := b.c.turn(len(b.items))
		for from > 0 && b.items[from-1].key == b.items[from].key {
			from--
		}
		b.spare = append(append(b.spare[:0], b.items[from:]...), b.items[:from]...)
		b.items, b.spare = b.spare, b.items
	}
	var cold []want
	rows, hits := 0, 0
	defer func() { b.c.o.Observer.cached(rows, hits) }()
	for rest := b.items; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].key == rest[0].key {
			n++
		}
		e := b.groups[rest[0].key>>32]
		at := place{e.load, int32(uint32(rest[0].key))}
		rows++
		if block, ok := b.c.blocks.GetIfPresent(at); ok {
			hits++
			b.answer(e, block, rest[:n])
		} else {
			cold = append(cold, want{place: at, e: e, items: rest[:n]})
		}
		if rest = rest[n:]; len(cold) == tripRows || len(rest) == 0 && len(cold) > 0 {
			if err := b.fetch(ctx, cold); err != nil {
				return err
			}
			cold = cold[:0]
		}
	}
	b.flush()
	return nil
}

// turn gives a number below n, by turns all over: multiples of the golden section.
func (c *Client) turn(n int) int {
	return int(uint64(c.turns.Add(1)*0x9E3779B9) * uint64(n) >> 32)
}

// fail answers items with a row's error. What may be cured by a newer record
// is put aside, once.
func (b *batch) fail(e *entry, items []item, err error) {
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
		b.answers[b.asked[it.q].to] = symbol.Answer{Status: status, Err: err}
	}
}

// retry reads the records whose rows were bad once past the cache: a load
// may have been published, and the old one removed, since they were read. Under the same
// load, the rows stay bad.
func (b *batch) retry(ctx context.Context, where func(q int32) symbol.Where) error {
	b.final = true
	b.items = b.items[:0]
	fresh := map[*entry]int{}
	for _, was := range b.bad {
		g, ok := fresh[was.e]
		if !ok {
			e, err := b.c.recordAfter(ctx, was.e.load.id, was.e)
			if err != nil {
				return err
			}
			g = b.group(e)
			fresh[was.e] = g
		}
		same := b.groups[g].load == was.e.load
		for _, q := range was.qs {
			if same {
				b.answers[b.asked[q].to] = symbol.Answer{Status: statusOf(was.err), Err: was.err}
				continue
			}
			b.place(g, q, where(q))
		}
	}
	return b.walk(ctx)
}

// rowErr says which row an error is about.
func (p place) rowErr(err error) error {
	if p.row == sharedStrings {
		return fmt.Errorf("artifact %s, load %x, shared strings: %w", p.load.id, p.load.loaded.Load, err)
	}
	return fmt.Errorf("artifact %s, load %x, row %d: %w", p.load.id, p.load.loaded.Load, p.row, err)
}
