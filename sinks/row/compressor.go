package row

import (
	"bytes"
	"encoding/binary"

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

// compressor codes columns. One goroutine.
type compressor struct {
	entropy entropy.Encoder
	counts  entropy.Histogram // of the column's bytes
	zstd    *zstd.Encoder
	buf     []byte
	matches matches
}

func newCompressor() *compressor {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return &compressor{zstd: z}
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
	h := &c.counts
	h.Count(raw)
	if try == tryFast {
		if out := c.entropy.Huffman(raw, h); out != nil {
			code, coded = codeHuff, out
		}
		if len(coded) > len(raw)/6 {
			return code, coded
		}
	}
	if try == tryBoth && c.matches.pay(raw, h.Bits, h.Values) {
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
func (c *compressor) zstandard(raw []byte) (code byte, coded []byte) {
	if c.buf = c.zstd.EncodeAll(raw, c.buf[:0]); len(c.buf) < len(raw) {
		return codeZstd, c.buf
	}
	return codePlain, raw
}
