package native

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

const (
	// memoryBytes: what is made readable up to this size stays in memory; what
	// is larger is the caller's Spool to place.
	memoryBytes = 16 << 20
	// packedRatio: what is larger than plainBytes after inflating cannot have
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

// packing is how a section is stored.
type packing struct {
	codec string // "", "zlib" or "zstd"
	skip  int64  // bytes of the compression header
	size  uint64 // after inflating
}

// Section is the section of that name, inflated and relocated; nil when there
// is none or the file holds no bytes for it. Of several, a debug section's
// ".zdebug_" form included, the first outside of section groups counts: groups
// hold type units and what else the linker may drop.
func (f *ELF) Section(name string) (*Section, error) {
	i := f.find(name)
	if i < 0 {
		return nil, nil
	}
	return f.section(i)
}

// Input is the In of Section, nil when there is no such section.
func (f *ELF) Input(name string) (*formats.Input, error) {
	s, err := f.Section(name)
	if s == nil || err != nil {
		return nil, err
	}
	return s.In, nil
}

// Has reports whether the file holds bytes of a section of that name.
func (f *ELF) Has(name string) bool { return f.find(name) >= 0 }

func (f *ELF) find(name string) int {
	grouped := -1
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind == 0 || h.kind == shtNobits || h.size == 0 || plainName(h.name) != name {
			continue
		}
		if h.flags&shfGroup == 0 {
			return i
		}
		if grouped < 0 {
			grouped = i
		}
	}
	return grouped
}

// plainName is a section's name without the mark of the older way to compress.
func plainName(name string) string {
	if rest, ok := strings.CutPrefix(name, ".zdebug_"); ok {
		return ".debug_" + rest
	}
	return name
}

// section makes section i readable, once.
func (f *ELF) section(i int) (*Section, error) {
	s := &f.sections[i]
	s.once.Do(func() {
		s.err = errInterrupted
		s.sec, s.err = f.open(i)
	})
	return s.sec, s.err
}

// raw is section i as it is stored.
func (f *ELF) raw(i int) (*formats.Input, error) {
	h := &f.headers[i]
	name := plainName(h.name)
	if name == "" {
		name = fmt.Sprintf("section %d", i)
	}
	if h.kind == 0 || h.kind == shtNobits {
		return f.in.Section(name, 0, 0)
	}
	if h.off > math.MaxInt64 || h.size > math.MaxInt64 || int64(h.off) > f.in.Size || int64(h.size) > f.in.Size-int64(h.off) {
		return nil, corrupt(name, 0, fmt.Sprintf("%d bytes at %#x of the file", h.size, h.off))
	}
	return f.in.Section(name, int64(h.off), int64(h.size))
}

func (f *ELF) open(i int) (*Section, error) {
	stored, err := f.raw(i)
	if err != nil {
		return nil, err
	}
	name := stored.Name
	p, err := f.packing(i, stored)
	if err != nil {
		return nil, err
	}
	h := &f.headers[i]
	relocs, err := f.relocations(i, p.size)
	if err != nil {
		return nil, err
	}
	sec := &Section{Name: name, Addr: f.places[i], Size: p.size, In: stored}
	if h.flags&shfAlloc == 0 {
		sec.Addr = 0
	}
	if p.codec == "" && relocs == nil {
		return sec, nil
	}
	r, closer, err := p.reader(stored)
	if err != nil {
		return nil, err
	}
	defer closer()
	if relocs != nil {
		r = &relocator{f: f, section: name, place: f.places[i], src: r, next: relocs}
	}
	if sec.In, err = f.hold(name, int64(p.size), r); err != nil {
		return nil, err
	}
	return sec, nil
}

// Stored is the first section of that name as the file stores it; present
// tells a section without bytes (nil: a debug file has .text so) from none.
func (f *ELF) Stored(name string) (in *formats.Input, present bool, err error) {
	for i := range f.headers {
		if f.headers[i].name != name {
			continue
		}
		if f.headers[i].kind == shtNobits {
			return nil, true, nil
		}
		in, err := f.raw(i)
		return in, true, err
	}
	return nil, false, nil
}

// SectionKind is what EachStored selects.
type SectionKind uint8

// The kinds of sections.
const (
	DebugSection SectionKind = iota // .debug_ and .zdebug_
	TableSection                    // symbol and string tables, but for section names
)

// EachStored visits the sections of a kind that have bytes, as they are
// stored, in the file's order.
func (f *ELF) EachStored(kind SectionKind, visit func(*formats.Input) error) error {
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind == 0 || h.kind == shtNobits {
			continue
		}
		debug := strings.HasPrefix(plainName(h.name), ".debug_")
		table := h.kind == shtSymtab || h.kind == shtDynsym || h.name == ".strtab" || h.name == ".dynstr"
		if kind == DebugSection && !debug || kind == TableSection && !table {
			continue
		}
		in, err := f.raw(i)
		if err != nil {
			return err
		}
		if err := visit(in); err != nil {
			return err
		}
	}
	return nil
}

// packing reads a section's compression header and refuses sizes that the
// limits or the stored bytes rule out.
func (f *ELF) packing(i int, stored *formats.Input) (packing, error) {
	h := &f.headers[i]
	p := packing{size: uint64(stored.Size)}
	switch {
	case stored.Size == 0:
		return p, nil
	case h.flags&shfCompressed != 0:
		p.skip = 12
		if f.wide {
			p.skip = 24
		}
		b, err := stored.View(0, min(p.skip, stored.Size))
		if err != nil {
			return p, err
		}
		if int64(len(b)) < p.skip {
			return p, corrupt(stored.Name, 0, "a whole compression header")
		}
		r := fields{b, f.order}
		if f.wide {
			p.size = r.u64(8)
		} else {
			p.size = uint64(r.u32(4))
		}
		switch kind := r.u32(0); kind {
		case 1:
			p.codec = "zlib"
		case 2:
			p.codec = "zstd"
		default:
			return p, unsupported(stored.Name, 0, fmt.Sprintf("compression 1 (zlib) or 2 (zstd), not %d", kind))
		}
	case strings.HasPrefix(h.name, ".zdebug_"):
		b, err := stored.View(0, min(12, stored.Size))
		if err != nil {
			return p, err
		}
		if len(b) < 12 || string(b[:4]) != "ZLIB" {
			return p, nil // some linkers kept the name of what they left uncompressed
		}
		p.codec, p.skip = "zlib", 12
		for _, c := range b[4:12] { // big-endian in every file
			p.size = p.size<<8 | uint64(c)
		}
	default:
		return p, nil
	}
	switch most := f.in.Limits.SectionBytes; {
	case p.size > uint64(most):
		return p, limit(stored.Name, 0, fmt.Sprintf("at most %d bytes after inflating, not %d", most, p.size))
	case p.size > plainBytes && p.size/packedRatio > uint64(stored.Size):
		return p, corrupt(stored.Name, 0, fmt.Sprintf("a size that %d bytes of %s can have, not %d", stored.Size, p.codec, p.size))
	}
	return p, nil
}

// reader gives exactly the section's p.size bytes, or says that it cannot.
func (p packing) reader(stored *formats.Input) (r io.Reader, closer func(), err error) {
	src := &upstream.Reader{R: io.NewSectionReader(stored.Bytes, p.skip, stored.Size-p.skip)}
	var packed io.Reader
	if stored.Mapped != nil {
		packed = bytes.NewReader(stored.Mapped[p.skip:]) // the decoders have fast paths for it
	} else {
		packed = bufio.NewReaderSize(src, 64<<10)
	}
	out := &unpacked{section: stored.Name, src: src, left: int64(p.size)}
	switch p.codec {
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
			zstd.WithDecoderMaxWindow(min(windowBytes, max(minWindowBytes, p.size))))
		if err != nil {
			return nil, nil, out.fault(err)
		}
		out.r = z
		return out, z.Close, nil
	}
}

// hold makes size bytes of r readable at random: in memory, or where the
// caller's Spool puts what is large.
func (f *ELF) hold(name string, size int64, r io.Reader) (*formats.Input, error) {
	if size > memoryBytes {
		in, err := f.in.Spool(name, size, r)
		if err != nil {
			return nil, err
		}
		f.keep(in.Release)
		return in, nil
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// The end is part of the stream: checksums are verified there.
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		if err == nil {
			err = corrupt(name, uint64(size), "the end of the section")
		}
		return nil, err
	}
	return f.inMemory(name, b), nil
}

// inMemory is b as an input of the object's.
func (f *ELF) inMemory(name string, b []byte) *formats.Input {
	in := *f.in
	in.Name, in.Size, in.Release = name, int64(len(b)), nil
	in.Bytes, in.Mapped = bytes.NewReader(b), b
	return &in
}

// unpacked turns what a decoder says into errors of the section, and wants
// exactly left bytes of it.
type unpacked struct {
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
		return 0, corrupt(u.section, u.at, "no more bytes than the header says")
	}
	switch {
	case err == io.EOF && u.left > 0:
		return n, corrupt(u.section, u.at, fmt.Sprintf("%d bytes more", u.left))
	case err != nil && err != io.EOF:
		return n, u.fault(err)
	}
	return n, err
}

func (u *unpacked) fault(err error) error {
	if u.src.Err != nil {
		return u.src.Err
	}
	return corrupt(u.section, u.at, fmt.Sprintf("a sound stream (%v)", err))
}
