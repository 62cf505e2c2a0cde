package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report/internal/input"
)

// jsonReader reads a JSON value by the dialects that read JSON.
type jsonReader []Dialect

// jsonBegins: an object, or a list of objects, lists or strings, a comment perhaps before them.
func jsonBegins(b []byte) bool {
	b = bytes.TrimPrefix(bytes.TrimLeft(b, " \t\x1e"), []byte("\ufeff"))
	if len(b) > 0 && b[0] == '[' {
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		return len(b) == 0 || bytes.IndexByte([]byte(`{["/`), b[0]) >= 0
	}
	return len(b) > 0 && b[0] == '{'
}

// inJSON gives a line, or a part of one, to the JSON value that is being collected, or that begins with it. same is b
// as it is to be read: marks of quoting are spaces. It returns how much of b it took: behind it another line begins.
func (s *splitter) inJSON(b, same []byte, begins, ends bool) (n int, err error) {
	first := s.json == nil
	if first && (!begins || s.barred > 0 || s.document != nil || !jsonBegins(same)) {
		return 0, nil
	}
	if len(same) != len(b) { // in JSON every space is a letter
		same = scan.Unmarked(b, scan.LineMarks)
	}
	if first {
		s.json = &json.Stream{Most: s.options.documentBytes(), Value: s.jsonPart, Long: s.jsonLong,
			Text: func(b []byte) error { return s.text(b, b, len(b)) }}
	}
	n, extent, err := s.json.Feed(b, same)
	switch {
	case err != nil || extent == json.GoesOn:
		return n, err
	case extent == json.NoPart && first && n == 0: // it is other text
		s.json = nil
		return 0, nil
	case extent == json.Whole && !s.json.Apart():
		rest := bytes.TrimLeft(same[n:], " \t\r\n,")
		if len(rest) == 0 {
			s.json.Append(b[n:])
			n = len(b)
		} else if !jsonBegins(rest) {
			return len(b), s.jsonInLine(b[n:], ends)
		} else {
			s.json.Append(b[n : len(b)-len(rest)])
			n = len(b) - len(rest)
		}
	}
	return n, s.endJSON()
}

// endJSON hands out the JSON value that was collected.
func (s *splitter) endJSON() error {
	stream := s.json
	s.json = nil
	if stream.Apart() {
		return stream.Close()
	}
	text := stream.Held()
	if done, err := s.readJSON(text); done || err != nil {
		return err
	}
	s.kind = 0
	return s.again(text)
}

// jsonInLine hands out the JSON value that was collected, and the rest of its line.
func (s *splitter) jsonInLine(rest []byte, ends bool) error {
	text := s.json.Held()
	s.json, s.kind = nil, 0
	rest = bytes.Clone(rest)
	if done, err := s.readJSON(text); err != nil {
		return err
	} else if done {
		return s.piece(rest, input.Plain(rest), true, ends)
	}
	return s.again(append(text, rest...))
}

// readJSON hands out the report of a JSON value; false: there is none.
func (s *splitter) readJSON(text []byte) (done bool, err error) {
	if !s.options.Takes(documentRoom(text)) {
		return false, s.options.full()
	}
	return s.handOut(s.values.read(scan.Unmarked(text, scan.LineMarks), s.options), text)
}

// jsonPart takes a value out of a value that is too long.
func (s *splitter) jsonPart(v []byte) error {
	if done, err := s.readJSON(v); done || err != nil {
		return err
	}
	return s.text(v, v, len(v))
}

// jsonLong notes a part of a value that is too long to be read.
func (s *splitter) jsonLong(path string) {
	s.unread = AddUnread(s.unread, Unread{Why: WhyPart, Path: path})
}

// read makes a report of a value: of the objects in it that a dialect knows, else of what a
// dialect finds at any depth.
func (dialects jsonReader) read(text []byte, o Options) *Report {
	w := &jsonEnvelope{Walker: json.Walker{Bytes: text}, dialects: dialects, o: o}
	if w.mayHold(text) {
		w.value(0)
	}
	if w.found != nil {
		w.found.Text = text
		return w.found
	}
	var unread *Report
	for i := range dialects {
		for _, read := range dialects[i].Values {
			r := read(text, o)
			if r != nil && len(r.Threads) > 0 {
				return r
			}
			if r != nil && unread == nil {
				unread = r
			}
		}
	}
	return unread
}

// jsonEnvelope finds the reports in a value: itself, or objects that a list or an envelope holds.
type jsonEnvelope struct {
	json.Walker
	dialects []Dialect
	o        Options
	found    *Report
}

// mayHold reports whether a member that a dialect knows stands in the text.
func (w *jsonEnvelope) mayHold(text []byte) bool {
	for i := range w.dialects {
		for _, o := range w.dialects[i].Objects {
			if bytes.Contains(text, []byte(`"`+o.Member+`"`)) {
				return true
			}
		}
	}
	return false
}

// knows reports whether objects with a member are reports of some dialect.
func (w *jsonEnvelope) knows(member string) bool {
	for i := range w.dialects {
		for k := range w.dialects[i].Objects {
			if w.dialects[i].Objects[k].Member == member {
				return true
			}
		}
	}
	return false
}

// read makes a report of an object with a member; dialects that share the member are tried in order.
func (w *jsonEnvelope) read(member string, object []byte) *Report {
	for i := range w.dialects {
		for _, o := range w.dialects[i].Objects {
			if o.Member != member {
				continue
			}
			if r := o.Read(object, w.o); r != nil {
				return r
			}
		}
	}
	return nil
}

// value looks for reports in the value at hand, and says whether there are any. An object in which
// there are is none itself: nothing is read more than twice.
func (w *jsonEnvelope) value(depth int) (within bool) {
	switch c := w.Peek(); {
	case depth > json.MaxDepth:
		w.Skip()
	case c == '[':
		w.Array(func(int) { within = w.value(depth+1) || within })
	case c == '{':
		from := w.Pos
		member := "" // the last known one
		w.Object(func(key string) {
			if w.knows(key) {
				member = key
			}
			within = w.value(depth+1) || within
		})
		if member != "" && !within {
			within = w.add(w.read(member, w.Bytes[from:w.Pos]), from)
		}
	default:
		w.Skip()
	}
	return within
}

// add takes a report that begins at from; reports of other forms than the first remain text.
func (w *jsonEnvelope) add(s *Report, from int) bool {
	if s == nil {
		return false
	}
	for t := range s.Threads {
		for i := range s.Threads[t].Frames {
			f := &s.Threads[t].Frames[i]
			f.Span[0] += from
			f.Span[1] += from
		}
	}
	switch {
	case w.found == nil:
		w.found = s
	case w.found.Form == s.Form:
		w.found.Threads = append(w.found.Threads, s.Threads...)
	}
	return true
}
