// Package carriage cuts an input into messages of OpenTelemetry: alone, behind a length, in frames of gRPC, or objects of JSON.
package carriage

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/json"
)

// Carriage is how messages stand in a file.
type Carriage uint8

// The carriages.
const (
	Alone     Carriage = iota // one message of protobuf
	Delimited                 // a varint before each
	BigEndian                 // four bytes before each, as the collector's file exporter writes them
	Framed                    // a byte of zero and four bytes before each, as gRPC sends them
	Objects                   // objects of JSON, one behind the other
)

// MostBytes is the length of the longest message that is looked at.
const MostBytes = 1<<31 - 1

// Of returns the carriage of an input that head begins; ok is false if there is none.
func Of(head []byte) (c Carriage, ok bool) {
	if isObject(head) {
		return Objects, true
	}
	if isMessage(head, MostBytes) {
		return Alone, true
	}
	for c := Delimited; c <= Framed; c++ {
		if size, n, ok := c.length(head); ok && size > 0 && n < len(head) && isMessage(head[n:], size) {
			return c, true
		}
	}
	return Alone, false
}

// length returns the length of the message that head begins with, and the number of bytes before it.
func (c Carriage) length(head []byte) (size, before int, ok bool) {
	v := uint64(0)
	switch {
	case c == Delimited:
		if v, before = binary.Uvarint(head); before <= 0 {
			return 0, 0, false
		}
	case c == Framed && len(head) > 4 && head[0] == 0:
		v, before = uint64(binary.BigEndian.Uint32(head[1:])), 5
	case c == BigEndian && len(head) >= 4:
		v, before = uint64(binary.BigEndian.Uint32(head)), 4
	default:
		return 0, 0, false
	}
	return int(v), before, v <= MostBytes
}

// AppendLength appends the bytes before a message.
func (c Carriage) AppendLength(to []byte, size int) []byte {
	switch c {
	case Delimited:
		return protowire.AppendVarint(to, uint64(size))
	case Framed:
		return binary.BigEndian.AppendUint32(append(to, 0), uint32(size))
	case BigEndian:
		return binary.BigEndian.AppendUint32(to, uint32(size))
	}
	return to
}

// Part is a message of an input, or bytes that are none.
type Part struct {
	Bytes  []byte // valid until the next part is read
	Length []byte // of a message that can be read: the bytes before it, as they came
	At     int64  // where the message begins
	Why    string // why the bytes are no message that can be read; "": they are one
	Blank  bool   // they stand between messages
}

// Reasons of bytes that are no message.
const (
	whyLarge  = "a message is larger than the memory that is allowed for it"
	whyCut    = "the input ends in the middle of a message"
	whyLength = "no message stands where the length of the one before says"
)

// Messages reads the parts of an input.
type Messages struct {
	In   *bufio.Reader
	C    Carriage
	Most int // bytes of a message that is read

	at    int64
	buf   []byte
	scan  json.Scan
	large int64  // bytes that are left of a message above most
	over  bool   // the object at hand is above most
	held  []byte // the beginning of an escape at the end of its last piece
	rest  string // why the rest of the input is no message
}

// Next returns the next part; io.EOF: there is none. Bytes of a part that is too long come in pieces, the reason with
// the first.
func (m *Messages) Next() (p Part, err error) {
	switch {
	case m.rest != "":
		return m.piece(MostBytes)
	case m.large > 0:
		p, err = m.piece(m.large)
		m.large -= int64(len(p.Bytes))
		return p, err
	case m.C == Objects:
		return m.object()
	case m.C == Alone:
		return m.whole(MostBytes)
	}
	head, err := m.In.Peek(binary.MaxVarintLen64)
	if len(head) == 0 {
		return p, err
	}
	size, before, ok := m.C.length(head)
	if !ok {
		m.rest = whyLength
		p, err = m.piece(MostBytes)
		p.Why = whyLength
		return p, err
	}
	if size > m.Most {
		m.large = int64(size + before)
		p, err = m.piece(m.large)
		m.large -= int64(len(p.Bytes))
		p.Why = whyLarge
		return p, err
	}
	length := slices.Clone(head[:before])
	_, _ = m.In.Discard(before) // they were seen
	m.at += int64(before)
	p, err = m.whole(size)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, err
	}
	if len(p.Bytes) < size {
		p.Bytes = append(length, p.Bytes...)
		p.Why = whyCut
		return p, nil
	}
	p.Length = length
	return p, nil
}

// whole reads a message of so many bytes, or up to the end.
func (m *Messages) whole(size int) (p Part, err error) {
	p.At = m.at
	m.buf = m.buf[:0]
	for len(m.buf) < size {
		piece, err := m.peek()
		if err != nil {
			return p, err
		}
		if len(piece) == 0 {
			break
		}
		piece = piece[:min(len(piece), size-len(m.buf))]
		m.take(piece)
		if len(m.buf) > m.Most {
			m.rest, p.Why = whyLarge, whyLarge
			break
		}
	}
	if p.Bytes = m.buf; len(m.buf) == 0 && size > 0 {
		return p, io.EOF
	}
	return p, nil
}

// peek returns bytes that are at hand; none: the input ends.
func (m *Messages) peek() ([]byte, error) {
	if _, err := m.In.Peek(1); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil
		}
		return nil, err
	}
	return m.In.Peek(m.In.Buffered())
}

// take moves bytes that were peeked to the buffer.
func (m *Messages) take(piece []byte) {
	m.buf = append(m.buf, piece...)
	m.at += int64(len(piece))
	_, _ = m.In.Discard(len(piece))
}

// piece returns up to so many bytes that are no message.
func (m *Messages) piece(most int64) (p Part, err error) {
	piece, err := m.peek()
	if err == nil && len(piece) == 0 {
		err = io.EOF
	}
	if err != nil {
		return p, err
	}
	p.At, p.Blank = m.at, true
	m.buf = m.buf[:0]
	m.take(piece[:min(int64(len(piece)), most)])
	p.Bytes = m.buf
	return p, nil
}

// object reads an object of JSON, or the blanks before it.
func (m *Messages) object() (p Part, err error) {
	piece, err := m.peek()
	if err == nil && len(piece) == 0 {
		err = io.EOF
	}
	if err != nil {
		return p, err
	}
	m.buf = m.buf[:0]
	p.At = m.at
	if blank := json.SkipBlank(piece, 0); blank > 0 && !m.over {
		m.take(piece[:blank])
		p.Bytes, p.Blank = m.buf, true
		return p, nil
	}
	p.Blank = m.over
	if m.over {
		m.buf = append(m.buf, m.held...)
	} else {
		m.scan = json.Scan{}
	}
	for len(piece) > 0 {
		had := len(m.buf)
		m.buf = append(m.buf, piece...)
		n, whole, ok := m.scan.Value(m.buf)
		if !ok {
			m.buf = m.buf[:had]
			m.take(piece)
			m.rest, p.Bytes, p.Why = whyLength, m.buf, whyLength
			return p, nil
		}
		if whole {
			m.buf = m.buf[:had]
			m.take(piece[:n-had])
			m.over, p.Bytes = false, m.buf
			return p, nil
		}
		m.buf = m.buf[:had]
		m.take(piece)
		if m.over || len(m.buf) > m.Most {
			if !m.over {
				p.Why = whyLarge
			}
			m.held = append(m.held[:0], m.buf[m.scan.At:]...)
			m.over, p.Bytes = true, m.buf[:m.scan.At]
			m.scan.At = 0
			return p, nil
		}
		if piece, err = m.peek(); err != nil {
			return p, err
		}
	}
	p.Bytes, p.Why = m.buf, whyCut
	if m.over {
		p.Why = ""
	}
	return p, nil
}
