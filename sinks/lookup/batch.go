package lookup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
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
	room    []symbol.Answer // for those of Frames, all zero between chunks
	emits                   // for those of Each
	kept
	told  []outcome // for the observer
	final bool      // records were read past the cache: a bad row is corrupt

	names   []string // the questions are for these classes; nil: for frames
	classes []*Class
}

// Question is a question of a Batch.
type Question struct {
	Where    symbol.Where
	Artifact int32 // as Batch.Artifact returned it
	Answer   int32 // index into Batch.Answers
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

// giveBack keeps a batch, which holds nothing of its callers' any more, for the next call. One whose
// call ended with an error is left to the garbage collector.
func (c *Client) giveBack(b *Batch) {
	clear(b.groups[:cap(b.groups)])
	clear(b.bad[:cap(b.bad)])
	clear(b.window.at[:])
	clear(b.window.of[:])
	b.answers, b.slab, b.kept, b.known = nil, nil, kept{}, nil
	b.emits.end()
	c.batches.Put(b)
}

// begin makes the batch ready for questions whose answers are those.
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

// Batch begins a batch with room for n answers. It reads nothing yet. Close it after the last
// question, unless a call returned an error.
func (c *Client) Batch(ctx context.Context, n int) *Batch {
	b := c.borrow()
	b.begin(ctx, c, make([]symbol.Answer, n))
	b.now = c.o.Now()
	return b
}

// Answers returns the answers, zero until they are asked for. The caller owns them.
func (b *Batch) Answers() []symbol.Answer { return b.answers }

// Close gives the batch's memory back to the client. The answers stay valid.
func (b *Batch) Close() { b.c.giveBack(b) }

// Artifact adds an artifact to the batch and returns its number. An artifact that was added before keeps its number. The
// error is ctx's.
func (b *Batch) Artifact(ctx context.Context, id symbol.ID) (int32, error) {
	e, err := b.c.record(ctx, id, b.now)
	if err != nil {
		return 0, err
	}
	g, ok := b.known[e]
	if !ok {
		if b.known == nil {
			b.known = map[*entry]int32{}
		}
		g = int32(b.group(e))
		b.known[e] = g
	}
	return g, nil
}

// Ask answers questions, each once. The errors are those of ctx and of its room.
func (b *Batch) Ask(ctx context.Context, qs []Question) error {
	for chunk := range slices.Chunk(qs, chunkQueries) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.next(len(chunk))
		for i := range chunk {
			q := &chunk[i]
			b.put(asked{q.Artifact, q.Answer}, i, q.Where)
		}
		if err := b.finish(ctx, func(q int32) symbol.Where { return chunk[q].Where }); err != nil {
			return err
		}
	}
	return nil
}

// run answers a chunk: into answers, all zero, or by emitting if that is nil.
func (b *Batch) run(ctx context.Context, c *Client, qs []Query, answers []symbol.Answer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.begin(ctx, c, answers)
	b.next(len(qs))
	if err := b.find(ctx, qs, c.o.Now()); err != nil {
		return err
	}
	return b.finish(ctx, func(q int32) symbol.Where { return qs[q].Where })
}

// finish answers what was put; where tells the place of a question.
func (b *Batch) finish(ctx context.Context, where func(q int32) symbol.Where) error {
	groups := len(b.groups)
	err := b.walk(ctx)
	if err == nil && len(b.bad) > 0 {
		err = b.retry(ctx, where)
		b.groups = b.groups[:groups]
	}
	b.repeat()
	if err == nil {
		for _, o := range b.told {
			b.c.o.Observer.answered(o.kind, o.status, o.n)
		}
	}
	return err
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

// find answers what needs no row and notes the row of everything else.
func (b *Batch) find(ctx context.Context, qs []Query, now time.Time) error {
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
func (b *Batch) put(a asked, q int, w symbol.Where) {
	b.asked = append(b.asked, a)
	b.place(int(a.group), int32(q), w)
}

// place answers a question that needs no row and notes the row of any other.
func (b *Batch) place(g int, q int32, w symbol.Where) {
	pos, at, status, why := b.groups[g].place(w)
	if status != symbol.Found {
		b.settle(q, status, why)
		return
	}
	b.items = append(b.items, item{key: uint64(g)<<32 | uint64(uint32(at)), pos: pos, q: q})
}

// walk answers the items row by row. While other calls do, it begins with a row of its own and goes round: of calls that
// begin with the same row, each would wait for the one before to read it.
func (b *Batch) walk(ctx context.Context) error {
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
	rows, hits, coldBytes := 0, 0, uint64(0)
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
			coldBytes += e.load.rowBytes()
		}
		if rest = rest[n:]; len(cold) == tripRows || coldBytes >= tripBytes || len(rest) == 0 && len(cold) > 0 {
			b.held = true
			err := b.fetch(ctx, cold)
			b.held = false
			if err != nil {
				return err
			}
			b.passHeld()
			cold, coldBytes = cold[:0], 0
		}
		if b.failed != nil {
			break
		}
	}
	b.flush()
	return b.failed
}

// turn gives a number below n, by turns all over: multiples of the golden section.
func (c *Client) turn(n int) int {
	return int(uint64(c.turns.Add(1)*0x9E3779B9) * uint64(n) >> 32)
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

// retry reads the records whose rows were bad once past the cache: a load
// may have been published, and the old one removed, since they were read. Under the same
// load, the rows stay bad.
func (b *Batch) retry(ctx context.Context, where func(q int32) symbol.Where) error {
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
				b.settle(q, statusOf(was.err), was.err)
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
