package report

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
)

// textBytes is how much text without frames is kept before it is handed out.
const textBytes = 64 << 10

// mostAhead is how much of the next stack's text is made room for, by the one before.
const mostAhead = 4 << 10

// Split reads r to its end and hands out stacks, and the text around them, in
// order: the Texts one after the other are the input. A stack ends where the
// next dump begins, or a bound of the package is met. What is handed out
// belongs to emit. emit's error comes back unchanged; so does the reader's,
// after all that was read before it has been handed out. Memory beyond that of the text is asked of the room in ctx,
// whose error comes back too.
func Split(ctx context.Context, r io.Reader, o Options, emit func(*Report) error) error {
	o.bound = &bound{take: room.Of(ctx)}
	s := splitter{options: o, emit: emit, strings: map[string]string{}, cur: new(Report), dart: dartStarts(&o)}
	in := buffered(r)
	if from, err := s.contained(in); err != nil {
		return err
	} else if from != in {
		in = buffered(from)
	}
	for whole := true; ; { // whole: the next piece begins a line
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		part := errors.Is(err, bufio.ErrBufferFull)
		if len(piece) > 0 {
			if err := s.piece(piece, whole, !part); err != nil {
				return err
			}
			if s.spent {
				return ErrExpression
			}
			whole = !part
		}
		if err == nil || part {
			continue
		}
		for s.document != nil {
			if ended := s.endDocument(); ended != nil {
				return ended
			}
		}
		if flushed := s.flush(); flushed != nil {
			return flushed
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
}

// buffered reads lines of up to MaxLineBytes. A text in memory that is shorter needs no more room than itself.
func buffered(r io.Reader) *bufio.Reader {
	size := MaxLineBytes
	switch r := r.(type) {
	case *bytes.Reader:
		size = min(size, r.Len()+1)
	case *strings.Reader:
		size = min(size, r.Len()+1)
	}
	return bufio.NewReaderSize(r, max(size, containerBytes))
}

// splitter is the state of one Split. What a dump's header said outlives the
// stacks that the dump is cut into.
type splitter struct {
	options Options
	emit    func(*Report) error
	strings map[string]string // names met in this stack, so that equal ones are one
	images  images

	cur     *Report
	frames  int    // of cur
	family  family // of cur
	dump    bool   // below a header
	arch    string // as the header says
	dart    dartHeader
	thrown  bool   // the line before says that an exception of Dart follows
	thread  Thread // as announced: what the next one is called
	fresh   bool   // the next frame begins a thread
	running int    // frames of the current thread, also of those handed out
	depth   int    // frames of the thread before: the next one is made for as many
	gap     bool   // an empty line stands behind the last frame
	fault   bool   // a line said that a signal stopped the goroutine whose frames follow

	steps   int64         // that the expression took
	spent   bool          // they were too many
	pending []pendingLine // lines of cur's text that name classes, behind its last frame

	document *document // being collected
	kind     int       // its place in documents; or that of the last one
	barred   int       // documents before that place do not begin here
	follow   follower
	held     []byte // of the document, so far
}

// piece takes a piece of the input: a line with its line end, or a part of one
// that is too long.
func (s *splitter) piece(b []byte, begins, ends bool) error {
	plain := b
	if begins {
		plain = scan.Unmarked(b, scan.LineMarks)
	}
	if taken, err := s.inDocument(b, plain, begins); taken || err != nil {
		return err
	}
	if begins && ends {
		return s.line(b, scan.Unmarked(b, scan.QuoteMarks))
	}
	return s.text(b)
}

// line takes one whole line with its line end; plain is b without marks of quoting.
func (s *splitter) line(b, plain []byte) error {
	content := bytes.TrimRight(plain, "\r\n")
	whole := len(content)
	content = scan.WithoutColors(content)
	if l, ok := parseLine(content, len(s.options.Artifacts) > 0); ok {
		return s.frame(&l, b, whole)
	}
	if len(s.options.Artifacts) > 0 {
		if l, ok := parseGo(s.before(), content); ok {
			return s.frame(&l, b, len(content))
		}
		s.fault = s.fault || bytes.HasPrefix(content, faultLine)
	}
	if taken, err := s.script(b, len(content)); taken || err != nil {
		return err
	}
	if taken, err := s.java(b, len(content)); taken || err != nil {
		return err
	}
	if err := s.scriptText(content); err != nil {
		return err
	}
	if err := s.javaText(content); err != nil {
		return err
	}
	if len(bytes.TrimSpace(content)) == 0 {
		s.gap = true
	} else if mayBeHeader(content) {
		if err := s.headerLine(content); err != nil {
			return err
		}
	}
	if err := s.text(b); err != nil {
		return err
	}
	s.javaNames(len(b), len(content))
	s.dartWords(len(b), len(content))
	return nil
}

// before is the line that was kept last, without marks of quoting.
func (s *splitter) before() []byte {
	t := s.cur.Text
	if len(t) == 0 {
		return nil
	}
	t = t[bytes.LastIndexByte(t[:len(t)-1], '\n')+1:]
	if n := scan.QuoteMarks(t); n > 0 {
		t = bytes.TrimPrefix(t[n:], []byte{' '})
	}
	return t
}

// text keeps b, and hands out first what would grow too long with it.
func (s *splitter) text(b []byte) error {
	most := textBytes
	if s.frames > 0 {
		most = MaxTextBytes
	}
	if len(s.cur.Text) > 0 && len(s.cur.Text)+len(b) > most {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.cur.Text = append(s.cur.Text, b...)
	return nil
}

// headerLine takes a line that may say something about the frames that follow.
func (s *splitter) headerLine(content []byte) error {
	content = content[scan.LogPrefix(content):]
	if arch, ok := new(dartHeader).parse(content); ok {
		if err := s.header(header{dart: true, arch: arch}); err != nil {
			return err
		}
		_, _ = s.dart.parse(content)
		return nil
	}
	if h, ok := parseHeader(content); ok {
		return s.header(h)
	}
	return nil
}

func (s *splitter) header(h header) error {
	if h.dump && s.frames == 0 && len(s.cur.Words) > 0 { // the exception that the dump belongs to
		s.forget()
	} else if h.dump || (h.fresh || h.dart) && s.frames > 0 {
		if err := s.next(); err != nil {
			return err
		}
	}
	if h.dump || h.fresh {
		s.dump = true
	}
	if h.arch != "" {
		s.arch = h.arch
	}
	if h.thread {
		s.thread, s.fresh = Thread{Name: h.name}, true
	}
	if h.id != 0 {
		s.thread.ID = h.id
	}
	return nil
}

// frame takes a line that is a frame; its first n bytes are its content.
func (s *splitter) frame(l *line, b []byte, n int) error {
	family := l.family
	if family == backtrace {
		switch {
		case scan.LogPrefix(b[:l.start]) > 0:
			family = logcat
		case s.dump:
			family = tombstone
		}
	}
	if s.isDart(l) {
		family = dartList
	}
	unnumbered := family == monitor || family == plain || family == dartList || family == symbols
	if s.gap && (family == perf || family == golang) && s.family == family && s.running > 0 {
		s.thread, s.fresh = Thread{}, true
	}
	switch {
	case s.frames > 0 && family != s.family && !(s.family == java && mixes(family)), s.gap && unnumbered && s.running > 0:
		if err := s.next(); err != nil {
			return err
		}
	case l.number == 0 && s.running > 0 && !s.fresh:
		if s.dump {
			s.thread, s.fresh = Thread{}, true
		} else if err := s.next(); err != nil {
			return err
		}
	}
	if s.frames >= MaxFrames {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if !s.options.takes(frameRoom) {
		return s.options.full()
	}
	if err := s.text(b); err != nil {
		return err
	}
	s.begin(family)
	at := len(s.cur.Text) - len(b)
	t := &s.cur.Threads[len(s.cur.Threads)-1]
	if t.Frames == nil {
		t.Frames = make([]Frame, 0, min(s.depth, mostAhead/64))
	}
	t.Frames = append(t.Frames, s.made(l, at, at+n))
	s.depth = len(t.Frames)
	s.frames++
	s.running++
	s.gap = false
	return nil
}

// begin makes sure that cur has the thread that the next frame belongs to.
func (s *splitter) begin(f family) {
	s.cur.Format, s.cur.Arch, s.family = formats[f].Name, s.arch, f
	if s.fresh || s.running == 0 {
		s.running = 0
	} else if len(s.cur.Threads) > 0 {
		return
	}
	s.cur.Threads = append(s.cur.Threads, s.thread)
	s.fresh = false
}

// made turns a line between at and end of the text into a frame.
func (s *splitter) made(l *line, at, end int) Frame {
	image := s.images.of(l)
	f := Frame{
		Span:      [2]int{at + l.start, end},
		Image:     image.names,
		File:      image.file,
		Container: image.container,
		Offset:    l.mapped,
		Arch:      l.arch,
		Raw:       l.pc,
		Kind:      formats[l.family].kind,
		indent:    l.tail - l.start,
	}
	if f.Arch == "" {
		f.Arch = s.arch
	}
	if l.kind != "" {
		f.Kind = l.kind
	}
	if !l.named {
		f.Image = s.options.Artifacts
	}
	if l.family == plain || l.family == symbols {
		f.indent = 4
	}
	kind := s.options.Frame0
	if kind == AsFormat {
		kind = formats[s.family].Frame0
		if s.fault && l.family == golang && s.running == 0 && !l.created {
			kind = Exact
		}
		if l.exact {
			kind = Stepped
		}
	}
	s.fault = s.fault && l.family != golang
	step := func(v uint64) uint64 {
		v = Strip(f.Arch, v)
		if kind == Return || kind == Exact && s.running > 0 {
			v = Step(f.Arch, v)
		}
		return v
	}
	switch {
	case l.dart != nil:
		s.dartFrame(&f, l.dart, step)
	case s.isDart(l):
		s.dartFrame(&f, &dartLine{abs: l.pc}, step)
	case l.function != nil:
		f.At = symbol.Where{Space: symbol.Anchored, Value: step(l.pc), Anchor: s.intern(l.function)}
		if l.placed {
			f.Or = []symbol.Where{{Space: symbol.Unslid, Value: step(l.offset)}}
		}
		if l.abs != 0 {
			f.Raw = l.abs
		}
	case l.placed:
		f.At = symbol.Where{Space: symbol.Unslid, Value: step(l.offset)}
	case l.space == symbol.Loaded: // nobody says where it was mapped
		f.At = symbol.Where{Space: symbol.Loaded, Value: step(l.pc), Load: ^uint64(0)}
	default:
		f.At = symbol.Where{Space: l.space, Value: step(l.pc)}
	}
	return f
}

// next ends the dump: what follows has its own header, or none.
func (s *splitter) next() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.forget()
	return nil
}

// forget forgets what the header said, and where in the dump we are.
func (s *splitter) forget() {
	s.dump, s.arch, s.thread, s.fresh, s.running, s.gap = false, "", Thread{}, false, 0, false
	s.dart = dartStarts(&s.options)
}

// flush hands out what there is.
func (s *splitter) flush() error {
	if len(s.cur.Text) == 0 {
		return nil
	}
	s.closeJava()
	out := s.cur
	s.cur, s.frames, s.family = &Report{Text: make([]byte, 0, min(len(out.Text), mostAhead))}, 0, text
	clear(s.strings)
	return s.emit(out)
}

func (s *splitter) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if known, ok := s.strings[string(b)]; ok {
		return known
	}
	text := string(b)
	s.strings[text] = text
	return text
}
