// Package compact codes the fields of catalog records: numbers, texts and times, one behind the other. sinks/row
// specifies the coding (section "Records"), and this package is its only reader and writer.
//
// A [Reader] has a sticky error. A field that is read after an error is zero, so a decoder reads all its
// fields and checks Err once. No count sizes an allocation before the bytes behind it are there.
package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrMalformed says that bytes are not what a Writer wrote.
var ErrMalformed = errors.New("malformed record")

// ErrNewer says that a newer version of symlake wrote a record.
var ErrNewer = errors.New("a newer symlake wrote it: upgrade symlake on this machine")

// Writer appends fields to B. The zero value is ready.
type Writer struct {
	B    []byte
	base int64 // seconds since 1970 that the next time counts from
}

// Uint appends a number.
func (w *Writer) Uint(v uint64) { w.B = binary.AppendUvarint(w.B, v) }

// Int appends a number that may be below zero.
func (w *Writer) Int(v int64) { w.Uint(zigzag(v)) }

// Raw appends bytes. The reader must know how many.
func (w *Writer) Raw(b []byte) { w.B = append(w.B, b...) }

// Bytes appends bytes and, before them, their number.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	w.Raw(b)
}

// Bool appends a truth.
func (w *Writer) Bool(b bool) {
	if b {
		w.B = append(w.B, 1)
		return
	}
	w.B = append(w.B, 0)
}

// Texts appends texts and, before them, their number.
func (w *Writer) Texts(list []string) {
	w.Uint(uint64(len(list)))
	for _, s := range list {
		w.Text(s)
	}
}

// Base sets the time from which the next one counts.
func (w *Writer) Base(t time.Time) { w.base = t.Unix() }

// Time appends an instant, which becomes the base of the next one. Its zone is lost.
func (w *Writer) Time(t time.Time) {
	w.Int(t.Unix() - w.base)
	w.Uint(uint64(t.Nanosecond()))
	w.Base(t)
}

// Seconds appends a number of seconds: in nanoseconds if that is exact.
func (w *Writer) Seconds(s float64) {
	if ns := math.Round(s * 1e9); ns >= 0 && ns < 1<<53 && time.Duration(ns).Seconds() == s && !math.Signbit(s) {
		w.Uint(uint64(ns) << 1)
		return
	}
	w.Uint(1)
	w.B = binary.BigEndian.AppendUint64(w.B, math.Float64bits(s))
}

// Reader takes fields from the front of bytes.
type Reader struct {
	b    []byte
	base int64
	err  error
}

// NewReader returns a reader of b. What it returns may share b's memory where its method says so.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err returns the first error; nil: all fields so far were whole.
func (r *Reader) Err() error { return r.err }

// End returns an error unless all bytes were read without one.
func (r *Reader) End() error {
	if r.err == nil && len(r.b) > 0 {
		r.Fail("%d bytes are left over", len(r.b))
	}
	return r.err
}

// Fail makes the reader fail, unless it has failed already.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
	r.b = nil
}

// Rest returns the bytes that are left, which share the reader's.
func (r *Reader) Rest() []byte { return r.b }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.Fail("it ends within a number")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Int reads a number that may be below zero.
func (r *Reader) Int() int64 { return unzigzag(r.Uint()) }

// Small reads a number up to most.
func (r *Reader) Small(most uint64) uint64 {
	v := r.Uint()
	if v > most {
		r.Fail("%d where at most %d may stand", v, most)
		return 0
	}
	return v
}

// Count reads how many items follow. Each takes a byte at least.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.b)) {
		r.Fail("%d items in %d bytes", n, len(r.b))
		return 0
	}
	return int(n)
}

// Raw reads n bytes, which share the reader's.
func (r *Reader) Raw(n int) []byte {
	if n > len(r.b) {
		r.Fail("%d bytes where %d should follow", len(r.b), n)
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// Bytes reads bytes behind their number. They share the reader's; nil for none.
func (r *Reader) Bytes() []byte {
	n := r.Count()
	if n == 0 {
		return nil
	}
	return r.Raw(n)
}

// Bool reads a truth.
func (r *Reader) Bool() bool { return r.Small(1) == 1 }

// Bits reads n bits in one number, the first in its lowest bit. A higher bit is of a newer version.
func (r *Reader) Bits(n int) uint64 {
	bits := r.Uint()
	if bits>>n != 0 && r.err == nil {
		r.err = fmt.Errorf("%w: it has fields that this version does not know", ErrNewer)
		r.b = nil
	}
	return bits
}

// Texts reads texts behind their number; nil for none.
func (r *Reader) Texts() []string {
	n := r.Count()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.Text()
	}
	return list
}

// Base sets the time from which the next one counts.
func (r *Reader) Base(t time.Time) { r.base = t.Unix() }

// Time reads an instant, in UTC, which becomes the base of the next one.
func (r *Reader) Time() time.Time {
	seconds, nanoseconds := r.base+r.Int(), r.Small(999_999_999)
	if r.err != nil {
		return time.Time{}
	}
	t := time.Unix(seconds, int64(nanoseconds)).UTC()
	r.Base(t)
	return t
}

// Seconds reads a number of seconds.
func (r *Reader) Seconds() float64 {
	v := r.Uint()
	if v&1 == 0 {
		return time.Duration(v >> 1).Seconds()
	}
	if v != 1 {
		r.Fail("seconds of form %d", v)
		return 0
	}
	b := r.Raw(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
