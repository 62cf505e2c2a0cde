package native

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

const (
	// MemoryBytes is the largest unpacked part that stays in memory. A
	// larger one is the caller's Spool to place.
	MemoryBytes = 16 << 20
	// packedRatio: a section larger than plainBytes after inflating cannot have
	// been packed further than so. Real debug sections stay below 40 to 1; a
	// bomb needs the 1,032 to 1 of deflate or the 32,768 to 1 of zstd.
	packedRatio = 512
	plainBytes  = 1 << 20
	// A zstd stream's window, which is allocated when it starts, is no larger
	// than its contents but for a minimum that encoders do not go below; the
	// highest level of the usual one has 128 MiB.
	windowBytes    = 128 << 20
	minWindowBytes = 8 << 20
)

// Packing is how a section is stored.
type Packing struct {
	Codec string // "", "zlib" or "zstd"
	Skip  int64  // bytes of the compression header
	Size  uint64 // after inflating
}

// Check refuses sizes that the limits or the stored bytes rule out.
func (f *Source) Check(p Packing, stored *formats.Input) error {
	switch most := f.In.Limits.SectionBytes; {
	case p.Size > uint64(most):
		return f.Limit(stored.Name, 0, fmt.Sprintf("at most %d bytes after inflating, not %d", most, p.Size))
	case p.Size > plainBytes && p.Size/packedRatio > uint64(stored.Size):
		return f.Corrupt(stored.Name, 0, fmt.Sprintf("a size that %d bytes of %s can have, not %d", stored.Size, p.Codec, p.Size))
	}
	return nil
}

// Zdebug reads the header before a section packed in the older
// way; packing.codec is "" where some linker kept the name of what it left as it is.
func (f *Source) Zdebug(stored *formats.Input) (Packing, error) {
	p := Packing{Size: uint64(stored.Size)}
	b, err := stored.View(0, min(12, stored.Size))
	if err != nil || len(b) < 12 || string(b[:4]) != "ZLIB" {
		return p, err
	}
	p.Codec, p.Skip, p.Size = "zlib", 12, binary.BigEndian.Uint64(b[4:]) // in every file
	return p, f.Check(p, stored)
}

// Unpack returns a reader of exactly the section's p.size bytes, or an error.
func (f *Source) Unpack(p Packing, stored *formats.Input) (r io.Reader, closer func(), err error) {
	src := &upstream.Reader{R: io.NewSectionReader(stored.Bytes, p.Skip, stored.Size-p.Skip)}
	var packed io.Reader
	if stored.Mapped != nil {
		packed = bytes.NewReader(stored.Mapped[p.Skip:]) // the decoders have fast paths for it
	} else {
		packed = bufio.NewReaderSize(src, 64<<10)
	}
	out := &unpacked{file: f, section: stored.Name, src: src, left: int64(p.Size)}
	switch p.Codec {
	case "":
		out.r = packed
		return out, func() {}, nil
	case "zlib":
		z, err := zlib.NewReader(packed)
		if err != nil {
			return nil, nil, out.fault(err)
		}
		out.r = z
		return out, func() { z.Close() }, nil
	default:
		// One goroutine, and no more memory than the stream itself needs.
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(min(windowBytes, max(minWindowBytes, p.Size))))
		if err != nil {
			return nil, nil, out.fault(err)
		}
		out.r = z
		return out, z.Close, nil
	}
}

// Hold makes size bytes of r readable at random: in memory, or where the
// caller's Spool puts large parts.
func (f *Source) Hold(name string, size int64, r io.Reader) (*formats.Input, error) {
	if size > MemoryBytes {
		in, err := f.In.Spool(name, size, r)
		if err != nil {
			return nil, err
		}
		f.Keep(in.Release)
		return in, nil
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// The end is part of the stream: checksums are verified there.
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		if err == nil {
			err = f.Corrupt(name, uint64(size), "the end of the section")
		}
		return nil, err
	}
	return f.InMemory(name, b), nil
}

// InMemory is b as an input of the object's.
func (f *Source) InMemory(name string, b []byte) *formats.Input {
	in := *f.In
	in.Name, in.Size, in.Release = name, int64(len(b)), nil
	in.Bytes, in.Mapped = bytes.NewReader(b), b
	return &in
}

// unpacked turns what a decoder says into errors of the section, and wants
// exactly left bytes of it.
type unpacked struct {
	file    *Source
	section string
	src     *upstream.Reader
	r       io.Reader
	left    int64
	at      uint64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.at += uint64(n)
	if u.left -= int64(n); u.left < 0 {
		return 0, u.file.Corrupt(u.section, u.at, "no more bytes than the header says")
	}
	switch {
	case err == io.EOF && u.left > 0:
		return n, u.file.Corrupt(u.section, u.at, fmt.Sprintf("%d bytes more", u.left))
	case err != nil && err != io.EOF:
		return n, u.fault(err)
	}
	return n, err
}

func (u *unpacked) fault(err error) error {
	if u.src.Err != nil {
		return u.src.Err
	}
	return u.file.Corrupt(u.section, u.at, fmt.Sprintf("a sound stream (%v)", err))
}
