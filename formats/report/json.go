package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
)

// jsonReader reads a JSON value by the dialects that read JSON.
type jsonReader []Dialect

// jsonBegins: an object, or a list of objects, lists or strings, a comment perhaps before them.
func jsonBegins(b []byte) bool {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == 0x1e) { // of every line: a library's trimming costs more
		b = b[1:]
	}
	if len(b) > 0 && b[0] == 0xef {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	if len(b) > 0 && b[0] == '[' {
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		return len(b) == 0 || bytes.IndexByte([]byte(`{["/`), b[0]) >= 0
	}
	return len(b) > 0 && b[0] == '{'
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

// hasSigns reports whether a text of several lines may hold frames.
func hasSigns(raw []byte) bool {
	return bytes.Contains(raw, []byte("0x")) || bytes.Contains(raw, []byte("at ")) || bytes.Contains(raw, []byte("#0")) ||
		bytes.Contains(raw, []byte("pc ")) || bytes.IndexByte(raw, '@') >= 0 || bytes.IndexByte(raw, '(') >= 0 || bytes.Count(raw, []byte{':'}) > 1
}

// hasPlaces reports whether an element of a list ends as frames do, or begins so. Calls in lines of source do not.
func hasPlaces(raw []byte) bool {
	for _, sign := range []string{`"at `, `\tat `, `  at `, "#0", "0x"} {
		if bytes.Contains(raw, []byte(sign)) {
			return true
		}
	}
	if bytes.HasPrefix(raw, []byte("at ")) {
		return true
	}
	for line := range bytes.SplitSeq(raw, []byte{'"'}) {
		line = bytes.TrimRight(bytes.TrimSuffix(line, []byte{')'}), "0123456789")
		if len(line) > 1 && line[len(line)-1] == ':' {
			return true
		}
	}
	return false
}

// isSource reports whether the list that begins at the end of before holds lines of source around a frame.
func isSource(before []byte) bool {
	open := bytes.LastIndexByte(before, '[')
	return open >= 0 && bytes.Contains(memberName(before[:open]), []byte("context"))
}

// memberName returns the name, as it is spelled, of the member that a string follows behind before; nil: the string is an
// element of a list.
func memberName(before []byte) []byte {
	before, ok := bytes.CutSuffix(bytes.TrimRight(before, " \t\r\n"), []byte{':'})
	if before = bytes.TrimRight(before, " \t\r\n"); !ok || !bytes.HasSuffix(before, []byte{'"'}) {
		return nil
	}
	before = before[:len(before)-1]
	for at := len(before); ; {
		if at = bytes.LastIndexByte(before[:at], '"'); at < 0 {
			return nil
		}
		if at == 0 || before[at-1] != '\\' {
			return before[at+1:]
		}
	}
}
