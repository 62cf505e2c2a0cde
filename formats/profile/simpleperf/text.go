package simpleperf

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// Text is simpleperf's report of samples as text, which `simpleperf report-sample` writes without --protobuf:
//
//	sample:
//	  event_type: cpu-cycles
//	  time: 39124000
//	  event_count: 100000
//	  thread_id: 42
//	  vaddr_in_file: 1f3a
//	  file: /data/app/com.example/lib/arm64/libgame.so
//	  symbol: unknown
//	  callchain:
//	    vaddr_in_file: 2f10
//	    file: /data/app/com.example/lib/arm64/libgame.so
//	    symbol: libgame.so[+2f10]
//
// Addresses are as in the other form. An answer stands in place of symbols that are none. Functions that were inlined become
// entries of their own before the entry that they were inlined into.
var Text = &profile.Format{
	Name:    "simpleperf-text",
	Title:   "simpleperf's text",
	Endings: []string{".simpleperf.txt"},
	Media:   []string{"text/vnd.simpleperf"},
	Begins:  textBegins,
	Answer:  answerText,
	Samples: textSamples,
}

// textBegins reports whether a sample stands in the first lines.
func textBegins(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	in := false
	for b := range bytes.Lines(head) {
		line := parseTextLine(b)
		if in {
			return line.indent > 0 && string(line.key) == "event_type"
		}
		in = line.isSample()
	}
	return false
}

const (
	textLineBytes   = 64 << 10
	mostTextBytes   = 8 << 20 // of a sample
	mostTextStrings = 1 << 20 // bytes of strings that are kept to be used again
)

// textLine is a line: its blanks, a word and a value.
type textLine struct {
	indent     int
	key, value []byte
}

func (l *textLine) isSample() bool {
	return l.indent == 0 && len(l.value) == 0 && string(l.key) == "sample"
}

// parseTextLine reads a line, with its end or without.
func parseTextLine(b []byte) (l textLine) {
	b = bytes.TrimRight(b, "\r\n")
	text := bytes.TrimLeft(b, " \t")
	l.indent = len(b) - len(text)
	if i := bytes.IndexByte(text, ':'); i >= 0 {
		l.key, l.value = text[:i], bytes.TrimPrefix(text[i+1:], []byte(" "))
	}
	return l
}

// textEntry is an entry of a call chain. The first stands among the sample's own lines.
type textEntry struct {
	address  uint64
	file     string
	symbol   string
	from, to int // its lines
	named    int // the line of its symbol; 0: there is none
}

// textSample is a sample as it stands. It is valid during a call.
type textSample struct {
	bytes   []byte
	ends    []int // of lines
	entries []textEntry
	chain   int // the line above the call chain; 0: there is none
	event   string
	thread  string
	count   int64
	time    int64
	tid     int64
	cut     bool // it has more lines, which are none of these
}

// line returns a line with its end.
func (s *textSample) line(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.bytes[from:s.ends[i]]
}

// textReader reads the samples of a text.
type textReader struct {
	sample func(s *textSample) error
	other  func(line []byte) error // a line that is none of a sample's; nil: it passes
	at     textSample
	in     bool
	kept   map[string]string

	keptBytes int
}

// each reads a text.
func (r *textReader) each(ctx context.Context, in *profile.Input) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	r.kept = map[string]string{}
	b := bufio.NewReaderSize(from, textLineBytes)
	whole := true // the line before was read to its end
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := b.ReadSlice('\n')
		if len(line) > 0 {
			if err := r.line(line, whole); err != nil {
				return err
			}
		}
		whole = err == nil
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return r.end()
		default:
			return err
		}
	}
}

// line takes a line, or the next part of a long one.
func (r *textReader) line(b []byte, begins bool) error {
	l := parseTextLine(b)
	switch {
	case begins && l.isSample():
		if err := r.end(); err != nil {
			return err
		}
		r.in = true
		r.at = textSample{bytes: append(r.at.bytes[:0], b...), ends: append(r.at.ends[:0], len(b)), entries: r.at.entries[:0], time: -1}
		return nil
	case r.in && begins && l.indent == 0:
		if err := r.end(); err != nil {
			return err
		}
	case r.in && (len(r.at.bytes)+len(b) > mostTextBytes || len(r.at.entries) > mostChain):
		r.at.cut = true
		if err := r.end(); err != nil {
			return err
		}
	}
	if !r.in {
		if r.other == nil {
			return nil
		}
		return r.other(b)
	}
	n := len(r.at.ends)
	r.at.bytes = append(r.at.bytes, b...)
	r.at.ends = append(r.at.ends, len(r.at.bytes))
	if begins {
		r.field(&l, n)
	}
	if at := len(r.at.entries) - 1; at >= 0 && (at > 0 || r.at.chain == 0) {
		r.at.entries[at].to = n + 1
	}
	return nil
}

// field reads a line of a sample.
func (r *textReader) field(l *textLine, n int) {
	s := &r.at
	var e *textEntry
	if at := len(s.entries) - 1; at >= 0 {
		e = &s.entries[at]
	}
	switch string(l.key) {
	case "event_type":
		s.event = r.string(l.value)
	case "time":
		s.time = textNumber(l.value)
	case "event_count":
		s.count = textNumber(l.value)
	case "thread_id":
		s.tid = textNumber(l.value)
	case "thread_name":
		s.thread = r.string(l.value)
	case "callchain":
		if s.chain == 0 {
			s.chain = n
		}
	case "vaddr_in_file":
		if address, err := strconv.ParseUint(string(l.value), 16, 64); err == nil {
			s.entries = append(s.entries, textEntry{address: address, from: n, to: n + 1})
		}
	case "file":
		if e != nil && e.file == "" {
			e.file = r.string(l.value)
		}
	case "symbol":
		if e != nil && e.named == 0 {
			e.symbol, e.named = r.string(l.value), n
		}
	}
}

// end hands the sample at hand out.
func (r *textReader) end() error {
	if !r.in {
		return nil
	}
	r.in = false
	return r.sample(&r.at)
}

// string returns a text, the same one for equal texts.
func (r *textReader) string(b []byte) string {
	if s, known := r.kept[string(b)]; known {
		return s
	}
	if r.keptBytes += len(b) + 64; r.keptBytes > mostTextStrings {
		clear(r.kept)
		r.keptBytes = 0
	}
	s := string(b)
	r.kept[s] = s
	return s
}

// textNumber reads a number; 0: it is none.
func textNumber(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// mostTextEvents have values of their own.
const mostTextEvents = 32

// textMaker makes samples of a text.
type textMaker struct {
	to      *samples.Profile
	threads map[samples.Thread]int32
	events  []string
	values  []int64
	first   int64 // time of the first sample; -1: not said
}

// textSamples reads the samples of a text, with the names that it has. Values are samples, then each event's counts.
func textSamples(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	m := &textMaker{to: to, threads: map[samples.Thread]int32{}, first: -1}
	events := &textReader{
		sample: func(s *textSample) error {
			if s.event != "" && len(m.events) < mostTextEvents && !slices.Contains(m.events, s.event) {
				m.events = append(m.events, s.event)
			}
			return nil
		},
		other: func(line []byte) error {
			if l := parseTextLine(line); l.indent > 0 && string(l.key) == "lost_count" {
				to.Lost = uint64(max(textNumber(l.value), 0))
			}
			return nil
		},
	}
	if err := events.each(ctx, in); err != nil {
		return err
	}
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	for _, event := range m.events {
		to.Types = append(to.Types, samples.Type{Name: event, Unit: unitOf(event)})
	}
	if len(m.events) > 0 {
		to.Default = 1
	}
	return (&textReader{sample: m.add}).each(ctx, in)
}

// add adds a sample.
func (m *textMaker) add(s *textSample) error {
	stack := int32(samples.None)
	for i := len(s.entries) - 1; i >= 0; i-- {
		e := &s.entries[i]
		inlined := i+1 < len(s.entries) && s.entries[i+1].address == e.address && s.entries[i+1].file == e.file && s.entries[i+1].symbol != e.symbol && (&file{path: e.file}).isImage()
		n, err := m.to.Frame(e.shown(inlined))
		if err == nil {
			stack, err = m.to.Push(stack, n)
		}
		if err != nil {
			return err
		}
	}
	if stack == samples.None {
		m.to.Lost++
		return nil
	}
	t := samples.Thread{TID: s.tid, Name: strings.ToValidUTF8(s.thread, "?")}
	thread, known := m.threads[t]
	if !known {
		thread = int32(len(m.to.Threads))
		m.threads[t] = thread
		m.to.Threads = append(m.to.Threads, t)
	}
	at := int64(-1)
	if s.time >= 0 {
		if m.first < 0 {
			m.first = s.time
		}
		at = max(s.time-m.first, 0)
		m.to.Duration = max(m.to.Duration, at)
	}
	m.values = append(m.values[:0], 1)
	for _, event := range m.events {
		v := int64(0)
		if event == s.event {
			v = s.count
		}
		m.values = append(m.values, v)
	}
	return m.to.Add(samples.Sample{Stack: stack, Thread: thread, Time: at}, m.values...)
}

// shown returns an entry as samples have it.
func (e *textEntry) shown(inlined bool) samples.Frame {
	made := samples.Frame{Function: e.symbol, Module: e.file, Inlined: inlined}
	if isUnnamed(e.symbol) {
		made.Address, made.Function = e.address, "0x"+strconv.FormatUint(e.address, 16)
		if e.file != "" && e.file != "unknown" {
			made.Function = path.Base(e.file[strings.LastIndexByte(e.file, '!')+1:]) + "+" + made.Function
		}
	}
	return made
}
