package otlp

import (
	"cmp"
	"encoding/base64"
	"io"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/json"
)

// edit replaces [from, to) of a message.
type edit struct {
	from, to int32
	what     editKind
	set, i   int32 // of message.sets, of what the kind says
	size     int32 // of the text in its place
}

const editBytes = 24

// editKind is what an edit writes.
type editKind uint8

const (
	locationEdit editKind = iota
	functionsEdit
	stringsEdit
	payloadEdit
)

// box is a message around edits: its length changes. tag and body are where it and its text begin.
type box struct {
	tag, body, end int32
	parent         int32
	grown          int // bytes that its text is longer
}

// length returns the offset of the number that counts the bytes of the box.
func (b *box) length(in []byte) int32 {
	_, n := protowire.ConsumeVarint(in[b.tag:])
	return b.tag + int32(n)
}

// settle makes the edits that answers ask for, and returns how many bytes the message is longer with them.
func (m *message) settle() (grown int, err error) {
	for i, t := range m.sets {
		t.settle()
		for k := range t.locations {
			if l := &t.locations[k]; t.isChanged(l) {
				m.edits = append(m.edits, edit{from: l.from, to: l.end, what: locationEdit, set: int32(i), i: int32(k)})
				if err := m.take(editBytes); err != nil {
					return 0, err
				}
			}
		}
		if len(t.names.newFunctions) > 0 {
			at := t.behindTable(functionTable)
			m.edits = append(m.edits, edit{from: at, to: at, what: functionsEdit, set: int32(i)})
		}
		if len(t.names.newTexts) > 0 {
			at := t.behindTable(stringTable)
			m.edits = append(m.edits, edit{from: at, to: at, what: stringsEdit, set: int32(i)})
		}
	}
	slices.SortStableFunc(m.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var room []byte
	for i := range m.edits {
		e := &m.edits[i]
		room = m.append(room[:0], e)
		e.size = int32(len(room))
	}
	return m.grow(), nil
}

// grow computes the lengths of boxes, and returns how many bytes the message grows.
func (m *message) grow() (total int) {
	slices.SortStableFunc(m.boxes, func(a, b box) int { return cmp.Compare(a.tag, b.tag) })
	var open []int32
	next := 0
	for i := range m.edits {
		e := &m.edits[i]
		for ; next < len(m.boxes) && m.boxes[next].body <= e.from; next++ {
			b := &m.boxes[next]
			for len(open) > 0 && m.boxes[open[len(open)-1]].end <= b.tag {
				open = open[:len(open)-1]
			}
			b.parent = none
			if len(open) > 0 {
				b.parent = open[len(open)-1]
			}
			open = append(open, int32(next))
		}
		for len(open) > 0 && (m.boxes[open[len(open)-1]].end < e.to || e.from < e.to && m.boxes[open[len(open)-1]].end <= e.from) {
			open = open[:len(open)-1]
		}
		grown := int(e.size) - int(e.to-e.from)
		if len(open) > 0 {
			m.boxes[open[len(open)-1]].grown += grown
		} else {
			total += grown
		}
	}
	m.boxes = m.boxes[:next]
	for i := next - 1; i >= 0; i-- {
		b := &m.boxes[i]
		size := int(b.end - b.body)
		grown := b.grown + protowire.SizeVarint(uint64(size+b.grown)) - int(b.body-b.length(m.b))
		if b.grown == 0 {
			grown = 0
		}
		if b.parent == none {
			total += grown
		} else {
			m.boxes[b.parent].grown += grown
		}
	}
	return total
}

// write writes the message with its edits.
func (m *message) write(w io.Writer) error {
	at, next := int32(0), 0
	var room []byte
	put := func(from, to int32, text []byte) error {
		if _, err := w.Write(m.b[at:from]); err != nil {
			return err
		}
		at = to
		_, err := w.Write(text)
		return err
	}
	boxes := func(until int32) error {
		for ; next < len(m.boxes) && m.boxes[next].body <= until; next++ {
			b := &m.boxes[next]
			if b.grown == 0 {
				continue
			}
			room = protowire.AppendVarint(room[:0], uint64(int(b.end-b.body)+b.grown))
			if err := put(b.length(m.b), b.body, room); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range m.edits {
		e := &m.edits[i]
		if err := boxes(e.from); err != nil {
			return err
		}
		room = m.append(room[:0], e)
		if err := put(e.from, e.to, room); err != nil {
			return err
		}
	}
	return put(int32(len(m.b)), int32(len(m.b)), nil)
}

// append appends the text of an edit.
func (m *message) append(to []byte, e *edit) []byte {
	if e.what == payloadEdit {
		return m.appendPayload(to, m.payloads[e.i])
	}
	t := m.sets[e.set]
	switch e.what {
	case locationEdit:
		return t.appendLocation(to, &t.locations[e.i])
	case functionsEdit:
		return t.appendFunctions(to)
	}
	return t.appendStrings(to)
}

// appendPayload appends a profile of another form.
func (m *message) appendPayload(to, payload []byte) []byte {
	if m.json {
		return base64.StdEncoding.AppendEncode(to, payload)
	}
	return append(to, payload...)
}

// isChanged reports whether a location gets lines.
func (t *tables) isChanged(l *location) bool {
	if l.place != none {
		return t.places[l.place].found
	}
	return slices.ContainsFunc(t.lines[l.first:l.first+l.lines], func(ln line) bool { return ln.place != none && t.places[ln.place].found })
}

// appendLocation appends a location with its new lines.
func (t *tables) appendLocation(to []byte, l *location) []byte {
	if t.m.json {
		return t.appendObject(to, l)
	}
	var body []byte
	lines := func() {
		if l.place != none {
			body = t.appendPlace(body, l.place)
		}
		for i := l.first; i < l.first+l.lines && l.place == none; i++ {
			if ln := &t.lines[i]; ln.place != none && t.places[ln.place].found {
				body = t.appendPlace(body, ln.place)
			} else {
				body = append(body, t.m.b[ln.from:ln.end]...)
			}
		}
	}
	pending := lines
	_ = t.m.fields(kLocation, int(l.body), int(l.end), func(f *field) error { // it was read before
		if f.number >= 3 && pending != nil {
			pending()
			pending = nil
		}
		if f.name != nLines {
			body = append(body, t.m.b[f.from:f.end]...)
		}
		return nil
	})
	if pending != nil {
		pending()
	}
	_, _, n := protowire.ConsumeTag(t.m.b[l.from:l.end])
	to = append(to, t.m.b[l.from:int(l.from)+n]...)
	return protowire.AppendBytes(to, body)
}

// appendPlace appends the lines of an answer.
func (t *tables) appendPlace(to []byte, at int32) []byte {
	p := &t.places[at]
	var body []byte
	for _, ln := range t.out[p.first : p.first+p.lines] {
		body = appendNumber(body[:0], 1, uint64(t.names.functionAt[ln.function]))
		body = appendNumber(body, 2, uint64(ln.line))
		body = appendNumber(body, 3, uint64(ln.column))
		to = protowire.AppendTag(to, 3, protowire.BytesType)
		to = protowire.AppendBytes(to, body)
	}
	return to
}

// appendNumber appends a number, unless it is 0.
func appendNumber(to []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return to
	}
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), v)
}

// key returns a member's name in the message's spelling.
func (r *reader) key(camel, snake string) string {
	if r.snake {
		return snake
	}
	return camel
}

// appendObject appends a location in JSON with its new lines.
func (t *tables) appendObject(to []byte, l *location) []byte {
	key := t.m.lines
	if key == "" {
		key = "lines"
	}
	object := t.m.b[l.body:l.end]
	to = append(to, '{')
	for _, member := range json.Members(object, "line", "lines") {
		to = append(append(to, member...), ',')
	}
	to = append(append(append(to, '"'), key...), `":[`...)
	first := true
	part := func() {
		if !first {
			to = append(to, ',')
		}
		first = false
	}
	place := func(at int32) {
		p := &t.places[at]
		for _, ln := range t.out[p.first : p.first+p.lines] {
			part()
			to = append(append(append(to, `{"`...), t.m.key("functionIndex", "function_index")...), `":`...)
			to = strconv.AppendInt(to, int64(t.names.functionAt[ln.function]), 10)
			if ln.line > 0 {
				to = append(strconv.AppendUint(append(to, `,"line":"`...), uint64(ln.line), 10), '"')
			}
			if ln.column > 0 {
				to = append(strconv.AppendUint(append(to, `,"column":"`...), uint64(ln.column), 10), '"')
			}
			to = append(to, '}')
		}
	}
	if l.place != none {
		place(l.place)
	}
	for i := l.first; i < l.first+l.lines && l.place == none; i++ {
		if ln := &t.lines[i]; ln.place != none && t.places[ln.place].found {
			place(ln.place)
		} else {
			part()
			to = append(to, t.m.b[ln.from:ln.end]...)
		}
	}
	return append(to, "]}"...)
}
