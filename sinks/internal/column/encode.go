package column

import (
	"bytes"
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/sinks/internal/entropy"
)

const (
	// minCoded is the length below which a table costs more than it saves.
	minCoded = 32
	// maxEntropy is the most that the entropy coders take at once.
	maxEntropy = 128 << 10
	// zstdWindow is ample for one row, and keeps the encoders small.
	zstdWindow = 1 << 20
)

// Encoder codes columns. One goroutine.
type Encoder struct {
	entropy entropy.Encoder
	counts  entropy.Histogram // of the column's bytes
	zstd    *zstd.Encoder
	buf     []byte
	matches matches
}

var encoders = sync.Pool{New: func() any {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return &Encoder{zstd: z}
}}

// NewEncoder returns an encoder. Release takes it back for the next caller: encoders are dear to make.
func NewEncoder() *Encoder { return encoders.Get().(*Encoder) }

// Release gives the encoder back.
func (c *Encoder) Release() { encoders.Put(c) }

// Trial says which coders a column is tried with. A row does not store it.
type Trial uint8

// The trials.
const (
	TryEntropy Trial = iota
	TryZstd
	TryBoth // the column's matches tell which of them
	TryFast // entropy; the faster coder alone, unless it is near its least: a bit for each byte
	TryNone // its bytes are chance
)

// Append appends a column: raw's length and, unless that is 0, its code, the length of the coded
// bytes, and these.
func (c *Encoder) Append(dst, raw []byte, try Trial) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(raw)))
	if len(raw) == 0 {
		return dst
	}
	code, coded := c.smallest(raw, try)
	dst = append(dst, code)
	dst = binary.AppendUvarint(dst, uint64(len(coded)))
	return append(dst, coded...)
}

// IsZstd reports whether a column that Append appended is a zstd frame.
func IsZstd(column []byte) bool {
	size, n := binary.Uvarint(column)
	return size > 0 && column[n] == codeZstd
}

func (c *Encoder) smallest(raw []byte, try Trial) (code byte, coded []byte) {
	if len(raw) == 1 || bytes.Equal(raw[1:], raw[:len(raw)-1]) {
		return codeRepeat, raw[:1]
	}
	code, coded = codePlain, raw
	if len(raw) < minCoded || try == TryNone {
		return code, coded
	}
	if try == TryZstd || len(raw) > maxEntropy {
		return c.zstandard(raw)
	}
	h := &c.counts
	h.Count(raw)
	if try == TryFast {
		if out := c.entropy.Huffman(raw, h); out != nil {
			code, coded = codeHuff, out
		}
		if len(coded) > len(raw)/6 {
			return code, coded
		}
	}
	if try == TryBoth && c.matches.pay(raw, h.Bits, h.Values) {
		if code, coded = c.zstandard(raw); len(coded) <= h.Bits/8+h.Values/2 {
			return code, coded
		}
	}
	if h.Bits/8+h.Values/4 >= len(coded) { // the table hardly ever takes less
		return code, coded
	}
	// A byte that stands for more than a third of the column takes less
	// than the whole bit that a Huffman code must give it.
	if h.Most > len(raw)/3 {
		if out := c.entropy.FSE(raw, h); len(out) < len(coded) {
			code, coded = codeFSE, out
		}
	} else if out := c.entropy.Huffman(raw, h); out != nil && len(out) < len(coded) {
		code, coded = codeHuff, out
	}
	return code, coded
}

// zstandard is raw as a frame, or as it is if that is no longer.
func (c *Encoder) zstandard(raw []byte) (code byte, coded []byte) {
	if c.buf = c.zstd.EncodeAll(raw, c.buf[:0]); len(c.buf) < len(raw) {
		return codeZstd, c.buf
	}
	return codePlain, raw
}
