package query

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
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/remote"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// LookupJob is the command lookup.
type LookupJob struct {
	Artifact  string   `arg:"" optional:"" help:"Any name of it: build id, debug id, file name, APP@BUILD. - is --stdin."`
	Positions []string `arg:"" optional:"" name:"position" help:"0x1f3a: an address of the file. +0x1f3a: from the image base. NAME+0x1f3a: from a symbol or section. LINE:COLUMN: of a script, from 1 and from 0. CLASS.METHOD:LINE: of a mapping."`
	Stdin     bool     `help:"Read ARTIFACT POSITION lines from standard input."`
	App       string   `help:"Build that an ambiguous name belongs to." placeholder:"APP@BUILD"`
	Arch      string   `help:"Architecture that an ambiguous name belongs to." placeholder:"ARCH"`
	Style     string   `help:"Text form: llvm (llvm-symbolizer) or addr2line (addr2line -ipfC)." enum:"llvm,addr2line" default:"llvm" placeholder:"STYLE"`
	Demangle  bool     `help:"Print readable names (default: yes)." default:"true" negatable:""`
	Context   uint32   `help:"Print up to N source lines around each frame's line." detail:"The map must be loaded with --sources-content." placeholder:"N"`
}

// lookupCacheBytes is what one command may remember: enough for every block
// and name of a large image.
const lookupCacheBytes = 1 << 30

// Help returns the text below the flags.
func (LookupJob) Help() string {
	return "Standard error says why a position has no answer.\n\nExample:\n  symlake lookup 564bb6c8be48eea9d9db622b8689806eea5af3c7 0x47d4 0x4748"
}

// reads reports whether the questions come from standard input.
func (j LookupJob) reads() bool { return j.Stdin || j.Artifact == "-" && len(j.Positions) == 0 }

// Check finds faults in the words before a store is opened.
func (j LookupJob) Check(*session.Session) error {
	switch {
	case j.Stdin && j.Artifact != "" && j.Artifact != "-":
		return exit.Usage("--stdin reads artifacts and positions from standard input: give none")
	case j.Context > 0 && j.Style != "llvm":
		return exit.Usage("--context goes with --style llvm or --json")
	case !j.reads() && len(j.Positions) == 0:
		return exit.Usage("want ARTIFACT POSITION …, or --stdin")
	case j.reads():
		return nil
	}
	for _, position := range j.Positions {
		if err := wire.CheckPosition(position); err != nil {
			return exit.Usage("%w", err)
		}
	}
	return nil
}

// Run answers positions in the order asked.
func (j LookupJob) Run(p *session.Session) error {
	server, err := p.Remote()
	if err != nil {
		return err
	}
	var client *answer.Client
	if server == nil {
		var close func() error
		if client, close, err = p.OpenClient(lookup.Options{NoDemangle: !j.Demangle, CacheBytes: lookupCacheBytes}); err != nil {
			return err
		}
		defer close()
	}
	b := newLookups(p, &j, client, server)
	if j.reads() {
		p.Collector.Use(collector.Lookup, lookupCacheBytes)
		err = b.read(p.In)
	} else {
		for _, pos := range j.Positions {
			if err = b.add([]byte(j.Artifact), []byte(pos)); err != nil {
				break
			}
		}
	}
	return errors.Join(err, b.close())
}

// lookupBatch is how many questions are answered together: enough to read
// each block once, few enough to flush often.
const lookupBatch = 512

// lookups answers questions in batches, several at once, and prints the
// answers in the order asked.
type lookups struct {
	p      *session.Session
	job    *LookupJob
	client *answer.Client
	server *remote.Client // asked in place of client, unless nil
	style  style
	asker  wire.Asker
	last   string // the artifact asked for last

	batch   *questions
	ordered chan *questions // handed over, oldest first; its size bounds the batches at work
	printed chan error      // the printer's one last word
	used    sync.Pool       // of *questions: their slices, to be filled again

	mu         sync.Mutex
	unanswered map[symbol.Status]int
	failed     error // the first answer that is the environment's failure, of the text form
}

// questions is a batch at work.
type questions struct {
	asked   []asked
	queries []lookup.Query
	answers []symbol.Answer // [query]
	remote  []remote.Query  // for a server, in place of asked
	text    []byte
	err     error
	done    chan struct{} // closed when text and err are there
}

func (q *questions) len() int { return len(q.asked) + len(q.remote) }

// asked is one question as it came.
type asked struct {
	wire.Question
	query int // index into queries; -1: it has its answer
}

func newLookups(p *session.Session, job *LookupJob, client *answer.Client, server *remote.Client) *lookups {
	b := &lookups{p: p, job: job, client: client, server: server, style: styles[job.Style], asker: wire.Asker{Client: client, Narrow: lookup.Narrow{App: job.App, Arch: job.Arch}}, unanswered: map[symbol.Status]int{}, batch: &questions{},
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
			return exit.Usage("line %d of standard input is too long", line)
		}
		if fields := bytes.Fields(text); len(fields) == 2 {
			if err := b.add(fields[0], fields[1]); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
		} else if len(fields) != 0 {
			return exit.Usage("line %d: want ARTIFACT POSITION", line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read standard input: %w", err)
		}
		// A caller that waits for its answer has sent all it has.
		if err != nil || in.Buffered() == 0 || b.batch.len() >= lookupBatch {
			b.flush()
		}
		if err != nil {
			return nil
		}
	}
}

// add takes one question.
func (b *lookups) add(artifact, position []byte) error {
	if string(artifact) != b.last { // most lines name the artifact of the line before
		b.last = string(artifact)
	}
	if b.server != nil {
		b.batch.remote = append(b.batch.remote, remote.Query{Artifact: b.last, Position: string(position)})
		return nil
	}
	asks, err := b.asker.Ask(b.p.Ctx, b.last, string(position))
	if err != nil {
		return exit.Usage("%w", err)
	}
	q := asked{asks, -1}
	if q.Answer == nil {
		q.query = len(b.batch.queries)
		b.batch.queries = append(b.batch.queries, q.Query)
	}
	b.batch.asked = append(b.batch.asked, q)
	return nil
}

// flush hands the questions since the last flush over to be answered.
func (b *lookups) flush() {
	if b.batch.len() == 0 {
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

// close answers the last batch and waits until everything is printed.
func (b *lookups) close() error {
	b.flush()
	close(b.ordered)
	err := <-b.printed
	if err == nil {
		err = b.failed
	}
	for status, n := range b.unanswered {
		if n > 1 {
			b.p.Log.Warn("not answered in all", "status", status, "positions", n)
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
			_, err = b.p.Out.Write(q.text)
		}
		q.asked, q.queries, q.text, q.remote = q.asked[:0], q.queries[:0], q.text[:0], q.remote[:0]
		b.used.Put(q)
	}
	b.printed <- err
}

// answer fills in the text of a batch.
func (b *lookups) answer(q *questions) error {
	if b.server != nil {
		return b.answerRemote(q)
	}
	q.answers = slices.Grow(q.answers[:0], len(q.queries))[:len(q.queries)]
	err := b.client.Frames(b.p.Ctx, q.queries, func(i int, a symbol.Answer) { q.answers[i] = a })
	if err != nil {
		return err
	}
	for i := range q.asked {
		one := &q.asked[i]
		a := symbol.Answer{}
		if one.query >= 0 {
			a = q.answers[one.query]
		} else {
			a = *one.Answer
		}
		excerpts, err := one.Excerpts(b.p.Ctx, b.client, a.Frames, b.job.Context)
		if err != nil {
			return err
		}
		if b.p.Flags.JSON {
			line, err := json.Marshal(one.Of(a, excerpts))
			if err != nil {
				return err
			}
			q.text = append(append(q.text, line...), '\n')
			continue
		}
		b.add1(q, a, excerpts)
	}
	return nil
}

// answerRemote has the server answer a batch.
func (b *lookups) answerRemote(q *questions) error {
	answers, err := b.server.Lookup(b.p.Ctx, remote.Lookup{Queries: q.remote, App: b.job.App, Arch: b.job.Arch, Context: b.job.Context})
	if err != nil {
		return b.p.Refusal(err)
	}
	for i := range answers {
		if a := &answers[i]; b.p.Flags.JSON {
			line, err := json.Marshal(a)
			if err != nil {
				return err
			}
			q.text = append(append(q.text, line...), '\n')
		} else {
			answer, excerpts := symbolAnswer(a, b.job.Demangle)
			b.add1(q, answer, excerpts)
		}
	}
	return nil
}

// add1 adds the text form of an answer.
func (b *lookups) add1(q *questions, a symbol.Answer, excerpts []lookup.Excerpt) {
	if a.Status != symbol.Found && a.Status != symbol.Hole && a.Status != symbol.Outside {
		b.warn(a)
	}
	q.text = b.style(q.text, a.Frames, excerpts)
}

// warn logs the first answer of each status that the text form cannot show. An answer that the store or its keys failed to
// give fails the command once all answers are printed.
func (b *lookups) warn(a symbol.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unanswered[a.Status]++; b.unanswered[a.Status] > 1 {
		return
	}
	b.p.Log.Warn("not answered", "status", a.Status, "reason", a.Reason())
	switch a.Status {
	case symbol.Corrupt, symbol.Unavailable, symbol.Sealed:
		if b.failed == nil {
			b.failed = fmt.Errorf("%s: %s", a.Status, a.Reason())
		}
	}
}
