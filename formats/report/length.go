package report

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
)

// Length is a number that says how many bytes stand behind it.
type Length struct {
	Span [2]int // of the number
	End  int    // of the bytes
	From int    // of the bytes; 0: they stand behind the number
	Kind LengthKind
}

// LengthKind is how a number is written.
type LengthKind uint8

// The kinds of numbers.
const (
	Varint    LengthKind = iota // of protobuf
	BigEndian                   // of four bytes
	Decimal                     // in digits
)

// changed returns the number of the bytes and more of them.
func (l *Length) changed(more int) []byte {
	return l.Kind.append(nil, l.End-max(l.From, l.Span[1])+more)
}

// append appends a number.
func (k LengthKind) append(to []byte, n int) []byte {
	switch k {
	case BigEndian:
		return binary.BigEndian.AppendUint32(to, uint32(n))
	case Decimal:
		return appendDecimal(to, n)
	}
	return binary.AppendUvarint(to, uint64(n))
}

// appendDecimal appends a number in digits.
func appendDecimal(to []byte, n int) []byte {
	if n >= 10 {
		to = appendDecimal(to, n/10)
	}
	return append(to, byte('0'+n%10))
}

// item is an item of an envelope, as Sentry's libraries send them: a line of JSON, the payload's header, and so many
// bytes as the header says. Payloads may be files that are no text.
type item struct {
	header []byte
	length Length // in the header
	bytes  int64
}

// mostHeader is the length of the longest header of an item.
const mostHeader = 4 << 10

// itemOf returns the item with a header; nil: the text is none.
func itemOf(text []byte) *item {
	if len(text) > mostHeader || !bytes.HasSuffix(text, []byte{'\n'}) || !bytes.Contains(text, []byte(`"length"`)) {
		return nil
	}
	i := &item{header: text, length: Length{Kind: Decimal, From: len(text)}, bytes: -1}
	typed := false
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		switch key {
		case "type":
			typed = j.Text() != ""
		case "length":
			at := j.Pos
			j.Skip()
			if n, err := strconv.ParseInt(string(text[at:j.Pos]), 10, 64); err == nil {
				i.bytes, i.length.Span = n, [2]int{at, j.Pos}
			}
		}
	})
	if !typed || i.bytes < 0 || j.Failed {
		return nil
	}
	return i
}
