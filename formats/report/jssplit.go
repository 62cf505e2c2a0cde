package report

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// script takes a whole line whose first n bytes are its content; false: it is
// no frame of a script.
func (s *splitter) script(b []byte, n int) (bool, error) {
	l, ok := parseScript(b[:n])
	if !ok {
		return false, nil
	}
	switch {
	case s.frames > 0 && s.family != javascript, s.gap && s.running > 0:
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
	s.begin(javascript)
	t := &s.cur.Threads[len(s.cur.Threads)-1]
	t.Frames = append(t.Frames, l.frame(len(s.cur.Text)-len(b), s.options.Artifacts, s.intern))
	s.frames++
	s.running++
	s.gap = false
	return true, nil
}

// scriptText looks at a line of text before it is kept: what stands behind a
// stack's frames and is none of an engine's lines begins the next error.
func (s *splitter) scriptText(content []byte) error {
	if s.family != javascript || s.running == 0 || len(content) == 0 || scan.IsSpace(content[0]) {
		return nil
	}
	for _, own := range []string{"@", "[native code]", "eval code", "global code", "..."} {
		if bytes.Contains(content, []byte(own)) {
			return nil
		}
	}
	return s.next()
}

// frame turns a line that begins at at in the text into a frame.
func (l *jsLine) frame(at int, artifacts []string, intern func([]byte) string) Frame {
	f := Frame{
		Span:   [2]int{at + l.start, at + l.end},
		Kind:   symbol.SourceMap,
		Script: &Script{Function: [2]int{at + l.name[0], at + l.name[1]}, Place: [2]int{at + l.place[0], at + l.place[1]}, form: l.form, column: 1},
	}
	column := l.column
	if !l.hermes && column > 0 {
		column--
	}
	f.scriptAt(intern(l.url), l.line, column)
	f.Raw = l.line<<32 | l.column
	return f
}

// scriptAt fills what a URL, a line from 1 and a column from 0 say.
func (f *Frame) scriptAt(url string, line, column uint64) {
	f.File = scriptPath(url)
	name := f.File[strings.LastIndexAny(f.File, `/\`)+1:]
	if name != "" {
		f.Image = append(f.Image, name)
	}
	f.Script.Module = moduleOf(name)
	segment := uint32(0)
	if m := f.Script.Module; m != nil {
		segment = m.Segment
	}
	pos, ok := symbol.ScriptPosition(segment, uint32(min(line-1, symbol.MaxLine)), uint32(column))
	if !ok {
		pos = symbol.TablesEnd
	}
	f.At = symbol.Where{Space: symbol.Position, Value: pos}
}
