package pprof

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
)

// maxMessage bounds the fields of a profile that are read. Longer ones are copied.
const maxMessage = 16 << 20

// reader reads the fields of a Profile one after the other.
type reader struct {
	from   *bufio.Reader
	closer io.Closer
	raw    []byte // of the field at hand, with its tag; of a broken one, what there is of it
	header int    // bytes of raw before the value
	number uint32
	kind   uint8
	value  uint64 // of a varint
	rest   int64  // bytes of the field behind raw, which is too long
	at     int64  // of the field in the profile
	next   int64
	pass   uint32 // messages of this field are passed over without their values; 0: none
	fault  string // why reading ended before the end; "": it did not
}

// section is a part of an input that holds one profile.
type section struct {
	*profile.Input
	from, to int64 // its bytes; to < 0: up to the end
}

// newReader begins to read a profile. The caller closes it.
func newReader(s section) (*reader, error) {
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, s.from); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, r.Close())
	}
	bytes := io.Reader(r)
	if s.to >= 0 {
		bytes = io.LimitReader(r, s.to-s.from)
	}
	from := buffers.Get().(*bufio.Reader)
	from.Reset(bytes)
	return &reader{from: from, closer: r, at: s.from, next: s.from}, nil
}

// buffers are of readers that are closed.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 128<<10) }}

func (r *reader) close() error {
	r.from.Reset(nil)
	buffers.Put(r.from)
	return r.closer.Close()
}

// field reads the next field. It returns false at the end, which fault explains. The error is of the input.
func (r *reader) field() (bool, error) {
	if r.rest > 0 {
		n, err := r.from.Discard(int(r.rest))
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if int64(n) < r.rest {
			r.raw, r.at = r.raw[:0], r.next
			r.fault = faultCut
			return false, nil
		}
		r.rest = 0
	}
	r.raw, r.at = r.raw[:0], r.next
	head, err := r.from.Peek(2 * binary.MaxVarintLen64)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	tag, n := protobuf.Uvarint(head)
	number, kind := uint32(tag>>3), uint8(tag&7)
	if n <= 0 || tag>>3 < 1 || tag>>3 > protobuf.MaxNumber {
		return r.broken(head, err)
	}
	length := uint64(0)
	switch kind {
	case protobuf.Varint:
		v, m := protobuf.Uvarint(head[n:])
		if m <= 0 {
			return r.broken(head, err)
		}
		r.value, n = v, n+m
	case protobuf.Bytes:
		v, m := protobuf.Uvarint(head[n:])
		if m <= 0 {
			return r.broken(head, err)
		}
		length, n = v, n+m
	case protobuf.Fixed32:
		length = 4
	case protobuf.Fixed64:
		length = 8
	default:
		return r.broken(head, err)
	}
	r.number, r.kind, r.header = number, kind, n
	r.raw = append(r.raw, head[:n]...)
	_, _ = r.from.Discard(n) // it was peeked at
	r.next += int64(n)
	if length > maxMessage {
		if length > 1<<62 {
			r.fault = faultCut
			return false, nil
		}
		r.rest = int64(length)
		r.next += r.rest
		return true, nil
	}
	r.next += int64(length)
	if number == r.pass && kind == protobuf.Bytes {
		return r.skip(int(length))
	}
	return r.body(int(length))
}

// skip passes the value of a field over.
func (r *reader) skip(length int) (bool, error) {
	_, err := r.from.Discard(length)
	if err == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err == nil, err
	}
	r.fault = faultCut
	return false, nil
}

// The reasons why a profile ends early.
const (
	faultCut    = "the profile is cut off inside a field"
	faultBroken = "the profile holds bytes that are no field"
)

// broken ends the reading at bytes that are no field.
func (r *reader) broken(head []byte, err error) (bool, error) {
	if err != nil && !errors.Is(err, io.EOF) && len(head) < 2*binary.MaxVarintLen64 && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	r.fault = faultBroken
	if len(head) < 2*binary.MaxVarintLen64 {
		r.fault = faultCut
	}
	return false, nil
}

// body reads the value of a field, in steps: a length alone allocates little.
func (r *reader) body(length int) (bool, error) {
	for length > 0 {
		step := min(length, 64<<10)
		at := len(r.raw)
		if cap(r.raw)-at < step {
			r.raw = append(r.raw, make([]byte, step)...)
		} else {
			r.raw = r.raw[:at+step]
		}
		n, err := io.ReadFull(r.from, r.raw[at:])
		r.raw = r.raw[:at+n]
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
			r.fault = faultCut
			return false, nil
		}
		length -= step
	}
	return true, nil
}

// bytes returns the value of a field with a length. It is valid until the next field.
func (r *reader) bytes() []byte { return r.raw[r.header:] }

// message reports whether the field is a message that was read whole.
func (r *reader) message(number uint32) bool {
	return r.number == number && r.kind == protobuf.Bytes && r.rest == 0
}
