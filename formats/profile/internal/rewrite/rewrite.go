// Package rewrite reads JSON of any size front to back, copies it, and lets its caller replace or leave out values.
//
// All that the caller does not take is copied as it came: blanks, the spelling of numbers, the order of members.
// A fault ends the reading. The rest of the input is copied, and Fault says where it is.
package rewrite

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/internal/json"
)

const (
	// windowBytes are looked at at once.
	windowBytes = 64 << 10
	// maxDepth bounds the nesting of values that a caller enters. Skip and Take pass over deeper ones.
	maxDepth = 200
	// keyBytes of a member's name are told to the caller.
	keyBytes = 256
	// byteOrder is the mark that some programs write before a text.
	byteOrder = "\ufeff"
)

// Reader reads one input. One goroutine.
type Reader struct {
	Fault string // what ended the reading early, with its offset; "": nothing did

	in    *bufio.Reader
	out   *bufio.Writer // nil: nothing is copied
	at    int64         // offset of the next byte
	held  []byte        // separators that wait for the next element
	bare  bool          // nothing was written before held in its container: it loses its comma
	wrote bool          // something was written since the last element began
	depth int
	fail  error // of reading or writing
	text  []byte
}

// New returns a reader of in that copies to out; nil: nothing is copied.
func New(in io.Reader, out *bufio.Writer) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, windowBytes), out: out}
}

// errFault ends the reading; Fault says why.
var errFault = errors.New("a fault of the input")

// Run calls read, which reads the input's values, and copies the rest of it. The error is of reading, of writing, or
// read's own. A fault is none.
func (r *Reader) Run(read func() error) error {
	err := read()
	if r.fail != nil {
		return r.fail
	}
	if err != nil && !errors.Is(err, errFault) {
		return err
	}
	r.bare = false
	r.flush()
	if r.out != nil {
		_, err := io.Copy(r.out, r.in)
		return err
	}
	return nil
}

// Offset returns the offset of the next byte.
func (r *Reader) Offset() int64 { return r.at }

// fault notes that the next byte is not the wanted one.
func (r *Reader) fault(want string) error {
	if r.fail != nil {
		return r.fail
	}
	if r.Fault == "" {
		r.Fault = fmt.Sprintf("%#x: want %s", r.at, want)
	}
	return errFault
}

// Write writes text in the place of a value that was taken.
func (r *Reader) Write(b []byte) {
	r.flush()
	if r.out != nil && r.fail == nil {
		if _, err := r.out.Write(b); err != nil {
			r.fail = err
		}
	}
}

// flush writes the separators that were held.
func (r *Reader) flush() {
	r.wrote = true
	if len(r.held) == 0 {
		return
	}
	held := r.held
	r.held = r.held[:0]
	for _, c := range held {
		if c == ',' && r.bare || r.out == nil {
			continue
		}
		if err := r.out.WriteByte(c); err != nil && r.fail == nil {
			r.fail = err
		}
	}
}

// hold passes the next n bytes, which stand between values.
func (r *Reader) hold(b []byte) {
	r.held = append(r.held, b...)
	r.pass(len(b))
}

// pass goes over n bytes.
func (r *Reader) pass(n int) {
	r.at += int64(n)
	_, _ = r.in.Discard(n) // they are in the window
}

// Peek returns the next byte that is no blank; 0 at the end.
func (r *Reader) Peek() byte {
	for {
		b, err := r.in.Peek(max(1, min(r.in.Buffered(), windowBytes)))
		if len(b) == 0 {
			if !ended(err) && r.fail == nil {
				r.fail = err
			}
			return 0
		}
		n := 0
		if r.at == 0 {
			if start, _ := r.in.Peek(len(byteOrder)); string(start) == byteOrder {
				b, n = start, len(byteOrder)
			}
		}
		for n < len(b) && (b[n] == ' ' || b[n] == '\n' || b[n] == '\r' || b[n] == '\t') {
			n++
		}
		c := byte(0)
		if n < len(b) {
			c = b[n]
		}
		if n > 0 {
			if len(r.held)+n > windowBytes { // nothing but blanks
				r.flush()
			}
			r.hold(b[:n])
		}
		if c != 0 || n < len(b) {
			return c
		}
	}
}

func ended(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// mark passes c, which is at hand, and copies it.
func (r *Reader) mark(c byte) {
	r.Write([]byte{c})
	r.pass(1)
}

// Object reads the object at hand. each gets a member's name, without escapes, and reads its value by one method of the
// Reader, or leaves it to be copied.
func (r *Reader) Object(each func(key string) error) error {
	return r.container('{', '}', func(int) error {
		if r.Peek() != '"' {
			return r.fault("a name")
		}
		key, whole, err := r.Take(keyBytes)
		if err != nil {
			return err
		}
		name := ""
		if whole {
			r.Write(key)
			name = json.String(key)
		}
		if r.Peek() != ':' {
			return r.fault("':'")
		}
		r.mark(':')
		return r.one(func() error { return each(name) })
	})
}

// Array reads the array at hand. each reads an element, or leaves it to be copied. An element that is taken goes with its
// comma, unless something is written in its place.
func (r *Reader) Array(each func(i int) error) error {
	return r.container('[', ']', func(i int) error { return r.one(func() error { return each(i) }) })
}

// one calls read for the value at hand, and copies the value if that reads nothing.
func (r *Reader) one(read func() error) error {
	if r.Peek() == 0 {
		return r.fault("a value")
	}
	at := r.at
	if err := read(); err != nil {
		return err
	}
	if r.at == at {
		return r.Skip()
	}
	return nil
}

func (r *Reader) container(open, end byte, each func(i int) error) error {
	if r.Peek() != open {
		return r.Skip()
	}
	if r.depth == maxDepth {
		return r.Skip()
	}
	r.depth++
	defer func() { r.depth-- }()
	r.mark(open)
	written := false
	for i := 0; ; i++ {
		c := r.Peek()
		if c == end {
			r.bare = false
			r.mark(c)
			return nil
		}
		if i > 0 {
			if c != ',' {
				return r.fault(fmt.Sprintf("',' or %q", end))
			}
			r.hold([]byte{','})
			if c = r.Peek(); c == 0 || c == end {
				return r.fault("a value")
			}
		}
		r.bare, r.wrote = !written, false
		if err := each(i); err != nil {
			return err
		}
		if r.wrote {
			written = true
		} else { // it was left out, and its separators go with it
			r.held = r.held[:0]
		}
		r.bare = false
	}
}

// Skip copies the value at hand.
func (r *Reader) Skip() error {
	c := r.Peek()
	if c == 0 {
		return r.fault("a value")
	}
	r.flush()
	return r.copyValue(&json.Scan{})
}

// copyValue copies the rest of a value.
func (r *Reader) copyValue(s *json.Scan) error {
	want := 1
	for {
		b, err := r.in.Peek(max(want, min(r.in.Buffered(), windowBytes)))
		n, whole, ok := s.Value(b)
		switch {
		case !ok:
			return r.fault("a value")
		case whole || len(b) < want && s.Atom():
			r.Write(b[:n])
			r.pass(n)
			return nil
		case len(b) < want:
			if !ended(err) && r.fail == nil {
				r.fail = err
			}
			r.at += int64(len(b))
			err := r.fault("the rest of a value")
			r.at -= int64(len(b))
			return err
		}
		r.Write(b[:s.At])
		r.pass(s.At)
		want = len(b) - s.At + 1
		s.At = 0
	}
}

// Take removes the value at hand, and returns it as it is written. It is valid until the next call. A value of more than
// most bytes is copied, and whole is false.
func (r *Reader) Take(most int) (value []byte, whole bool, err error) {
	if r.Peek() == 0 {
		return nil, false, r.fault("a value")
	}
	var s json.Scan
	r.text = r.text[:0]
	want := 1
	for {
		b, err := r.in.Peek(max(want, min(r.in.Buffered(), windowBytes)))
		n, whole, ok := s.Value(b)
		switch {
		case !ok && len(r.text) == 0:
			return nil, false, r.fault("a value")
		case !ok, len(b) < want && !s.Atom():
			r.Write(r.text) // it stays as it came
			if !ok {
				return nil, false, r.fault("a value")
			}
			if !ended(err) && r.fail == nil {
				r.fail = err
			}
			r.at += int64(len(b))
			err := r.fault("the rest of a value")
			r.at -= int64(len(b))
			return nil, false, err
		case whole || len(b) < want:
			if len(r.text)+n > most {
				r.Write(r.text)
				r.Write(b[:n])
				r.pass(n)
				return nil, false, nil
			}
			if n == 0 && len(r.text) == 0 {
				return nil, false, r.fault("a value")
			}
			r.text = append(r.text, b[:n]...)
			r.pass(n)
			return r.text, true, nil
		}
		if len(r.text)+s.At > most {
			r.Write(r.text)
			return nil, false, r.copyValue(&s)
		}
		r.text = append(r.text, b[:s.At]...)
		r.pass(s.At)
		want = len(b) - s.At + 1
		s.At = 0
	}
}
