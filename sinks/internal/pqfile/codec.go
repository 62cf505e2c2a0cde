package pqfile

import (
	"sync"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// useCodecs replaces compressors of the library of sealed files: that of Zstandard, which makes a new encoder for every page,
// by one that keeps them, and that of Snappy by the one of plain files. It is the library's one switch for that, and
// global to the process: what is written can be read as before.
var useCodecs = sync.OnceFunc(func() {
	compress.RegisterCodec(compress.Codecs.Zstd, &pooledZstd{Codec: codec(compress.Codecs.Zstd)})
	compress.RegisterCodec(compress.Codecs.Snappy, &swiftSnappy{Codec: codec(compress.Codecs.Snappy)})
})

func codec(c compress.Compression) compress.Codec {
	base, err := compress.GetCodec(c)
	if err != nil {
		panic(err) // it is compiled in
	}
	return base
}

type pooledZstd struct {
	compress.Codec
	encoders sync.Pool
}

// CompressBound is what the library makes room for: mostly enough, and the encoder makes more where it is not.
func (p *pooledZstd) CompressBound(n int64) int64 { return n / 8 }

// EncodeLevel has one level, that of files which are read for long.
func (p *pooledZstd) EncodeLevel(dst, src []byte, _ int) []byte {
	e, ok := p.encoders.Get().(*zstd.Encoder)
	if !ok {
		e = newZstd()
	}
	defer p.encoders.Put(e)
	return e.EncodeAll(src, dst[:0])
}

func (p *pooledZstd) Encode(dst, src []byte) []byte { return p.EncodeLevel(dst, src, 0) }

// swiftSnappy encodes where there is room for the worst case, which the library would make for every dictionary.
type swiftSnappy struct {
	compress.Codec
	rooms sync.Pool
}

// CompressBound is what the library makes room for: nothing, as what comes of it is told in the end.
func (*swiftSnappy) CompressBound(int64) int64 { return 0 }

func (s *swiftSnappy) EncodeLevel(dst, src []byte, _ int) []byte {
	room, ok := s.rooms.Get().(*[]byte)
	if !ok {
		room = new([]byte)
	}
	defer s.rooms.Put(room)
	*room = s2.EncodeSnappy((*room)[:cap(*room)], src)
	dst = append(dst[:0], *room...)
	if cap(*room) > keptBytes {
		*room = nil
	}
	return dst
}

func (s *swiftSnappy) Encode(dst, src []byte) []byte { return s.EncodeLevel(dst, src, 0) }
