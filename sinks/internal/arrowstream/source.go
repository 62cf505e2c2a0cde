package arrowstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// source reads the buffers of a batch.
type source struct {
	meta *arrowmeta.Batch
	body []byte
	left int // bytes that may still be inflated
}

// buffer returns a buffer, inflated.
func (s *source) buffer(i int) ([]byte, error) {
	at, n := s.meta.Buffers[2*i], s.meta.Buffers[2*i+1]
	if at < 0 || n < 0 || at > int64(len(s.body)) || n > int64(len(s.body))-at {
		return nil, fmt.Errorf("%w: a buffer of %d bytes at %d, in a body of %d", ErrInput, n, at, len(s.body))
	}
	b := s.body[at : at+n]
	if !s.meta.Compressed || n == 0 {
		return b, nil
	}
	if n < 8 {
		return nil, fmt.Errorf("%w: a compressed buffer of %d bytes", ErrInput, n)
	}
	size := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if size == -1 {
		return b, nil
	}
	if size < 0 || size > int64(s.left) {
		return nil, fmt.Errorf("%w: buffers inflate to more than %d bytes; write smaller record batches", ErrInput, MaxBatchBytes)
	}
	s.left -= int(size)
	raw, err := inflate(s.meta.Codec, b, int(size))
	if err != nil {
		return nil, fmt.Errorf("%w: a compressed buffer of %d bytes: %w", ErrInput, n, err)
	}
	return raw, nil
}

var decoders = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBatchBytes))
	if err != nil {
		panic(err) // these are valid options
	}
	return z
}}

// inflate gives exactly size bytes. Memory grows with what comes out.
func inflate(codec arrowmeta.Codec, b []byte, size int) ([]byte, error) {
	switch codec {
	case arrowmeta.LZ4Frame:
		return lz4Frame(b, size)
	case arrowmeta.Zstd:
	default:
		return nil, fmt.Errorf("codec %d is not known", codec)
	}
	z := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(z)
	if err := z.Reset(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	var to bytes.Buffer
	to.Grow(min(size+bytes.MinRead, 64*len(b)+firstBytes))
	n, err := to.ReadFrom(io.LimitReader(z, int64(size)+1))
	if err == nil && n != int64(size) {
		err = errSize
	}
	return to.Bytes(), err
}

var errSize = errors.New("it holds fewer or more bytes than it says")

// Of a frame of LZ4.
const (
	lz4Magic       = 0x184d2204
	lz4Independent = 1 << 5 // flags
	lz4BlockSums   = 1 << 4
	lz4Size        = 1 << 3
	lz4Dictionary  = 1 << 0
	lz4Stored      = 1 << 31 // a block is not compressed
	lz4Ratio       = 255     // at best
	lz4Window      = 64 << 10
)

// lz4Frame inflates a frame. The reader of the library refuses the checksums of blocks that Polars writes, so only its blocks
// are used, and checksums are not compared.
func lz4Frame(b []byte, size int) ([]byte, error) {
	if size > lz4Ratio*len(b) || len(b) < 7 || binary.LittleEndian.Uint32(b) != lz4Magic {
		return nil, errSize
	}
	flags, head := b[4], 7
	if flags&lz4Size != 0 {
		head += 8
	}
	if flags&lz4Dictionary != 0 {
		return nil, errors.New("it wants a dictionary")
	}
	to, n := make([]byte, size), 0
	for b = b[min(head, len(b)):]; ; {
		if len(b) < 4 {
			return nil, errSize
		}
		block := binary.LittleEndian.Uint32(b)
		length := int64(block &^ lz4Stored)
		b = b[4:]
		if block == 0 {
			break
		}
		if length > int64(len(b)) {
			return nil, errSize
		}
		if block&lz4Stored != 0 {
			if int(length) > size-n {
				return nil, errSize
			}
			n += copy(to[n:], b[:length])
		} else {
			var before []byte
			if flags&lz4Independent == 0 {
				before = to[max(0, n-lz4Window):n]
			}
			k, err := lz4.UncompressBlockWithDict(b[:length], to[n:], before)
			if err != nil {
				return nil, err
			}
			n += k
		}
		b = b[length:]
		if flags&lz4BlockSums != 0 {
			b = b[min(4, len(b)):]
		}
	}
	if n != size {
		return nil, errSize
	}
	return to, nil
}
