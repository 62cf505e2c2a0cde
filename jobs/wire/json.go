package wire

import (
	"io"

	"github.com/symlake/symlake/formats/symbol"
)

// JSON writes one object piece by piece, so that an answer of any size needs little memory, and can end it well-formed
// between any two pieces. It writes what encoding/json writes without HTML escapes. The first error stays; then nothing
// more is written.
type JSON struct {
	to    io.Writer
	open  []byte // closing brackets, the innermost last
	more  []bool // a member stands in the value already; beside open
	piece []byte
	first bool // the piece at hand begins the first member of its value
	err   error
}

// NewJSON returns a writer. Each piece is one Write to w, which takes all of it or nothing.
func NewJSON(w io.Writer) *JSON { return &JSON{to: w} }

// Err returns the first error of the writer below.
func (j *JSON) Err() error { return j.err }

// comma appends what stands before the next value.
func (j *JSON) comma(to []byte, name string) []byte {
	if n := len(j.more); n > 0 {
		if j.first = !j.more[n-1]; !j.first {
			to = append(to, ',')
		}
		j.more[n-1] = true
	}
	if name != "" {
		to = append(AppendString(to, name), ':')
	}
	return to
}

// write writes the piece at hand. A piece that was refused leaves no mark, so that Closing fits what was written.
func (j *JSON) write(to []byte) bool {
	if j.piece = to[:0]; cap(to) > mostPiece {
		j.piece = nil
	}
	if _, j.err = j.to.Write(to); j.err != nil && j.first {
		j.more[len(j.more)-1] = false
	}
	j.first = false
	return j.err == nil
}

// mostPiece is how much memory is kept from one piece to the next.
const mostPiece = 256 << 10

// Begin opens an object or array, '{' or '['. name is its member's; "": it is an element.
func (j *JSON) Begin(name string, bracket byte) {
	if j.err != nil {
		return
	}
	if j.write(append(j.comma(j.piece[:0], name), bracket)) {
		j.open, j.more = append(j.open, bracket+2), append(j.more, false)
	}
}

// End closes the innermost object or array.
func (j *JSON) End() {
	if j.err != nil {
		return
	}
	n := len(j.open) - 1
	if j.write(append(j.piece[:0], j.open[n])) {
		j.open, j.more = j.open[:n], j.more[:n]
	}
}

// Value writes one value, or the rest of one: what add appends.
func (j *JSON) Value(name string, add func(to []byte) []byte) {
	if j.err == nil {
		j.write(add(j.comma(j.piece[:0], name)))
	}
}

// Members writes several members of the object at hand: what add appends, without a comma before the first.
func (j *JSON) Members(add func(to []byte) []byte) { j.Value("", add) }

// String writes a string.
func (j *JSON) String(name, s string) {
	j.Value(name, func(to []byte) []byte { return AppendString(to, s) })
}

// Closing returns what ends the value as it stands, and its line: the brackets that are open, with why as a last member
// "error" of the outermost object; between two values, an object of that alone.
func (j *JSON) Closing(why error) []byte {
	var to []byte
	if len(j.open) == 0 {
		return append(AppendString([]byte(`{"error":`), why.Error()), "}\n"...)
	}
	for i := len(j.open) - 1; i >= 0; i-- {
		if i == 0 {
			if j.more[0] {
				to = append(to, ',')
			}
			to = AppendString(append(to, `"error":`...), why.Error())
		}
		to = append(to, j.open[i])
	}
	return append(to, '\n')
}

// Text returns a writer of a string's inside: what is written to it is escaped. Close it with its end.
func (j *JSON) Text(name string) *Text {
	j.Value(name, func(to []byte) []byte { return append(to, '"') })
	if j.err == nil {
		j.open, j.more = append(j.open, '"'), append(j.more, true)
	}
	return &Text{j: j}
}

// Text is a string of JSON on its way.
type Text struct {
	j    *JSON
	rest []byte // of a character that is not whole yet
}

// textPiece is how much of a string is escaped at once.
const textPiece = 32 << 10

// Write escapes p.
func (t *Text) Write(p []byte) (int, error) {
	for at := 0; at < len(p) && t.j.err == nil; at += textPiece {
		part := p[at:min(at+textPiece, len(p))]
		if len(t.rest) > 0 {
			part = append(t.rest, part...)
			t.rest = nil
		}
		whole := wholeRunes(part)
		t.rest = append(t.rest, part[whole:]...)
		t.j.write(appendEscaped(t.j.piece[:0], part[:whole]))
	}
	if t.j.err != nil {
		return 0, t.j.err
	}
	return len(p), nil
}

// End closes the string.
func (t *Text) End() {
	if len(t.rest) > 0 && t.j.err == nil {
		t.j.write(appendEscaped(t.j.piece[:0], t.rest))
	}
	t.j.End()
}

// writeFrames writes the frames of one chain as a member or an element; context gives more members of a frame.
func writeFrames(j *JSON, name string, frames []symbol.Frame, context func(j *JSON, f *symbol.Frame)) {
	j.Begin(name, '[')
	for i := range frames {
		f := &frames[i]
		if context == nil {
			j.Value("", func(to []byte) []byte { return append(appendFrame(append(to, '{'), f), '}') })
			continue
		}
		j.Begin("", '{')
		j.Members(func(to []byte) []byte { return appendFrame(to, f) })
		context(j, f)
		j.End()
	}
	j.End()
}

// writeChains writes an answer's members frames and alternatives.
func writeChains(j *JSON, a *symbol.Answer, context func(j *JSON, f *symbol.Frame)) {
	writeFrames(j, "frames", a.Frames, context)
	if len(a.Or) > 0 {
		j.Begin("alternatives", '[')
		for _, frames := range a.Or {
			writeFrames(j, "", frames, nil)
		}
		j.End()
	}
}
