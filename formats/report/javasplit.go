package report

import "bytes"

// nearLines is how many lines before a frame, and behind the one before it,
// may name classes: an exception's line, and those of its message.
const nearLines = 8

// parseJava reads a line of a managed frame.
func (s *splitter) parseJava(content []byte, l *javaLine) bool {
	o := &s.options.Managed
	if o.Line != nil {
		return s.matches(content, l) && l.frame
	}
	return parseManaged(content, o.School == Own, l)
}

// matches reads a line by the expression, as long as there are steps for it.
func (s *splitter) matches(content []byte, l *javaLine) bool {
	n := s.options.Managed.Line.steps(content)
	if n == 0 || s.spent {
		return false
	}
	s.steps += n
	if s.spent = s.options.Steps > 0 && s.steps > s.options.Steps; s.spent {
		return false
	}
	return s.options.Managed.Line.parse(content, l)
}

// parseNames reads a line that only names classes.
func (s *splitter) parseNames(content []byte, l *javaLine) bool {
	o := &s.options.Managed
	if o.Line != nil {
		return s.matches(content, l) && !l.frame
	}
	return parseThrown(content, o.School == Own, l)
}

// java takes a whole line whose first n bytes are its content; false: it is
// no frame of Java.
func (s *splitter) java(b []byte, n int) (bool, error) {
	var l javaLine
	if !s.parseJava(b[:n], &l) {
		return false, nil
	}
	switch {
	case s.frames > 0 && !mixes(s.family):
		if err := s.next(); err != nil {
			return true, err
		}
	case s.frames >= MaxFrames:
		if err := s.flush(); err != nil {
			return true, err
		}
	}
	if err := s.text(b); err != nil {
		return true, err
	}
	if s.frames == 0 {
		s.begin(java)
	} else {
		s.begin(s.family)
	}
	if !s.options.takes(frameRoom + 4*len(b)) {
		return true, s.options.full()
	}
	at := len(s.cur.Text) - len(b)
	if s.options.Managed.All || s.dump {
		s.addNames()
	} else {
		s.nearNames(at, nearLines)
	}
	s.add(&l, at, at+n)
	s.running++
	s.gap = false
	return true, nil
}

// mixes: families whose dumps hold frames of Java too.
func mixes(f family) bool {
	return f == java || f == tombstone || f == logcat || f == backtrace
}

// javaText looks at a line of text before it is kept: a trace ends at an empty
// line, and where another begins.
func (s *splitter) javaText(content []byte) error {
	if s.family != java || s.dump || s.running == 0 {
		return nil
	}
	fresh := s.gap && len(bytes.TrimSpace(content)) > 0
	for _, word := range beginsTrace {
		fresh = fresh || bytes.Contains(content, word)
	}
	if !fresh {
		return nil
	}
	return s.next()
}

// javaNames looks at the line of text that was just kept, n bytes of content
// at the end of cur's text but for its line end.
func (s *splitter) javaNames(line, n int) {
	if !s.options.Managed.All || s.frames+len(s.pending) >= MaxFrames {
		return
	}
	at := len(s.cur.Text) - line
	var l javaLine
	if s.parseNames(s.cur.Text[at:at+n], &l) {
		s.pending = append(s.pending, pendingLine{l, at, at + n})
	}
}

// pendingLine is a line that names classes and has no place in a thread yet:
// the frame that follows says which.
type pendingLine struct {
	line    javaLine
	at, end int
}

// addNames gives the pending lines their place in the current thread.
func (s *splitter) addNames() {
	for i := range s.pending {
		p := &s.pending[i]
		s.add(&p.line, p.at, p.end)
	}
	s.pending = s.pending[:0]
}

// nearNames adds the lines that name classes between the last frame and end:
// the first nearLines of them, if a frame precedes, and the last.
func (s *splitter) nearNames(end, last int) {
	from, first := 0, 0
	for t := range s.cur.Threads {
		if f := s.cur.Threads[t].Frames; len(f) > 0 {
			from, first = f[len(f)-1].Span[1], nearLines
		}
	}
	text := s.cur.Text[:end]
	tail := end
	for range last {
		if tail <= from {
			break
		}
		tail = bytes.LastIndexByte(text[:tail-1], '\n') + 1
	}
	for n := 0; from < end; n++ {
		if n == first {
			from = max(from, tail)
		}
		stop := bytes.IndexByte(text[from:], '\n')
		if stop < 0 {
			stop = end - from
		}
		var l javaLine
		if n := len(bytes.TrimRight(text[from:from+stop], "\r")); n < MaxLineBytes && s.parseNames(text[from:from+n], &l) {
			s.add(&l, from, from+n)
		}
		from += stop + 1
	}
}

// add makes the line at [at, end) of cur's text a frame of the current thread.
func (s *splitter) add(l *javaLine, at, end int) {
	m := l.m
	for i := range m.parts {
		m.parts[i].start += at
		m.parts[i].end += at
	}
	t := &s.cur.Threads[len(s.cur.Threads)-1]
	f := Frame{Span: [2]int{at + l.start, end}, Kind: formats[java].kind, Managed: &m}
	if id := mapID(m.File); id != "" {
		f.Image = []string{s.intern([]byte(id))}
	}
	t.Frames = append(t.Frames, f)
	s.frames++
}

// closeJava completes cur before it is handed out.
func (s *splitter) closeJava() {
	switch {
	case len(s.pending) > 0:
		if len(s.cur.Threads) == 0 {
			s.begin(java)
		}
		s.addNames()
	case s.family == java && !s.dump && !s.options.Managed.All:
		s.nearNames(len(s.cur.Text), 0)
	}
	s.cur.managed = s.options.Managed
	nameMapping(s.cur, s.options.Artifacts)
}

// nameMapping gives managed frames that name no mapping the one that the
// nearest frame before them names, else the first that is named: an app has one.
func nameMapping(s *Report, artifacts []string) {
	var image []string
	each := func(visit func(f *Frame)) {
		for t := range s.Threads {
			for i := range s.Threads[t].Frames {
				if f := &s.Threads[t].Frames[i]; f.Managed != nil {
					visit(f)
				}
			}
		}
	}
	each(func(f *Frame) {
		if len(image) == 0 {
			image = f.Image
		}
	})
	if len(image) == 0 {
		image = artifacts
	}
	each(func(f *Frame) {
		if len(f.Image) > 0 {
			image = f.Image
		} else {
			f.Image = image
		}
	})
}
