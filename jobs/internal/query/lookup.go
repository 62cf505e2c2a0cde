package query

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
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
	KeepGoing bool     `help:"Exit with 0 although the store or its keys failed to answer: answers are corrupt, unavailable or sealed."`
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
				err = exit.Usage("%w", err)
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
	failed     error // the first answer that is the environment's failure
}

// questions is a batch at work.
type questions struct {
	asked   []asked
	queries []lookup.Query
	answers []symbol.Answer // [query]
	remote  []remote.Query  // for a server, in place of queries
	text    []byte
	err     error
	done    chan struct{} // closed when text and err are there
}

func (q *questions) len() int { return len(q.asked) }

// asked is one question as it came.
type asked struct {
	wire.Question
	artifact string // as it was named
	raw      string // the line, where it is no question
	query    int    // index into queries or remote; -1: it has its answer
}

func newLookups(p *session.Session, job *LookupJob, client *answer.Client, server *remote.Client) *lookups {
	b := &lookups{p: p, job: job, client: client, server: server, style: styles[job.Style], asker: wire.Asker{Client: client, Narrow: lookup.Narrow{App: job.App, Arch: job.Arch}}, unanswered: map[symbol.Status]int{}, batch: &questions{},
		used:    sync.Pool{New: func() any { return &questions{} }},
		ordered: make(chan *questions, runtime.GOMAXPROCS(0)), printed: make(chan error, 1)}
	if p.OutView.Color && job.Style == "llvm" {
		b.style = colored(p.OutView)
	}
	go b.print()
	return b
}

// read takes ARTIFACT POSITION lines to the end.
func (b *lookups) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<20)
	for line := 1; ; line++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			b.refuse(text, "", fmt.Errorf("line %d is longer than %d bytes", line, len(text)))
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			text = nil
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if fields := bytes.Fields(text); len(fields) == 2 {
			if wrong := b.add(fields[0], fields[1]); wrong != nil {
				b.refuse(text, string(fields[1]), fmt.Errorf("line %d: %w", line, wrong))
			}
		} else if len(fields) != 0 {
			b.refuse(text, "", fmt.Errorf("line %d: want two words, ARTIFACT POSITION, not %d", line, len(fields)))
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

// invalid is the status of a line of standard input that is no question.
const invalid symbol.Status = "invalid"

// mostRaw bounds the part of a wrong line that its record repeats, in bytes.
const mostRaw = 200

// refuse answers a wrong line of standard input in its place.
func (b *lookups) refuse(text []byte, position string, why error) {
	raw := strings.ToValidUTF8(strings.TrimSpace(string(text[:min(len(text), mostRaw)])), "\ufffd")
	q := asked{query: -1, raw: raw}
	q.Position, q.Answer = position, &symbol.Answer{Status: invalid, Err: why}
	b.batch.asked = append(b.batch.asked, q)
}

// add takes one question. An error is of its form.
func (b *lookups) add(artifact, position []byte) error {
	if string(artifact) != b.last { // most lines name the artifact of the line before
		b.last = string(artifact)
	}
	if b.server != nil {
		if err := wire.CheckPosition(string(position)); err != nil {
			return err
		}
		b.batch.asked = append(b.batch.asked, asked{query: len(b.batch.remote), artifact: b.last})
		b.batch.remote = append(b.batch.remote, remote.Query{Artifact: b.last, Position: string(position)})
		return nil
	}
	asks, err := b.asker.Ask(b.p.Ctx, b.last, string(position))
	if err != nil {
		return err
	}
	q := asked{Question: asks, query: -1, artifact: b.last}
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
		if n > 1 && b.job.reads() {
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
		if !b.p.Flags.JSON {
			b.showText(q, one, one.Position, a, excerpts)
			continue
		}
		b.failing(a.Status, a.Reason())
		record := one.Of(a, excerpts)
		if err := showRecord(q, one, &record); err != nil {
			return err
		}
	}
	return nil
}

// showText adds the text form of an answer to a batch.
func (b *lookups) showText(q *questions, one *asked, position string, a symbol.Answer, excerpts []lookup.Excerpt) {
	if a.Status != symbol.Found {
		b.warn(one, position, a)
	}
	q.text = b.style(q.text, a.Frames, excerpts)
}

// showRecord adds the record of an answer to a batch.
func showRecord(q *questions, one *asked, record *wire.Answer) error {
	record.Raw = one.raw
	line, err := json.Marshal(record)
	q.text = append(append(q.text, line...), '\n')
	return err
}

// answerRemote has the server answer a batch.
func (b *lookups) answerRemote(q *questions) error {
	answers, err := b.askServer(q.remote)
	if err != nil {
		return err
	}
	for i := range q.asked {
		one := &q.asked[i]
		var record wire.Answer
		if one.query < 0 {
			record = one.Of(*one.Answer, nil)
		} else {
			record = answers[one.query]
		}
		if b.p.Flags.JSON {
			b.failing(record.Status, record.Reason)
			if err := showRecord(q, one, &record); err != nil {
				return err
			}
			continue
		}
		answer, excerpts := symbolAnswer(&record, b.job.Demangle)
		b.showText(q, one, record.Position, answer, excerpts)
	}
	return nil
}

// askServer has the server answer queries. When it refuses several, each is asked alone, so that only the wrong one is
// refused.
func (b *lookups) askServer(queries []remote.Query) ([]wire.Answer, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	answers, err := b.server.Lookup(b.p.Ctx, remote.Lookup{Queries: queries, App: b.job.App, Arch: b.job.Arch, Context: b.job.Context})
	if err == nil {
		return answers, nil
	}
	var said *remote.Error
	if !errors.As(err, &said) || said.Code != http.StatusBadRequest || !b.job.reads() {
		return nil, b.p.Refusal(err)
	}
	if len(queries) == 1 {
		return []wire.Answer{{Position: queries[0].Position, Status: invalid, Reason: said.Reason, Frames: []wire.Frame{}}}, nil
	}
	for i := range queries {
		one, err := b.askServer(queries[i : i+1])
		if err != nil {
			return nil, err
		}
		answers = append(answers, one...)
	}
	return answers, nil
}

// warn logs why a position has no answer, which the text form cannot show: each on the command line, and the first of
// each status of standard input.
func (b *lookups) warn(one *asked, position string, a symbol.Answer) {
	if a.Status == symbol.Sealed { // JSON says so itself
		b.fail(a.Status, a.Reason())
	}
	b.failing(a.Status, a.Reason())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unanswered[a.Status]++; b.unanswered[a.Status] > 1 && b.job.reads() {
		return
	}
	if one.raw != "" {
		b.p.Log.Warn("not answered", "text", one.raw, "status", a.Status, "reason", a.Reason())
	} else {
		b.p.Log.Warn("not answered", "artifact", one.artifact, "position", position, "status", a.Status, "reason", a.Reason())
	}
}

// failing notes an answer that the store failed to give.
func (b *lookups) failing(status symbol.Status, reason string) {
	if wire.Failed(status) {
		b.fail(status, reason)
	}
}

// fail has the command fail once all answers are printed, unless --keep-going says otherwise.
func (b *lookups) fail(status symbol.Status, reason string) {
	if b.job.KeepGoing {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = storeFailed(status, reason)
	}
}
