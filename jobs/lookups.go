package jobs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

// lookupBatch is how many questions are answered together: enough to read
// each block once, few enough to flush often.
const lookupBatch = 1024

// lookups answers questions in batches, several at once, and prints the
// answers in the order asked.
type lookups struct {
	p      *process
	job    *lookupJob
	client *lookup.Client
	style  style
	names  map[string]lookup.Resolution // by the name as given

	functions map[anchor]function

	batch   *questions
	ordered chan *questions // handed over, oldest first; its size bounds the batches at work
	printed chan error      // the printer's one last word
	used    sync.Pool       // of *questions: their slices, to be filled again

	mu         sync.Mutex
	unanswered map[symbol.Status]int
}

// function is what the client found for an anchor.
type function struct {
	starts []uint64
	answer symbol.Answer
}

// questions is a batch at work.
type questions struct {
	asked   []asked
	queries []lookup.Query
	answers []symbol.Answer // [query]
	text    []byte
	err     error
	done    chan struct{} // closed when text and err are there
}

// asked is one question as it came.
type asked struct {
	found    lookup.Resolution
	position string // as given; kept for --json only
	query    int    // index into queries; -1: its artifact was not found, or answer is set
	answer   *symbol.Answer
}

func newLookups(p *process, job *lookupJob, client *lookup.Client) *lookups {
	b := &lookups{p: p, job: job, client: client, style: styles[job.Style], names: map[string]lookup.Resolution{}, functions: map[anchor]function{}, unanswered: map[symbol.Status]int{}, batch: &questions{},
		used:    sync.Pool{New: func() any { return &questions{} }},
		ordered: make(chan *questions, runtime.GOMAXPROCS(0)), printed: make(chan error, 1)}
	go b.print()
	return b
}

// read takes ARTIFACT POSITION lines to the end.
func (b *lookups) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<20)
	for line := 1; ; line++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return usage("line %d of standard input is too long", line)
		}
		if fields := bytes.Fields(text); len(fields) == 2 {
			if err := b.add(fields[0], fields[1]); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
		} else if len(fields) != 0 {
			return usage("line %d: want ARTIFACT POSITION", line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read standard input: %w", err)
		}
		// A caller that waits for its answer has sent all it has.
		if err != nil || in.Buffered() == 0 || len(b.batch.asked) >= lookupBatch {
			b.flush()
		}
		if err != nil {
			return nil
		}
	}
}

// add takes one question.
func (b *lookups) add(artifact, position []byte) error {
	where, err := wire.ParsePosition(string(position))
	method, isMethod := wire.ParseMethod(string(position))
	if err != nil && !isMethod {
		return usage("%w", err)
	}
	r, known := b.names[string(artifact)]
	if !known {
		r = b.client.Resolve(b.p.ctx, string(artifact), lookup.Narrow{App: b.job.App, Arch: b.job.Arch})
		b.names[string(artifact)] = r
	}
	if r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.R8 {
		if !isMethod {
			return usage("position %q: %s is a mapping: want CLASS.METHOD:LINE", position, artifact)
		}
		a := b.client.Method(b.p.ctx, r.Record.ID, method.Class, method.Name, method.Line)
		b.batch.asked = append(b.batch.asked, asked{found: r, position: string(position), query: -1, answer: &a})
		return nil
	}
	if err != nil {
		if r.Status == symbol.Found {
			return usage("%w", err)
		}
		where = symbol.Where{} // nothing is asked
	}
	if r.Status == symbol.Found && where.Space == symbol.Anchored {
		r, where = b.anchored(r, where)
	}
	q := asked{found: r, query: -1}
	if b.p.flags.JSON {
		q.position = string(position)
	}
	if r.Status == symbol.Found {
		q.query = len(b.batch.queries)
		b.batch.queries = append(b.batch.queries, lookup.Query{Artifact: r.Record.ID, Where: where})
	}
	b.batch.asked = append(b.batch.asked, q)
	return nil
}

// anchor is a function that positions are counted from.
type anchor struct {
	artifact symbol.ID
	name     string
}

// anchored makes a place counted from a function one counted from the image
// base. Symbols that runtimes count from, and sections, are in the record
// and stay as they are.
func (b *lookups) anchored(r lookup.Resolution, w symbol.Where) (lookup.Resolution, symbol.Where) {
	if _, known := r.Record.Published.Artifact.Anchors[w.Anchor]; known {
		return r, w
	}
	key := anchor{r.Record.ID, w.Anchor}
	f, known := b.functions[key]
	if !known {
		f.starts, f.answer = b.client.Function(b.p.ctx, key.artifact, key.name)
		b.functions[key] = f
	}
	switch {
	case f.answer.Status != symbol.Found:
		r.Status, r.Err = f.answer.Status, f.answer.Err
	case len(f.starts) == 1:
		w = symbol.Where{Space: symbol.Position, Value: f.starts[0] + w.Value}
	case len(f.starts) > 1:
		r.Status = symbol.Ambiguous
		r.Err = fmt.Errorf("%q begins at %d places, the first of them +%#x and +%#x", w.Anchor, len(f.starts), f.starts[0], f.starts[1])
	}
	return r, w
}

// flush hands the questions since the last flush over to be answered.
func (b *lookups) flush() {
	if len(b.batch.asked) == 0 {
		return
	}
	q := b.batch
	q.done = make(chan struct{})
	b.ordered <- q
	go func() {
		defer close(q.done)
		q.err = b.answer(q)
	}()
	b.batch = b.used.Get().(*questions)
}

// close answers what is left and waits until everything is printed.
func (b *lookups) close() error {
	b.flush()
	close(b.ordered)
	err := <-b.printed
	for status, n := range b.unanswered {
		if n > 1 {
			b.p.log.Warn("not answered in all", "status", status, "positions", n)
		}
	}
	return err
}

// print writes finished batches in order. After an error it only drains.
func (b *lookups) print() {
	var err error
	for q := range b.ordered {
		<-q.done
		if err == nil {
			err = q.err
		}
		if err == nil {
			_, err = b.p.out.Write(q.text)
		}
		q.asked, q.queries, q.text = q.asked[:0], q.queries[:0], q.text[:0]
		b.used.Put(q)
	}
	b.printed <- err
}

// answer fills in the text of a batch.
func (b *lookups) answer(q *questions) error {
	q.answers = slices.Grow(q.answers[:0], len(q.queries))[:len(q.queries)]
	err := b.client.Frames(b.p.ctx, q.queries, func(i int, a symbol.Answer) { q.answers[i] = a })
	if err != nil {
		return err
	}
	for _, one := range q.asked {
		a := symbol.Answer{Status: one.found.Status, Err: one.found.Err}
		if one.query >= 0 {
			a = q.answers[one.query]
		} else if one.answer != nil {
			a = *one.answer
		}
		excerpts, err := b.excerpts(one, a.Frames)
		if err != nil {
			return err
		}
		if b.p.flags.JSON {
			record := newLookupJSON(one, a)
			for i, x := range excerpts {
				record.Frames[i].Context = wire.NewContext(x.First, x.Lines)
			}
			line, err := json.Marshal(record)
			if err != nil {
				return err
			}
			q.text = append(append(q.text, line...), '\n')
			continue
		}
		if a.Status != symbol.Found && a.Status != symbol.Hole && a.Status != symbol.Outside {
			b.warn(a)
		}
		q.text = b.style(q.text, a.Frames, excerpts)
	}
	return nil
}

// excerpts gives the source of each frame, where it is wanted and there.
func (b *lookups) excerpts(q asked, frames []symbol.Frame) ([]lookup.Excerpt, error) {
	if b.job.Context == 0 || len(frames) == 0 {
		return nil, nil
	}
	excerpts := make([]lookup.Excerpt, len(frames))
	for i, f := range frames {
		var err error
		if excerpts[i], err = b.client.Excerpt(b.p.ctx, q.found.Record.ID, f.File, f.Line, b.job.Context); err != nil {
			return nil, err
		}
	}
	return excerpts, nil
}

// warn logs the first answer of each status that the text form cannot show.
func (b *lookups) warn(a symbol.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unanswered[a.Status]++; b.unanswered[a.Status] == 1 {
		b.p.log.Warn("not answered", "status", a.Status, "reason", wire.Reason(a))
	}
}

func newLookupJSON(q asked, a symbol.Answer) wire.Answer {
	j := wire.NewAnswer(a)
	j.Position = q.position
	if q.found.Record != nil {
		j.Artifact = q.found.Record.ID.String()
		if l := q.found.Record.Published; l != nil {
			j.Load, j.Kind = fmt.Sprintf("%x", l.Load), l.Artifact.Kind
		}
	}
	return j
}
