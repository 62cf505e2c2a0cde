package jobs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

type lookupJob struct {
	Artifact  string   `arg:"" optional:"" help:"Any name of it: build-id, debug-id, file name, APP@BUILD."`
	Positions []string `arg:"" optional:"" name:"position" help:"0x1f3a: address of the file; +0x1f3a: from the image base; NAME+0x1f3a: from a symbol or section."`
	Stdin     bool     `help:"Read ARTIFACT POSITION lines from standard input."`
	Style     string   `help:"Text form: llvm (as llvm-symbolizer prints) or addr2line (as addr2line -ipfC)." enum:"llvm,addr2line" default:"llvm"`
	Demangle  bool     `help:"Print readable names." default:"true" negatable:""`
	App       string   `help:"APP@BUILD that an ambiguous name belongs to." placeholder:"APP@BUILD"`
	Arch      string   `help:"Architecture that an ambiguous name belongs to." placeholder:"ARCH"`
}

func (lookupJob) Help() string {
	return "Example:\n  symlake lookup 564bb6c8be48eea9d9db622b8689806eea5af3c7 0x47d4 0x4748"
}

// lookupBatch is how many questions are answered together: enough to read
// each block once, few enough to flush often.
const lookupBatch = 4096

// Run answers positions in the order asked.
func (j lookupJob) Run(p *process) error {
	switch {
	case j.Stdin && j.Artifact != "":
		return usage("--stdin reads artifacts and positions from standard input: give none")
	case !j.Stdin && len(j.Positions) == 0:
		return usage("want ARTIFACT POSITION …, or --stdin")
	}
	client, close, err := p.openClient(lookup.Options{NoDemangle: !j.Demangle})
	if err != nil {
		return err
	}
	defer close()
	b := &lookups{p: p, job: &j, client: client, names: map[string]lookup.Resolution{}, style: styles[j.Style]}
	if !j.Stdin {
		for _, pos := range j.Positions {
			if err := b.add([]byte(j.Artifact), []byte(pos)); err != nil {
				return err
			}
		}
		return b.flush()
	}
	in := bufio.NewReaderSize(p.in, 1<<20)
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
		if err != nil || in.Buffered() == 0 || len(b.asked) >= lookupBatch {
			if err := b.flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// lookups collects questions and prints their answers in the order asked.
type lookups struct {
	p      *process
	job    *lookupJob
	client *lookup.Client
	style  style
	names  map[string]lookup.Resolution

	asked   []asked
	queries []lookup.Query
	answers []symbol.Answer
	text    []byte
}

// asked is one question as it came.
type asked struct {
	found    lookup.Resolution
	position string // as given; kept for --json only
	query    int    // index into queries; -1: its artifact was not found
}

func (b *lookups) add(artifact, position []byte) error {
	where, err := parsePosition(string(position))
	if err != nil {
		return err
	}
	r, known := b.names[string(artifact)]
	if !known {
		r = b.client.Resolve(b.p.ctx, string(artifact), lookup.Narrow{App: b.job.App, Arch: b.job.Arch})
		b.names[string(artifact)] = r
	}
	q := asked{found: r, query: -1}
	if b.p.flags.JSON {
		q.position = string(position)
	}
	if r.Status == symbol.Found {
		q.query = len(b.queries)
		b.queries = append(b.queries, lookup.Query{Artifact: r.Record.ID, Where: where})
	}
	b.asked = append(b.asked, q)
	return nil
}

// flush answers what was asked since the last flush.
func (b *lookups) flush() error {
	if cap(b.answers) < len(b.queries) {
		b.answers = make([]symbol.Answer, max(len(b.queries), lookupBatch))
	}
	b.answers = b.answers[:len(b.queries)]
	err := b.client.Frames(b.p.ctx, b.queries, func(i int, a symbol.Answer) { b.answers[i] = a })
	if err != nil {
		return err
	}
	b.text = b.text[:0]
	for _, q := range b.asked {
		a := symbol.Answer{Status: q.found.Status, Err: q.found.Err}
		if q.query >= 0 {
			a = b.answers[q.query]
		}
		if b.p.flags.JSON {
			line, err := json.Marshal(b.record(q, a))
			if err != nil {
				return err
			}
			b.text = append(append(b.text, line...), '\n')
			continue
		}
		if a.Status != symbol.Found && a.Status != symbol.Hole && a.Status != symbol.Outside {
			b.p.log.Warn("lookup", "status", a.Status, "reason", reason(a))
		}
		b.text = b.style(b.text, a.Frames)
	}
	b.asked, b.queries = b.asked[:0], b.queries[:0]
	_, err = b.p.out.Write(b.text)
	return err
}

func (b *lookups) record(q asked, a symbol.Answer) answerJSON {
	j := newAnswerJSON(a)
	j.Position = q.position
	if q.found.Record != nil {
		j.Artifact = q.found.Record.ID.String()
		if l := q.found.Record.Published; l != nil {
			j.Load, j.Kind = fmt.Sprintf("%x", l.Load), l.Artifact.Kind
		}
	}
	return j
}
