package elffile

import (
	"context"
	"math"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const pageBytes = 4 << 10

// layOut gives every section its place. In a relocatable file no section has
// one: those with code are laid end to end at their alignment, from 0, so that
// each byte of code has an address of its own. All others stay at their own
// address, mostly 0, as offsets into debug sections count from there.
func (f *File) layOut() error {
	f.places = make([]uint64, len(f.headers))
	for i := range f.headers {
		f.places[i] = f.headers[i].addr
	}
	if f.kind != typeRel {
		return nil
	}
	most := uint64(math.MaxInt64)
	if !f.wide {
		most = math.MaxUint32
	}
	for i := range f.headers {
		h := &f.headers[i]
		if !h.code() {
			continue
		}
		at := f.end
		if a := h.align; a > 1 {
			if a&(a-1) != 0 || a > 1<<30 {
				return corrupt(h.name, 0, "an alignment that is a power of two below 1 GiB")
			}
			at = (at + a - 1) &^ (a - 1)
		}
		if h.size > most-at || at > most {
			return corrupt(h.name, 0, "code that fits the address space")
		}
		f.places[i], f.end = at, at+h.size
	}
	return nil
}

// code reports whether a section is loaded and executed.
func (h *header) code() bool { return h.executed() && h.size > 0 }

// executed is code, or the place of it: in the symbols that Dart's compiler
// writes, the section that was left out has no size either.
func (h *header) executed() bool { return h.flags&(shfAlloc|shfExec) == shfAlloc|shfExec }

// Base is the image base: p_vaddr of the first PT_LOAD, rounded down to a page.
func (f *File) Base() uint64 {
	for i := range f.segments {
		if f.segments[i].kind == ptLoad {
			return f.segments[i].addr &^ (pageBytes - 1)
		}
	}
	return 0
}

// Code is the executable segments by their size in memory, ascending and
// disjoint: a debug file has the same ones as its stripped twin, though no
// bytes of them. Of a relocatable file, and of a file that has lost its program
// headers, it is the sections with code. Nothing below Base is in it: it has no
// position.
func (f *File) Code() ([]native.Span, error) {
	var spans []native.Span
	for i := range f.segments {
		s := &f.segments[i]
		if s.kind != ptLoad || s.flags&segExec == 0 || s.memsz == 0 {
			continue
		}
		if s.addr+s.memsz < s.addr {
			return nil, corrupt("", s.off, "segments inside the address space")
		}
		spans = append(spans, native.Span{Start: s.addr, End: s.addr + s.memsz})
	}
	if len(spans) == 0 {
		for i := range f.headers {
			h := &f.headers[i]
			if !h.code() {
				continue
			}
			at := f.places[i]
			if at+h.size < at {
				return nil, corrupt(h.name, 0, "code inside the address space")
			}
			spans = append(spans, native.Span{Start: at, End: at + h.size})
		}
	}
	return native.Disjoint(spans, f.Base()), nil
}

// Anchors are the positions of a relocatable file's sections, by name: what
// stacks of kernel modules count from. Of equal names the first counts.
func (f *File) Anchors() map[string]uint64 {
	if f.kind != typeRel {
		return nil
	}
	anchors := make(map[string]uint64)
	for i := range f.headers {
		h := &f.headers[i]
		if _, taken := anchors[h.name]; h.code() && !taken {
			anchors[h.name] = f.places[i]
		}
	}
	return anchors
}

// Parts returns the sections with data, and with the linker's stubs, by position. A file without section headers has its
// segments that are not executed. A relocatable file has none: its data has no place.
func (f *File) Parts() []symbol.Part {
	if f.kind == typeRel {
		return nil
	}
	var all []symbol.Part
	for i := range f.headers {
		h := &f.headers[i]
		stubs := h.executed() && (strings.HasPrefix(h.name, ".plt") || h.name == ".iplt")
		if h.flags&shfAlloc == 0 || h.executed() && !stubs || h.flags&shfTLS != 0 && h.kind == shtNobits {
			continue
		}
		all = append(all, symbol.Part{Name: h.name, Start: h.addr, End: h.addr + h.size, Stubs: stubs})
	}
	for i := range f.segments {
		if s := &f.segments[i]; len(f.headers) == 0 && s.kind == ptLoad && s.flags&segExec == 0 {
			all = append(all, symbol.Part{Start: s.addr, End: s.addr + s.memsz})
		}
	}
	return native.Parts(all, f.Base())
}

// Segments returns where code lies in the file. In a relocatable file each section with code is a segment. There are none
// if there are more than an artifact may have.
func (f *File) Segments() []symbol.Segment {
	var all []symbol.Segment
	for i := range f.segments {
		if s := &f.segments[i]; s.kind == ptLoad && s.flags&segExec != 0 {
			all = append(all, symbol.Segment{Position: s.addr, Size: s.memsz, Offset: s.off, Stored: min(s.filesz, s.memsz)})
		}
	}
	for i := range f.headers {
		if h := &f.headers[i]; f.kind == typeRel && h.code() {
			at := symbol.Segment{Position: f.places[i], Size: h.size}
			if h.kind != shtNobits {
				at.Offset, at.Stored = h.off, h.size
			}
			all = append(all, at)
		}
	}
	return native.Segments(all, f.Base())
}

// shfLoaded are the section flags that neither strip nor objcopy change.
const shfLoaded = 1 | shfAlloc | shfExec | 1<<10 // SHF_WRITE, SHF_TLS

// TableDigest is symbol.Layout's Table. Whether the file holds the bytes of a section does not
// count: a debug file holds none.
func (f *File) TableDigest() [32]byte {
	var places []native.Place
	for i := range f.headers {
		if h := &f.headers[i]; h.kind != 0 && h.flags&shfAlloc != 0 {
			places = append(places, native.Place{Name: h.name[:min(len(h.name), native.MaxPlaceName)], Addr: h.addr, Size: h.size, Flags: h.flags & shfLoaded})
		}
	}
	return native.TableDigest(f.Arch(), f.Base(), places)
}

// CodeDigest is symbol.Layout's Code. It reads all code.
func (f *File) CodeDigest(ctx context.Context) ([32]byte, error) {
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
	return native.CodeDigest(ctx, "elf", parts)
}
