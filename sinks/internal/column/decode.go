// Package column codes columns of bytes: the parts that the body of a row is made of. The package doc
// of sinks/row specifies the form.
//
// It leaves to its callers what a column means, and which coders are worth a trial on it.
//
// Invariants:
//   - A column comes out of a Decoder as it went into an Encoder, or the Decoder reports ErrBroken.
//   - No count that was read sizes an allocation above the caller's budget.
//   - Equal columns, tried with the same coders, become equal bytes.
package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/sinks/internal/entropy"
)

// How the bytes of a column are coded. Durable.
const (
	codePlain  byte = 0 // as they are
	codeRepeat byte = 1 // one byte, repeated
	codeFSE    byte = 2 // finite state entropy, as in zstd
	codeHuff   byte = 3 // huff0, four streams, its table first
	codeZstd   byte = 4 // a zstd frame without checksum
)

// MaxRowBytes is the most that the columns of one row take in memory, so that no row makes its
// reader allocate more.
const MaxRowBytes = 8 << 20

// MaxTextBytes bounds the texts of a dictionary, and what a zstd frame decodes to.
const MaxTextBytes = 2 * MaxRowBytes

// ErrBroken says that no Encoder appended these bytes. Wrapped, with the expected part.
var ErrBroken = errors.New("columns do not decode")

// Decoder decodes columns. One goroutine.
type Decoder struct {
	Budget int    // bytes that may still be decoded
	Body   []byte // room for the caller, kept between uses

	zstd    *zstd.Decoder // shared
	entropy entropy.Decoder
	huff    *huff0.Scratch
	bufs    [][]byte
}

// sharedZstd is dear to make. It serves many goroutines.
var sharedZstd = sync.OnceValue(func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxTextBytes), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
})

var decoders = sync.Pool{New: func() any { return &Decoder{zstd: sharedZstd()} }}

// NewDecoder returns a decoder. Release takes it back for the next caller.
func NewDecoder() *Decoder { return decoders.Get().(*Decoder) }

// Release gives the decoder back. Its buffers, Columns among them, are the next caller's.
func (d *Decoder) Release() { decoders.Put(d) }

// Columns decodes n columns, which use up body, to budget bytes at most. They are valid until the
// next call.
func (d *Decoder) Columns(body []byte, n, budget int) ([][]byte, error) {
	d.Budget = budget
	for len(d.bufs) < n {
		d.bufs = append(d.bufs, nil)
	}
	for i := range n {
		raw, rest, err := d.Column(d.bufs[i], body)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		d.bufs[i], body = raw, rest
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last column", ErrBroken, len(body))
	}
	return d.bufs[:n], nil
}

// Bytes returns how many bytes n columns at the front of body decode to. It fails above most.
func Bytes(body []byte, n, most int) (total int, err error) {
	for i := range n {
		size, k := binary.Uvarint(body)
		if k <= 0 || size > uint64(most-total) {
			return 0, fmt.Errorf("%w: want the length of column %d", ErrBroken, i)
		}
		if body = body[k:]; size == 0 {
			continue
		}
		total += int(size)
		length, k := binary.Uvarint(body[min(1, len(body)):])
		if k <= 0 || length > uint64(len(body)-1-k) {
			return 0, fmt.Errorf("%w: want the coded bytes of column %d", ErrBroken, i)
		}
		body = body[1+k:][length:]
	}
	return total, nil
}

// Column decodes the column at the front of body into dst, which it grows as needed. rest is the
// body behind it.
func (d *Decoder) Column(dst, body []byte) (raw, rest []byte, err error) {
	size, n := binary.Uvarint(body)
	if n <= 0 || size > uint64(d.Budget) {
		return nil, nil, fmt.Errorf("%w: want the length of a column", ErrBroken)
	}
	body = body[n:]
	if size == 0 {
		return dst[:0], body, nil
	}
	d.Budget -= int(size)
	if len(body) < 2 {
		return nil, nil, fmt.Errorf("%w: want the code of a column", ErrBroken)
	}
	code := body[0]
	length, n := binary.Uvarint(body[1:])
	if n <= 0 || length > uint64(len(body)-1-n) {
		return nil, nil, fmt.Errorf("%w: want %d coded bytes", ErrBroken, length)
	}
	coded := body[1+n:][:length]
	rest = body[1+n:][length:]
	if cap(dst) < int(size) {
		dst = make([]byte, 0, size)
	}
	raw, err = d.decode(code, coded, dst[:0:size])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: code %d: %w", ErrBroken, code, err)
	}
	if len(raw) != int(size) {
		return nil, nil, fmt.Errorf("%w: want %d bytes, not %d", ErrBroken, size, len(raw))
	}
	return raw, rest, nil
}

// decode appends the bytes that coded stands for to dst. The capacity of dst is their number.
func (d *Decoder) decode(code byte, coded, dst []byte) ([]byte, error) {
	switch code {
	case codePlain:
		return append(dst, coded[:min(len(coded), cap(dst))]...), nil
	case codeRepeat:
		if len(coded) != 1 {
			return nil, errors.New("want one byte")
		}
		dst = dst[:cap(dst)]
		for i := range dst {
			dst[i] = coded[0]
		}
		return dst, nil
	case codeFSE:
		dst = dst[:cap(dst)]
		return dst, d.entropy.FSE(dst, coded)
	case codeHuff:
		table, rest, err := huff0.ReadTable(coded, d.huff)
		if err != nil {
			return nil, err
		}
		d.huff = table
		return d.huff.Decoder().Decompress4X(dst, rest)
	case codeZstd:
		return d.zstd.DecodeAll(coded, dst)
	}
	return nil, errors.New("unknown")
}
