package lookup

import (
	"context"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
)

// chunkQueries are sorted and answered together. Their number bounds the memory that the client holds for a caller, which
// stays in the second cache of a processor. Cold blocks are read once in it.
const chunkQueries = 1 << 14

// Question is a question of a Batch.
type Question struct {
	Where    symbol.Where
	Artifact int32 // as Batch.Artifact returned it
	Answer   int32 // index into Batch.Answers
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

// Ask answers questions, each once. The errors come from ctx and its room.
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

// finish answers the questions that put took; where tells the place of a question.
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
		if block, ok := b.c.blocks.Get(at); ok {
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

// retry reads the records of bad rows once past the cache: a load
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

// repeat answers repeated questions after all others: a row may have been read again.
func (b *Batch) repeat() {
	for _, s := range b.repeats.same {
		a := &b.answers[b.asked[s.q].to]
		*a = b.answers[b.asked[s.as].to]
		b.tell(s.q, a.Status)
	}
	b.repeats.same = b.repeats.same[:0]
}
