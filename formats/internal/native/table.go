package native

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats"
)

// place is one loaded section as a layout compares it.
type place struct {
	name       string
	addr, size uint64
	flags      uint64
}

// shfLoaded are the section flags that neither strip nor objcopy change.
const shfLoaded = 1 | shfAlloc | shfExec | 1<<10 // SHF_WRITE, SHF_TLS

// maxPlaceName is how much of a section's name counts: names of a hostile file share their bytes,
// and would be read once for each section.
const maxPlaceName = 256

// tableDigest hashes loaded sections by their addresses, which tools keep where they change the
// order of headers. Zero: there are none.
func tableDigest(arch string, base uint64, places []place) (sum [32]byte) {
	if len(places) == 0 {
		return sum
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name), cmp.Compare(a.size, b.size), cmp.Compare(a.flags, b.flags))
	})
	h := sha256.New()
	var b []byte
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	text(arch)
	b = binary.BigEndian.AppendUint64(b, base)
	for _, p := range places {
		text(p.name)
		b = binary.BigEndian.AppendUint64(b, p.addr)
		b = binary.BigEndian.AppendUint64(b, p.size)
		b = binary.BigEndian.AppendUint64(b, p.flags)
		h.Write(b)
		b = b[:0]
	}
	return [32]byte(h.Sum(nil))
}

// codeDigest hashes contents one after the other. Zero: there are none.
func codeDigest(ctx context.Context, format string, parts []*formats.Input) (sum [32]byte, err error) {
	if len(parts) == 0 {
		return sum, nil
	}
	h := sha256.New()
	for _, in := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(in.Size)))
		if err := Feed(ctx, h, in, format); err != nil {
			return sum, err
		}
	}
	return [32]byte(h.Sum(nil)), nil
}

// TableDigest is symbol.Layout's Table. Whether the file holds the bytes of a section does not
// count: a debug file holds none.
func (f *ELF) TableDigest() [32]byte {
	var places []place
	for i := range f.headers {
		if h := &f.headers[i]; h.kind != 0 && h.flags&shfAlloc != 0 {
			places = append(places, place{h.name[:min(len(h.name), maxPlaceName)], h.addr, h.size, h.flags & shfLoaded})
		}
	}
	return tableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code.
func (f *ELF) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	for i := range f.headers {
		if h := &f.headers[i]; h.code() && h.kind != 0 && h.kind != shtNobits {
			in, err := f.raw(i)
			if err != nil {
				return [32]byte{}, err
			}
			parts = append(parts, in)
		}
	}
	return codeDigest(ctx, "elf", parts)
}

// TableDigest is symbol.Layout's Table: the sections of __TEXT, which a dSYM describes as its image
// does.
func (f *MachO) TableDigest() [32]byte {
	var places []place
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == "__TEXT" {
			places = append(places, place{h.name, h.addr, h.size, uint64(h.flags & (pureCode | someCode))})
		}
	}
	return tableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code; a dSYM has none.
func (f *MachO) CodeDigest(ctx context.Context) ([32]byte, error) {
	var parts []*formats.Input
	for i := range f.headers {
		h := &f.headers[i]
		if f.DSYM() || !h.code() || !h.stored() {
			continue
		}
		if h.off > uint64(f.in.Size) || h.size > uint64(f.in.Size)-h.off {
			return [32]byte{}, f.corrupt(h.name, 0, "code inside the file")
		}
		in, err := f.in.Section(h.name, int64(h.off), int64(h.size))
		if err != nil {
			return [32]byte{}, err
		}
		parts = append(parts, in)
	}
	return codeDigest(ctx, "macho", parts)
}
