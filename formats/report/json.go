package report

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/symlake/symlake/formats/internal/scan"
)

// jsonReport reads reports that are one JSON value, on one line or on many.
var jsonReport = document{begins: jsonBegins, follow: followJSON, read: readJSON}

// jsonReader makes a stack of a value; nil for what it does not know.
type jsonReader func(text []byte, o Options) *Report

// jsonReports know the reports that are an object each, by a member that those have.
var jsonReports = map[string]jsonReader{"usedImages": readAppleJSON, "binary_images": readBinaryImages, "modules": readStackwalk, "faultAddress": readSwiftJSON}

// jsonReaders look for their frames at any depth of a value.
var jsonReaders = [...]jsonReader{readMetricKit, readBugsnag, readSentry, readScriptJSON}

// jsonBegins: an object, or a list of them.
func jsonBegins(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	if len(b) > 0 && b[0] == '[' {
		b = bytes.TrimLeft(b[1:], " \t\r\n")
		return len(b) == 0 || b[0] == '{'
	}
	return len(b) > 0 && b[0] == '{'
}

// followJSON hears a value to its closing bracket. What can be no JSON ends
// it at once, so that text which happens to begin with a bracket is not kept; so does an
// object where none can stand, which is the next value behind one that was cut.
func followJSON() follower {
	depth, quoted, escaped := 0, false, false
	var last byte // that was no space
	return func(b []byte) extent {
		for i, c := range b {
			switch {
			case escaped:
				escaped = false
			case quoted && c == '\\':
				escaped = true
			case c == '"':
				quoted = !quoted
			case quoted:
				if c == '\n' { // it was cut
					return endsHere
				}
			case (c == '{' || c == '[') && depth > 0 && bytes.IndexByte([]byte("{[,:"), last) < 0:
				return endedBefore
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth--; depth == 0 && len(bytes.TrimSpace(b[i+1:])) > 0 {
					return endedBefore
				}
			case bytes.IndexByte([]byte(" \t\r\n:,0123456789+-.eEtrufalsn"), c) < 0:
				return endedBefore
			}
			if !scan.IsSpace(c) && c != '\r' && c != '\n' {
				last = c
			}
		}
		if depth <= 0 {
			return endsHere
		}
		return goesOn
	}
}

func readJSON(text []byte, o Options) *Report {
	w := &jsonEnvelope{jsonText: jsonText{b: text}, o: o}
	for key := range jsonReports {
		if bytes.Contains(text, []byte(`"`+key+`"`)) {
			w.value(0)
			break
		}
	}
	if w.found != nil {
		w.found.Text = text
		return w.found
	}
	for _, read := range jsonReaders {
		if s := read(text, o); s != nil {
			return s
		}
	}
	return nil
}

// jsonEnvelope finds the reports in a value: itself, or those that a list or an envelope holds.
type jsonEnvelope struct {
	jsonText
	o     Options
	found *Report
}

// value looks for reports in the value at hand, and says whether there are any. An object in which
// there are is none itself: nothing is read more than twice.
func (w *jsonEnvelope) value(depth int) (within bool) {
	switch c := w.peek(); {
	case depth > maxJSONDepth:
		w.skip()
	case c == '[':
		w.array(func(int) { within = w.value(depth+1) || within })
	case c == '{':
		from := w.p
		var read jsonReader
		w.object(func(key string) {
			if known := jsonReports[key]; known != nil {
				read = known
			}
			within = w.value(depth+1) || within
		})
		if read != nil && !within {
			within = w.add(read(w.b[from:w.p], w.o), from)
		}
	default:
		w.skip()
	}
	return within
}

// add takes a report that begins at from; those of other formats than the first remain text.
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
	case w.found.Format == s.Format:
		w.found.Threads = append(w.found.Threads, s.Threads...)
	}
	return true
}

// jsonText walks JSON without building anything: what is of interest in a
// report is a small part of it, and where that stands matters. After a fault
// bad is set and everything yields nothing.
type jsonText struct {
	b   []byte
	p   int
	bad bool
}

// peek is the first byte of the value at hand, 0 at the end.
func (j *jsonText) peek() byte {
	for j.p < len(j.b) {
		switch c := j.b[j.p]; c {
		case ' ', '\t', '\r', '\n':
			j.p++
		default:
			return c
		}
	}
	return 0
}

func (j *jsonText) take(c byte) bool {
	if j.bad || j.peek() != c {
		j.bad = true
		return false
	}
	j.p++
	return true
}

// object visits the members of the object at hand; what visit does not consume
// is skipped. Any other value is skipped.
func (j *jsonText) object(visit func(key string)) {
	j.composite('{', '}', func() {
		key := j.text()
		if j.take(':') {
			j.visit(func() { visit(key) })
		}
	})
}

// array visits the elements of the array at hand.
func (j *jsonText) array(visit func(i int)) {
	i := -1
	j.composite('[', ']', func() {
		i++
		j.visit(func() { visit(i) })
	})
}

func (j *jsonText) composite(open, end byte, each func()) {
	if j.peek() != open {
		j.skip()
		return
	}
	j.p++
	for first := true; !j.bad; first = false {
		if j.peek() == end {
			j.p++
			return
		}
		if !first && !j.take(',') {
			return
		}
		each()
	}
}

// visit calls f for the value at hand, and skips it if f did not consume it.
func (j *jsonText) visit(f func()) {
	j.peek()
	if at := j.p; !j.bad {
		if f(); j.p == at {
			j.skip()
		}
	}
}

// skip passes the value at hand.
func (j *jsonText) skip() {
	depth := 0
	for !j.bad {
		switch c := j.peek(); c {
		case 0:
			j.bad = true
		case '"':
			j.raw()
		case '{', '[':
			depth++
			j.p++
		case '}', ']':
			if depth--; depth < 0 {
				j.bad = true
				return
			}
			j.p++
		case ',', ':':
			if depth == 0 {
				j.bad = true
				return
			}
			j.p++
			continue
		default:
			j.word()
		}
		if depth == 0 {
			return
		}
	}
}

// broken reports whether the text is no JSON. What is cut is read as far as it goes.
func (j *jsonText) broken() bool { return j.bad && j.p < len(j.b) }

// word passes a number, true, false or null.
func (j *jsonText) word() []byte {
	from := j.p
	for j.p < len(j.b) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), j.b[j.p]) < 0 {
		j.p++
	}
	if j.p == from {
		j.bad = true
	}
	return j.b[from:j.p]
}

// raw passes a string and gives it with its quotes.
func (j *jsonText) raw() []byte {
	from := j.p
	for j.p++; j.p < len(j.b); j.p++ {
		switch j.b[j.p] {
		case '\\':
			j.p++
		case '"':
			j.p++
			return j.b[from:j.p]
		}
	}
	j.p = len(j.b)
	j.bad = true
	return nil
}

// text is the string at hand; "" for any other value.
func (j *jsonText) text() string {
	if j.peek() != '"' {
		j.skip()
		return ""
	}
	raw := j.raw()
	if j.bad {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		j.bad = true
	}
	return s
}

// number is the number at hand, or the one that a string spells, 0x… too.
func (j *jsonText) number() uint64 {
	var s string
	switch j.peek() {
	case '"':
		s = j.text()
	case '{', '[':
		j.skip()
		return 0
	default:
		s = string(j.word())
	}
	if v, err := strconv.ParseUint(s, 0, 64); err == nil {
		return v
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return uint64(v)
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v < 1<<63 {
		return uint64(v)
	}
	return 0
}

// isTrue reports whether the value at hand is true.
func (j *jsonText) isTrue() bool {
	if c := j.peek(); c != 't' {
		j.skip()
		return false
	}
	return string(j.word()) == "true"
}
