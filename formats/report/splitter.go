package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
)

// splitter is the state of one Split.
type splitter struct {
	Builder
	dialects []Dialect
	lines    []Lines // of the dialects that read lines, in their order
	current  Line
	said     Header // by the line at hand
	input    []byte // of the report so far, if it differs from the report's text; nil: it does not
	emit     func(*Report) error

	json   *json.Stream // being collected
	behind bool         // the next piece goes on behind a value in its line
	item   *item        // of an envelope: its header was read, and its payload follows
	stream bool         // the pieces come from the input itself
	values jsonReader

	documents []Document // of all dialects
	document  *Document  // being collected
	kind      int        // of the document: 0 for JSON, else its place in documents, from 1; or of the last one
	barred    int        // documents of kinds before that do not begin here
	follow    Follower
	held      []byte   // of the document, so far
	unread    []Unread // parts of documents without frames; the next report has them
}

// newSplitter returns a splitter that hands out its reports to emit.
func newSplitter(dialects []Dialect, o Options, emit func(*Report) error) *splitter {
	s := &splitter{dialects: dialects, emit: emit}
	s.Builder = Builder{options: o, strings: map[string]string{}, report: new(Report)}
	s.current.before = s.before
	s.lines = make([]Lines, 0, len(s.dialects))
	s.values = jsonReader(s.dialects)
	for i := range s.dialects {
		d := &s.dialects[i]
		s.documents = append(s.documents, d.Documents...)
		if d.Lines != nil {
			s.lines = append(s.lines, d.Lines(&s.Builder))
		}
	}
	return s
}

// line takes one whole line with its line end; plain is b as input.Plain returns it.
func (s *splitter) line(b, plain []byte) error {
	l := &s.current
	content := scan.TrimOdd(scan.TrimEnd(scan.Unmarked(plain, scan.QuoteMarks)))
	l.bytes, l.whole, l.prefix, l.address = len(plain), len(content), -1, 0
	l.Text = scan.WithoutColors(content)
	l.Raw = plain[:len(l.Text)]
	for i := range s.lines {
		if s.lines[i].Find(l, &s.found) {
			return s.frame(&s.lines[i], b, plain)
		}
	}
	if s.form != nil && s.running > 0 && s.ends(l) {
		if err := s.next(); err != nil {
			return err
		}
	}
	if len(bytes.TrimSpace(l.Text)) == 0 {
		s.gap = true
	} else if err := s.headerLine(l); err != nil {
		return err
	}
	if err := s.text(b, plain, l.whole); err != nil {
		return err
	}
	for i := range s.lines {
		if kept := s.lines[i].Kept; kept != nil {
			kept([2]int{s.at, s.at + len(l.Text)})
		}
	}
	return nil
}

// ends reports whether a line that is no frame ends the report so far.
func (s *splitter) ends(l *Line) bool {
	for i := range s.lines {
		if ends := s.lines[i].Ends; ends != nil && ends(l) {
			return true
		}
	}
	return false
}

// text keeps a line, or a piece of one, and plain, which is b as input.Plain returns it; its first whole bytes are no
// line end. It hands out the report first if it would grow too long.
func (s *splitter) text(b, plain []byte, whole int) error {
	most := textBytes
	if s.frames > 0 {
		most = MaxTextBytes
	}
	if len(s.report.Text) > 0 && len(s.report.Text)+len(b) > most {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.input == nil && len(b) > 0 && &b[0] != &plain[0] {
		s.input = append(make([]byte, 0, len(s.report.Text)+len(b)), s.report.Text...)
	}
	if s.input != nil {
		s.input = append(s.input, b...)
	}
	s.keep(plain, whole)
	return nil
}

// headerLine asks the dialects what a line says about the frames that follow.
func (s *splitter) headerLine(l *Line) error {
	for i := range s.lines {
		if header := s.lines[i].Header; header != nil && header(l, &s.said) {
			return s.header(&s.said)
		}
	}
	return nil
}

func (s *splitter) header(h *Header) error {
	if h.Begins == BeginsDump && s.frames == 0 && len(s.report.Words) > 0 { // the exception that the dump belongs to
		s.forget()
	} else if h.Begins == BeginsDump || h.Begins != BeginsNothing && s.frames > 0 {
		if err := s.next(); err != nil {
			return err
		}
	}
	if h.Begins >= BeginsLate {
		s.dump = true
	}
	if h.Arch != "" {
		s.arch = h.Arch
	}
	if h.Thread {
		s.thread, s.fresh = Thread{Name: h.Name}, true
	}
	if h.ID != 0 {
		s.thread.ID = h.ID
	}
	return nil
}

// frame takes a line in which lines has found a frame; plain is b as input.Plain returns it.
func (s *splitter) frame(lines *Lines, b, plain []byte) error {
	f := &s.found
	if s.gap && f.Form.Gap == GapEndsThread && s.form == f.Form && s.running > 0 {
		s.thread, s.fresh = Thread{}, true
	}
	_, same := joins(s.form, f.Form)
	switch {
	case !same, s.gap && f.Form.Gap == GapEndsReport && s.running > 0:
		if err := s.next(); err != nil {
			return err
		}
	case f.Number == 0 && s.running > 0 && !s.fresh:
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
	if !s.options.Takes(f.Room) {
		return s.options.full()
	}
	if err := s.text(b, plain, s.current.whole); err != nil {
		return err
	}
	form, _ := joins(s.form, f.Form)
	s.Begin(form)
	if lines.Add != nil {
		lines.Add(f)
	} else {
		made, _ := s.Frame(&f.Place)
		s.Add(made)
	}
	s.running++
	s.gap = false
	return nil
}

// next ends the dump: the lines behind it have their own header, or none.
func (s *splitter) next() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.forget()
	return nil
}

// forget forgets the facts of the header, and the place in the dump.
func (s *splitter) forget() {
	s.dump, s.arch, s.thread, s.fresh, s.running, s.gap = false, "", Thread{}, false, 0, false
	for i := range s.lines {
		if forget := s.lines[i].Forget; forget != nil {
			forget()
		}
	}
}

// flush hands out the report so far.
func (s *splitter) flush() error {
	if len(s.report.Text) == 0 {
		return nil
	}
	for i := range s.lines {
		if finish := s.lines[i].Close; finish != nil {
			finish()
		}
	}
	out := s.report
	out.managed = s.options.Managed
	for _, u := range s.unread {
		out.Unread = AddUnread(out.Unread, u)
	}
	s.unread = nil
	if s.input != nil && out.Form == nil && len(out.Words) == 0 {
		out.Text = s.input
	}
	s.input = nil
	s.report, s.frames, s.form = &Report{Text: make([]byte, 0, min(len(out.Text), mostAhead))}, 0, nil
	clear(s.strings)
	return s.emit(out)
}
