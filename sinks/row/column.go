package row

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

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

// maxBodyBytes is the most that the columns of one row take in memory, so
// that no row makes its reader allocate more.
const maxBodyBytes = 8 << 20

// decompressor decodes columns. One goroutine; the zstd decoder is shared.
type decompressor struct {
	zstd    *zstd.Decoder
	entropy entropy.Decoder
	huff    *huff0.Scratch
	budget  int // bytes that may still be decoded
	body    []byte
	bufs    [scriptColumns][]byte
	reading blockReader
}

func newZstdDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxSharedBytes), zstd.WithDecodeAllCapLimit(true))
}

var errColumn = errors.New("columns do not decode")

// columnBytes is how many bytes n columns at the front of body decode to: at most those.
func columnBytes(body []byte, n, most int) (total int, err error) {
	for i := range n {
		size, k := binary.Uvarint(body)
		if k <= 0 || size > uint64(most-total) {
			return 0, fmt.Errorf("%w: want the length of column %d", errColumn, i)
		}
		if body = body[k:]; size == 0 {
			continue
		}
		total += int(size)
		length, k := binary.Uvarint(body[min(1, len(body)):])
		if k <= 0 || length > uint64(len(body)-1-k) {
			return 0, fmt.Errorf("%w: want the coded bytes of column %d", errColumn, i)
		}
		body = body[1+k:][length:]
	}
	return total, nil
}

// column reads what compressor.column wrote from the front of body. dst is
// grown as needed; the result is raw's bytes and what follows in body.
func (d *decompressor) column(dst, body []byte) (raw, rest []byte, err error) {
	size, n := binary.Uvarint(body)
	if n <= 0 || size > uint64(d.budget) {
		return nil, nil, fmt.Errorf("%w: want the length of a column", errColumn)
	}
	body = body[n:]
	if size == 0 {
		return dst[:0], body, nil
	}
	d.budget -= int(size)
	if len(body) < 2 {
		return nil, nil, fmt.Errorf("%w: want the code of a column", errColumn)
	}
	code := body[0]
	length, n := binary.Uvarint(body[1:])
	if n <= 0 || length > uint64(len(body)-1-n) {
		return nil, nil, fmt.Errorf("%w: want %d coded bytes", errColumn, length)
	}
	coded := body[1+n:][:length]
	rest = body[1+n:][length:]
	if cap(dst) < int(size) {
		dst = make([]byte, 0, size)
	}
	raw, err = d.decode(code, coded, dst[:0:size])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: code %d: %w", errColumn, code, err)
	}
	if len(raw) != int(size) {
		return nil, nil, fmt.Errorf("%w: want %d bytes, not %d", errColumn, size, len(raw))
	}
	return raw, rest, nil
}

// decode appends what coded stands for to dst, whose capacity is its size.
func (d *decompressor) decode(code byte, coded, dst []byte) ([]byte, error) {
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

// reader takes numbers from one column. A read past the end is remembered.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) next() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return uint64(r.b[r.at-1])
	}
	return r.long()
}

func (r *reader) long() uint64 {
	v, n := binary.Uvarint(r.b[min(r.at, len(r.b)):])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}

// skip passes over n numbers.
func (r *reader) skip(n int) {
	const high = 0x8080808080808080 // of each byte the bit that says that more of its number follows
	for n > 0 && !r.bad {
		if n >= 8 && r.at+8 <= len(r.b) {
			more := binary.LittleEndian.Uint64(r.b[r.at:]) & high
			if more&(more<<8)&(more<<16) == 0 { // none takes more than three bytes
				r.at += bits.Len64(more^high) / 8
				n -= 8 - bits.OnesCount64(more)
				continue
			}
		}
		r.next()
		n--
	}
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.bad = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// take gives the next n bytes.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)-r.at) {
		r.bad = true
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// done reports whether the column was read exactly to its end.
func (r *reader) done() bool { return !r.bad && r.at == len(r.b) }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
