package row

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
)

const (
	// minCoded is the length below which a table costs more than it saves.
	minCoded = 32
	// maxEntropy is the most that the entropy coders take at once.
	maxEntropy = 128 << 10
	// zstdWindow is ample for one row, and keeps the encoders small.
	zstdWindow = 1 << 20
)

// compressor codes columns. One goroutine.
type compressor struct {
	fse     fseEncoder
	huff    huffEncoder
	zstd    *zstd.Encoder
	buf     []byte
	counts  [256]uint32 // of the column's bytes
	matches matches
}

func newCompressor() *compressor {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	c := &compressor{zstd: z}
	c.huff.fse = &c.fse
	return c
}

// trial says which coders a column is tried with. What came out is stored, not what was tried.
type trial uint8

const (
	tryEntropy trial = iota
	tryZstd
	tryBoth // which of them, the column's matches tell
	tryFast // entropy; the faster coder alone, but where it is near its least of a bit for each byte
	tryNone // it is chance
)

// column appends raw's length and, unless it is empty, its code, the length of
// the coded bytes, and these.
func (c *compressor) column(dst, raw []byte, try trial) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(raw)))
	if len(raw) == 0 {
		return dst
	}
	code, coded := c.smallest(raw, try)
	dst = append(dst, code)
	dst = binary.AppendUvarint(dst, uint64(len(coded)))
	return append(dst, coded...)
}

// coderOf is the code of a column that column appended; codePlain of an empty one.
func coderOf(column []byte) byte {
	size, n := binary.Uvarint(column)
	if size == 0 {
		return codePlain
	}
	return column[n]
}

func (c *compressor) smallest(raw []byte, try trial) (code byte, coded []byte) {
	if len(raw) == 1 || bytes.Equal(raw[1:], raw[:len(raw)-1]) {
		return codeRepeat, raw[:1]
	}
	code, coded = codePlain, raw
	if len(raw) < minCoded || try == tryNone {
		return code, coded
	}
	if try == tryZstd || len(raw) > maxEntropy {
		return c.zstandard(raw)
	}
	counts, most, values, bits := c.count(raw)
	if try == tryFast {
		if out := c.huff.encode(raw, counts, values); out != nil {
			code, coded = codeHuff, out
		}
		if len(coded) > len(raw)/6 {
			return code, coded
		}
	}
	if try == tryBoth && c.matches.pay(raw, bits, values) {
		if code, coded = c.zstandard(raw); len(coded) <= bits/8+values/2 {
			return code, coded
		}
	}
	if bits/8+values/4 >= len(coded) { // the table hardly ever takes less
		return code, coded
	}
	// A byte that stands for more than a third of the column takes less
	// than the whole bit that a Huffman code must give it.
	if most > len(raw)/3 {
		if out := c.fse.encode(raw, counts, values); len(out) < len(coded) {
			code, coded = codeFSE, out
		}
	} else if out := c.huff.encode(raw, counts, values); out != nil && len(out) < len(coded) {
		code, coded = codeHuff, out
	}
	return code, coded
}

// zstandard is raw as a frame, or as it is if that is no longer.
func (c *compressor) zstandard(raw []byte) (code byte, coded []byte) {
	if c.buf = c.zstd.EncodeAll(raw, c.buf[:0]); len(c.buf) < len(raw) {
		return codeZstd, c.buf
	}
	return codePlain, raw
}

// count says how often each byte occurs in raw, to the highest that does, how often the most frequent one, how many do,
// and the column's information: no entropy coder takes fewer bits.
func (c *compressor) count(raw []byte) (counts []uint32, most, values, bits int) {
	// Two counters a byte: a column of few values would wait for its own stores.
	var odd [256]uint32
	h := &c.counts
	clear(h[:])
	i := 0
	for ; i+1 < len(raw); i += 2 {
		h[raw[i]]++
		odd[raw[i+1]]++
	}
	if i < len(raw) {
		h[raw[i]]++
	}
	last, sum := 0, 0.0
	for b := range h {
		if h[b] += odd[b]; h[b] > 0 {
			most, last = max(most, int(h[b])), b
			sum += float64(h[b]) * log2(h[b])
			values++
		}
	}
	n := uint32(len(raw))
	return h[:last+1], most, values, int(float64(n)*log2(n) - sum)
}

// log2 is the binary logarithm of n, which is not 0, within 0.001: of its mantissa by a polynomial.
func log2(n uint32) float64 {
	b := math.Float64bits(float64(n))
	x := math.Float64frombits(b&(1<<52-1)|1023<<52) - 1
	return float64(int(b>>52)-1023) + x + x*(1-x)*(0.423-0.1595*x)
}
