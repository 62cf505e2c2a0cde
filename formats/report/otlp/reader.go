package otlp

import (
	"bytes"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/report"
)

const (
	// mostDepth of messages are read: values may hold values.
	mostDepth = 64
	// leastText is the length of the shortest text that may have a frame.
	leastText = 12
	// mostTexts of a record are looked at.
	mostTexts = 1 << 16
)

// reader checks a message strictly, and finds its texts.
type reader struct {
	b       []byte
	cut     bool            // b is the beginning of the message
	found   *report.Parts   // nil: texts are not wanted
	lengths []report.Length // around the bytes at hand
	strings int             // that were read and are no blanks

	key, value [2]int          // of the attribute at hand: strings
	valueIn    []report.Length // around value
	class      [2]int          // the value of exception.type
	classIn    []report.Length
	stack      int // the place of exception.stacktrace's value in found, from 1
}

// message reads the message m, which has the bytes from from to to. It returns false if it is none.
func (r *reader) message(m field, from, to, depth int) bool {
	if depth > mostDepth {
		return false
	}
	switch {
	case m == keyValue:
		key, value := r.key, r.value
		r.key, r.value = [2]int{}, [2]int{}
		defer func() { r.key, r.value = key, value }()
	case hasPairs(m):
		class, stack := r.class, r.stack
		r.class, r.stack = [2]int{}, 0
		defer func() { r.class, r.stack = class, stack }()
	}
	for at := from; at < to; {
		if at >= len(r.b) {
			return r.cut
		}
		b := r.b[at:min(to, len(r.b))]
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return r.ends(to)
		}
		f := fieldOf(m, n)
		switch {
		case kind == protowire.StartGroupType, kind == protowire.EndGroupType, f == unknown && r.cut, f != unknown && f.wire() != kind:
			return false
		case kind == protowire.BytesType:
			if at = r.bytes(f, at+size, to, depth); at < 0 {
				return false
			}
			continue
		}
		value := protowire.ConsumeFieldValue(n, kind, b[size:])
		if value < 0 {
			return r.ends(to)
		}
		at += size + value
	}
	if m == keyValue {
		r.attribute()
	} else if hasPairs(m) {
		r.link()
	}
	return true
}

// ends reports whether the bytes at hand end before to, as they may.
func (r *reader) ends(to int) bool { return r.cut && to > len(r.b) }

// bytes reads a field of bytes at an offset, and returns where it ends; -1: it is no such field.
func (r *reader) bytes(f field, at, to, depth int) int {
	size, n := protowire.ConsumeVarint(r.b[at:min(to, len(r.b))])
	if n < 0 {
		if r.ends(to) {
			return to
		}
		return -1
	}
	from := at + n
	if from > to || size > uint64(to-from) {
		return -1
	}
	end := from + int(size)
	r.lengths = append(r.lengths, report.Length{Span: [2]int{at, from}, End: end})
	ok := f.takes(int(size))
	switch {
	case f >= anyValue:
		ok = r.message(f, from, end, depth+1)
	case f == text:
		ok = r.text([2]int{from, end})
	}
	r.lengths = r.lengths[:len(r.lengths)-1]
	if !ok {
		return -1
	}
	return end
}

// text reads a string. It returns false if it is none.
func (r *reader) text(at [2]int) bool {
	b := r.b[min(at[0], len(r.b)):min(at[1], len(r.b))]
	if !utf8.Valid(b) && len(b) == at[1]-at[0] || bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	if len(b) > 0 && b[0] > ' ' {
		r.strings++
	}
	if r.found == nil {
		return true
	}
	if r.key == ([2]int{}) {
		r.key = at
	} else {
		r.value, r.valueIn = at, append(r.valueIn[:0], r.lengths...)
	}
	if len(b) < leastText || len(r.found.Texts) >= mostTexts || !bytes.Contains(b, []byte{'\n'}) && !bytes.Contains(b, []byte("at ")) && !bytes.Contains(b, []byte("0x")) {
		return true
	}
	r.found.Texts = append(r.found.Texts, report.Part{Span: at})
	r.found.Lengths = append(r.found.Lengths, r.lengths...)
	return true
}

// attribute takes the attribute that has just been read.
func (r *reader) attribute() {
	if r.found == nil || r.value[1] == 0 {
		return
	}
	switch string(r.b[r.key[0]:r.key[1]]) {
	case "exception.type":
		r.class, r.classIn = r.value, append(r.classIn[:0], r.valueIn...)
	case "exception.stacktrace":
		if n := len(r.found.Texts); n > 0 && r.found.Texts[n-1].Span == r.value {
			r.stack = n
		}
	}
}

// link notes the class that stands beside a stack.
func (r *reader) link() {
	if r.found == nil || r.stack == 0 || r.class[0] == r.class[1] {
		return
	}
	r.found.Texts[r.stack-1].Class = r.class
	r.found.Lengths = append(r.found.Lengths, r.classIn...)
}
