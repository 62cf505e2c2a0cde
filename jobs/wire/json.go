package wire

import (
	"io"
	"strconv"

	"github.com/symlake/symlake/formats/symbol"
)

// JSON writes one object piece by piece, so that an answer of any size needs little memory, and can end it well-formed
// between any two pieces. It writes what encoding/json writes without HTML escapes. Pieces are gathered to some KiB. The
// first error stays; then nothing more is written.
type JSON struct {
	to   io.Writer
	buf  []byte // pieces that wait
	at   state
	sent state // after the bytes written so far
	err  error
}

// state is where a value stands.
type state struct {
	open []byte // closing brackets, the innermost last
	more []bool // a member stands in the value already; beside open
}

// sendBytes are gathered before they are written. A buffer that a large piece has made larger than keepBytes is not kept.
const (
	sendBytes = 4 << 10
	keepBytes = 64 << 10
)

// NewJSON returns a writer. Each Write to w takes all it is given or nothing.
func NewJSON(w io.Writer) *JSON { return &JSON{to: w} }

// Err returns the first error of the writer below.
func (j *JSON) Err() error { return j.err }

// piece begins the next piece: it appends what stands before a value.
func (j *JSON) piece(name string) []byte {
	to := j.buf
	if n := len(j.at.more); n > 0 {
		if j.at.more[n-1] {
			to = append(to, ',')
		}
		j.at.more[n-1] = true
	}
	if name != "" {
		to = append(AppendString(to, name), ':')
	}
	return to
}

// add ends a piece.
func (j *JSON) add(to []byte) {
	if j.buf = to; len(to) >= sendBytes || len(j.at.open) == 0 {
		j.send()
	}
}

// send writes the pieces that wait. If they are refused, they are forgotten.
func (j *JSON) send() {
	if j.err != nil || len(j.buf) == 0 {
		return
	}
	if _, j.err = j.to.Write(j.buf); j.err == nil {
		j.sent.open, j.sent.more = append(j.sent.open[:0], j.at.open...), append(j.sent.more[:0], j.at.more...)
	}
	if j.buf = j.buf[:0]; cap(j.buf) > keepBytes {
		j.buf = nil
	}
}

// Begin opens an object or array, '{' or '['. name is its member's; "": it is an element.
func (j *JSON) Begin(name string, bracket byte) {
	if j.err == nil {
		j.buf = append(j.piece(name), bracket)
		j.at.open, j.at.more = append(j.at.open, bracket+2), append(j.at.more, false)
	}
}

// End closes the innermost object or array.
func (j *JSON) End() {
	if j.err == nil {
		n := len(j.at.open) - 1
		to := append(j.buf, j.at.open[n])
		j.at.open, j.at.more = j.at.open[:n], j.at.more[:n]
		j.add(to)
	}
}

// Value writes one value, or the rest of one: what add appends.
func (j *JSON) Value(name string, add func(to []byte) []byte) {
	if j.err == nil {
		j.add(add(j.piece(name)))
	}
}

// Members writes several members of the object at hand: what add appends, without a comma before the first.
func (j *JSON) Members(add func(to []byte) []byte) { j.Value("", add) }

// String writes a string.
func (j *JSON) String(name, s string) {
	if j.err == nil {
		j.add(AppendString(j.piece(name), s))
	}
}

// Closing writes what waits, and returns what ends the value as it then stands, and its line: the brackets that are open,
// with why as a last member "error" of the outermost object; between two values, an object of that alone.
func (j *JSON) Closing(why error) []byte {
	j.send()
	at := &j.sent
	if len(at.open) == 0 {
		return append(AppendString([]byte(`{"error":`), why.Error()), "}\n"...)
	}
	var to []byte
	for i := len(at.open) - 1; i >= 0; i-- {
		if i == 0 {
			if at.more[0] {
				to = append(to, ',')
			}
			to = AppendString(append(to, `"error":`...), why.Error())
		}
		to = append(to, at.open[i])
	}
	return append(to, '\n')
}

// Text returns a writer of a string's inside, which escapes the text. End closes the string.
func (j *JSON) Text(name string) *Text {
	if j.err == nil {
		j.buf = append(j.piece(name), '"')
		j.at.open, j.at.more = append(j.at.open, '"'), append(j.at.more, true)
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
		t.j.add(appendEscaped(t.j.buf, part[:whole]))
	}
	if t.j.err != nil {
		return 0, t.j.err
	}
	return len(p), nil
}

// End closes the string.
func (t *Text) End() {
	if len(t.rest) > 0 && t.j.err == nil {
		t.j.buf = appendEscaped(t.j.buf, t.rest)
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

// appendFrame appends the members of a frame.
func appendFrame(to []byte, f *symbol.Frame) []byte {
	to = append(to, `"function":`...)
	to = AppendString(to, f.Readable())
	to = append(to, `,"linkage":`...)
	to = AppendString(to, f.Linkage)
	to = append(to, `,"file":`...)
	to = AppendString(to, f.File)
	to = append(to, `,"line":`...)
	to = strconv.AppendUint(to, uint64(f.Line), 10)
	to = append(to, `,"column":`...)
	to = strconv.AppendUint(to, uint64(f.Column), 10)
	if f.Name != "" {
		to = append(to, `,"name":`...)
		to = AppendString(to, f.Name)
	}
	if f.Ignored {
		to = append(to, `,"ignored":true`...)
	}
	if f.Compiled != "" {
		to = append(to, `,"compiled_function":`...)
		to = AppendString(to, f.Compiled)
	}
	return to
}
