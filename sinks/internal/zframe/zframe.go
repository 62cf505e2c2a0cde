// Package zframe compresses pages of Parquet files by Zstandard.
package zframe

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// encoders serve all goroutines: one takes 14 MB. Frames need no checksum, since pages have one, or the tag of a seal.
var encoders = sync.Pool{New: func() any {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // these are valid options
	}
	return z
}}

// Append appends the frame of raw to to, at the level above Zstandard's default. Safe for concurrent use.
func Append(to, raw []byte) []byte {
	z := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(z)
	return z.EncodeAll(raw, to)
}
