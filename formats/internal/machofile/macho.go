// Package machofile reads the load commands, debug sections, symbols and debug maps of Mach-O images.
package machofile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// The numbers of Apple's mach-o/loader.h that are used here.
const (
	machoObject = 1  // MH_OBJECT
	machoDSYM   = 10 // MH_DSYM

	lcSegment        = 0x1
	lcSymtab         = 0x2
	lcIDDylib        = 0xd
	lcSegment64      = 0x19
	lcUUID           = 0x1b
	lcFunctionStarts = 0x26
	lcDyldInfo       = 0x22
	lcDyldInfoOnly   = 0x80000022
	lcExportsTrie    = 0x80000033

	sectionTypeMask = 0xff
	zeroFill        = 1  // S_ZEROFILL
	gbZeroFill      = 12 // S_GB_ZEROFILL
	pureCode        = 0x80000000
	someCode        = 0x400

	protExecute = 4

	maxCommands      = 1 << 16
	maxMachoSections = 1 << 16
)

// The kinds of processors, by mach/machine.h.
const (
	cpuX86     = 7
	cpuARM     = 12
	cpuX86_64  = cpuX86 | 1<<24
	cpuARM64   = cpuARM | 1<<24
	cpuARM6432 = cpuARM | 1<<25
)

// MachoArch is the name of a Mach-O architecture, as tools of its systems call
// it; of i386 the name that ELF files have for it too.
func MachoArch(cpu, subtype uint32) string {
	subtype &^= 0xff << 24 // what the loader may assume
	switch cpu {
	case cpuX86:
		return "x86"
	case cpuX86_64:
		if subtype == 8 {
			return "x86_64h"
		}
		return "x86_64"
	case cpuARM:
		switch subtype {
		case 6:
			return "armv6"
		case 9:
			return "armv7"
		case 11:
			return "armv7s"
		case 12:
			return "armv7k"
		}
		return "arm"
	case cpuARM64:
		if subtype == 2 {
			return "arm64e"
		}
		return "arm64"
	case cpuARM6432:
		return "arm64_32"
	}
	return fmt.Sprintf("cpu-%d-%d", cpu, subtype)
}

// machoSection is one section header.
type machoSection struct {
	segment, name string
	addr, size    uint64
	off           uint64
	flags         uint32
	relocs        uint32 // offset of its relocations
	relocCount    uint32
}

// code reports whether a section is executed.
func (h *machoSection) code() bool { return h.flags&(pureCode|someCode) != 0 && h.size > 0 }

// stored reports whether the file may hold bytes of it.
func (h *machoSection) stored() bool {
	kind := h.flags & sectionTypeMask
	return kind != zeroFill && kind != gbZeroFill && h.off != 0 && h.size > 0
}

// machoSegment is one segment.
type machoSegment struct {
	name             string
	addr, size       uint64
	off, stored      uint64
	initial, maximal uint32 // protections
}

// piece is a part of a file.
type piece struct{ off, size uint64 }

// File is one Mach-O image (a thin file, or a slice of a fat one): its load
// commands, and the way to its sections. It is safe for concurrent use. Close
// gives back what sections were spooled to.
type File struct {
	native.Source
	wide         bool
	cpu, subtype uint32
	kind         uint32

	uuid     []byte // nil: none
	install  string // name of a library, or ""
	segments []machoSegment
	headers  []machoSection

	symbols, strings, starts, exports piece
	symbolCount                       uint32

	sections []native.LazySection // parallel to headers
}

// Is reports whether a file that begins with head is a Mach-O image, by its magic number.
func Is(head []byte) bool {
	_, _, ok := machoMagic(head)
	return ok
}

func machoMagic(b []byte) (order native.ByteOrder, wide, ok bool) {
	if len(b) < 4 {
		return false, false, false
	}
	switch binary.BigEndian.Uint32(b) {
	case 0xfeedface:
		return true, false, true
	case 0xfeedfacf:
		return true, true, true
	case 0xcefaedfe:
		return false, false, true
	case 0xcffaedfe:
		return false, true, true
	}
	return false, false, false
}

// Open reads the load commands of an image. An image with commands that are cut
// off or lead outside is ErrCorrupt; contents are checked when they are asked for.
func Open(in *formats.Input) (*File, error) {
	f := &File{Source: native.Source{In: in, Format: "macho"}}
	b, err := f.View("", 0, min(32, in.Size), "a Mach-O header")
	if err != nil {
		return nil, err
	}
	var ok bool
	if f.Order, f.wide, ok = machoMagic(b); !ok {
		return nil, f.Corrupt("", 0, "a Mach-O header")
	}
	size := 28
	if f.wide {
		size = 32
	}
	if len(b) < size {
		return nil, f.Corrupt("", 0, "a whole Mach-O header")
	}
	r := native.Fields{B: b, Order: f.Order}
	f.cpu, f.subtype, f.kind = r.U32(4), r.U32(8), r.U32(12)
	return f, f.readCommands(uint64(size), r.U32(16), r.U32(20))
}

func (f *File) readCommands(at uint64, n, size uint32) error {
	const section = "load commands"
	if n > maxCommands {
		return f.Limit(section, 0, fmt.Sprintf("at most %d load commands, not %d", maxCommands, n))
	}
	b, err := f.View(section, at, int64(size), fmt.Sprintf("%d bytes of load commands", size))
	if err != nil {
		return err
	}
	off := 0
	for i := range n {
		if len(b)-off < 8 {
			return f.Corrupt(section, uint64(off), fmt.Sprintf("command %d of %d", i, n))
		}
		r := native.Fields{B: b[off:], Order: f.Order}
		kind, length := r.U32(0), r.U32(4)
		if length < 8 || uint64(length) > uint64(len(b)-off) {
			return f.Corrupt(section, uint64(off), fmt.Sprintf("a command of at most %d bytes, not %d", len(b)-off, length))
		}
		if err := f.command(kind, native.Fields{B: b[off : off+int(length)], Order: f.Order}, uint64(off)); err != nil {
			return err
		}
		off += int(length)
	}
	f.sections = make([]native.LazySection, len(f.headers))
	return nil
}

// command reads one load command; off is where it stands, for errors.
func (f *File) command(kind uint32, r native.Fields, off uint64) error {
	need := func(n int, what string) error {
		if len(r.B) < n {
			return f.Corrupt("load commands", off, "a whole "+what)
		}
		return nil
	}
	switch kind {
	case lcSegment, lcSegment64:
		return f.segment(r, kind == lcSegment64, off)
	case lcUUID:
		if err := need(24, "UUID"); err != nil {
			return err
		}
		f.uuid = bytes.Clone(r.B[8:24])
	case lcSymtab:
		if err := need(24, "symbol table command"); err != nil {
			return err
		}
		f.symbols.off, f.symbolCount = uint64(r.U32(8)), r.U32(12)
		f.strings = piece{uint64(r.U32(16)), uint64(r.U32(20))}
		entry := uint64(12)
		if f.wide {
			entry = 16
		}
		f.symbols.size = uint64(f.symbolCount) * entry
	case lcFunctionStarts, lcExportsTrie:
		if err := need(16, "linkedit command"); err != nil {
			return err
		}
		p := piece{uint64(r.U32(8)), uint64(r.U32(12))}
		if kind == lcExportsTrie {
			f.exports = p
		} else {
			f.starts = p
		}
	case lcDyldInfo, lcDyldInfoOnly:
		if err := need(48, "dyld info command"); err != nil {
			return err
		}
		f.exports = piece{uint64(r.U32(40)), uint64(r.U32(44))}
	case lcIDDylib:
		if err := need(24, "library command"); err != nil {
			return err
		}
		if at := uint64(r.U32(8)); at < uint64(len(r.B)) {
			f.install = cstring(r.B[at:])
		}
	}
	return nil
}

// segment reads a segment and its section headers.
func (f *File) segment(r native.Fields, wide bool, off uint64) error {
	head, each := 56, 68
	if wide {
		head, each = 72, 80
	}
	if len(r.B) < head {
		return f.Corrupt("load commands", off, "a whole segment command")
	}
	s := machoSegment{name: cstring(r.B[8:24])}
	var n uint32
	if wide {
		s.addr, s.size, s.off, s.stored = r.U64(24), r.U64(32), r.U64(40), r.U64(48)
		s.maximal, s.initial, n = r.U32(56), r.U32(60), r.U32(64)
	} else {
		s.addr, s.size, s.off, s.stored = uint64(r.U32(24)), uint64(r.U32(28)), uint64(r.U32(32)), uint64(r.U32(36))
		s.maximal, s.initial, n = r.U32(40), r.U32(44), r.U32(48)
	}
	if s.addr+s.size < s.addr {
		return f.Corrupt("load commands", off, fmt.Sprintf("segment %.16q inside the address space", s.name))
	}
	if uint64(n)*uint64(each) > uint64(len(r.B)-head) {
		return f.Corrupt("load commands", off, fmt.Sprintf("%d sections in a command of %d bytes", n, len(r.B)))
	}
	if len(f.headers)+int(n) > maxMachoSections {
		return f.Limit("load commands", off, fmt.Sprintf("at most %d sections", maxMachoSections))
	}
	f.segments = append(f.segments, s)
	last := s.off
	for i := range int(n) {
		r := native.Fields{B: r.B[head+i*each:], Order: f.Order}
		h := machoSection{name: cstring(r.B[:16]), segment: cstring(r.B[16:32])}
		if wide {
			h.addr, h.size, h.off = r.U64(32), r.U64(40), uint64(r.U32(48))
			h.relocs, h.relocCount, h.flags = r.U32(56), r.U32(60), r.U32(64)
		} else {
			h.addr, h.size, h.off = uint64(r.U32(32)), uint64(r.U32(36)), uint64(r.U32(40))
			h.relocs, h.relocCount, h.flags = r.U32(48), r.U32(52), r.U32(56)
		}
		if h.code() && h.addr+h.size < h.addr {
			return f.Corrupt(h.name, 0, "code inside the address space")
		}
		if h.stored() {
			// The field has 32 bits: in a file above 4 GiB it holds the low ones of
			// an offset that ascends from section to section.
			if h.off < last && s.off <= uint64(f.In.Size) && s.stored <= uint64(f.In.Size)-s.off {
				wraps := (last - h.off + 1<<32 - 1) >> 32
				if at := h.off + wraps<<32; at < s.off+s.stored {
					h.off = at
				}
			}
			last = h.off
		}
		f.headers = append(f.headers, h)
	}
	return nil
}

// cstring is b up to its first NUL.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// Arch is the name of the architecture.
func (f *File) Arch() string { return MachoArch(f.cpu, f.subtype) }

// AddrSize is 4 or 8. (arm64_32 has 64-bit registers and 32-bit addresses.)
func (f *File) AddrSize() int {
	if f.wide {
		return 8
	}
	return 4
}

// Relocatable reports whether this is an object file.
func (f *File) Relocatable() bool { return f.kind == machoObject }

// DSYM reports whether this is a debug file, which holds code of no section.
func (f *File) DSYM() bool { return f.kind == machoDSYM }

// UUID is the image's identity, nil if it carries none. It must not be changed.
func (f *File) UUID() []byte { return f.uuid }

// InstallName is the path by which a library is linked, or "".
func (f *File) InstallName() string { return f.install }

// HasSection reports whether there is a header of that section, with bytes or not.
func (f *File) HasSection(segment, name string) bool {
	return slices.ContainsFunc(f.headers, func(h machoSection) bool { return h.segment == segment && h.name == name })
}

// Base is the image base: the address of __TEXT; 0 in an object file.
func (f *File) Base() uint64 {
	for i := range f.segments {
		if f.segments[i].name == "__TEXT" {
			return f.segments[i].addr
		}
	}
	return 0
}

// Code is the sections with instructions, ascending and disjoint; of an image
// that has lost their headers, its executable segments. Nothing below Base is
// in it: it has no position.
func (f *File) Code() []native.Span {
	var spans []native.Span
	for i := range f.headers {
		if h := &f.headers[i]; h.code() {
			spans = append(spans, native.Span{Start: h.addr, End: h.addr + h.size})
		}
	}
	if len(spans) == 0 {
		spans = f.executable()
	}
	return native.Disjoint(spans, f.Base())
}

// End is the first address behind the executable segments and Code.
func (f *File) End() uint64 {
	var end uint64
	for _, s := range append(f.executable(), f.Code()...) {
		end = max(end, s.End)
	}
	return end
}

func (f *File) executable() (spans []native.Span) {
	for i := range f.segments {
		if s := &f.segments[i]; s.initial&protExecute != 0 && s.size > 0 {
			spans = append(spans, native.Span{Start: s.addr, End: s.addr + s.size})
		}
	}
	return spans
}
