// Package pefile reads the headers, sections, directories and symbol tables of Windows images: PE32 and PE32+, of any
// processor, as MSVC, LLVM, Go and MinGW link them.
//
// Invariants:
//   - bytes of every section lie inside the file: a file that was cut short is rejected;
//   - a directory that leads nowhere counts as absent: a debug file has lost the bytes of most sections;
//   - addresses of functions and symbols are unslid: the image base and the relative address.
package pefile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// Machines of images.
const (
	MachineX86     = 0x14c
	MachineARM     = 0x1c0
	MachineThumb   = 0x1c2
	MachineARMNT   = 0x1c4
	MachineX64     = 0x8664
	MachineARM64   = 0xaa64
	MachineARM64EC = 0xa641
	MachineARM64X  = 0xa64e
	machineRISCV32 = 0x5032
	machineRISCV64 = 0x5064
	machineLoong64 = 0x6264
)

// Directories of an image.
const (
	DirExport    = 0
	DirException = 3
	DirDebug     = 6
	DirCLR       = 14
	directories  = 16
)

const (
	dosBytes     = 64
	headerBytes  = 24 // the signature and the file header
	sectionBytes = 40

	flagDiscardable = 0x02000000
	flagExecute     = 0x20000000
	flagRead        = 0x40000000
	flagWrite       = 0x80000000
)

// Directory is where a table of an image lies.
type Directory struct{ Addr, Size uint32 }

// File is an image's headers, and the way to its contents. It is safe for concurrent use. Close gives back what sections
// were spooled to.
type File struct {
	native.Source
	machine     uint16
	wide        bool
	timestamp   uint32
	flags       uint16 // characteristics of the file
	base        uint64
	imageBytes  uint32
	headerEnd   uint32
	directories [directories]Directory
	symbolAt    uint32
	symbolCount uint32
	headers     []Section
	byAddr      []int32 // headers, ascending by address
	sections    []native.LazySection
}

// Section is the header of a section.
type Section struct {
	Name   string // in full
	Addr   uint32 // from the image base
	Size   uint32 // in memory
	Offset uint32 // in the file
	Stored uint32 // bytes of it in the file
	Flags  uint32
}

// Executed reports whether the section holds code.
func (s *Section) Executed() bool { return s.Flags&flagExecute != 0 && s.Size > 0 }

// Known reports whether head begins an image.
func Known(head []byte) bool {
	if len(head) < dosBytes || head[0] != 'M' || head[1] != 'Z' {
		return false
	}
	at := binary.LittleEndian.Uint32(head[60:])
	return uint64(at)+headerBytes <= uint64(len(head)) && string(head[at:at+4]) == "PE\x00\x00"
}

// Open reads the headers of an image.
func Open(in *formats.Input) (*File, error) {
	f := &File{Source: native.Source{In: in, Format: "pe"}}
	dos, err := f.View("", 0, dosBytes, "an image's first header")
	if err != nil {
		return nil, err
	}
	at := uint64(binary.LittleEndian.Uint32(dos[60:]))
	if string(dos[:2]) != "MZ" {
		return nil, f.Corrupt("", 0, "an image's first header")
	}
	b, err := f.View("", at, headerBytes, "a whole file header")
	if err != nil {
		return nil, err
	}
	if string(b[:4]) != "PE\x00\x00" {
		return nil, f.Corrupt("", at, "the signature of an image")
	}
	r := native.Fields{B: b}
	f.machine, f.timestamp = r.U16(4), r.U32(8)
	f.symbolAt, f.symbolCount, f.flags = r.U32(12), r.U32(16), r.U16(22)
	count, optional := int(r.U16(6)), int64(r.U16(20))
	at += headerBytes
	if err := f.readOptional(at, optional); err != nil {
		return nil, err
	}
	return f, f.readSections(at+uint64(optional), count)
}

// readOptional reads the header that objects lack.
func (f *File) readOptional(at uint64, size int64) error {
	b, err := f.View("", at, size, "a whole optional header")
	if err != nil {
		return err
	}
	r := native.Fields{B: b}
	fixed := 96
	if size >= 2 && r.U16(0) == 0x20b {
		f.wide, fixed = true, 112
	}
	switch {
	case size < int64(fixed):
		return f.Corrupt("", at, fmt.Sprintf("an optional header of %d bytes, not %d", fixed, size))
	case f.wide:
		f.base = r.U64(24)
	case r.U16(0) == 0x10b:
		f.base = uint64(r.U32(28))
	default:
		return &formats.Error{Format: f.Format, Offset: int64(at), Want: fmt.Sprintf("an optional header of kind 0x10b or 0x20b, not %#x", r.U16(0)), Err: formats.ErrUnsupported}
	}
	f.imageBytes, f.headerEnd = r.U32(56), r.U32(60)
	if f.base > math.MaxUint64-1<<33 {
		return f.Corrupt("", at, fmt.Sprintf("an image inside the address space, not at %#x", f.base))
	}
	n := min(int64(r.U32(fixed-4)), directories, (size-int64(fixed))/8)
	for i := range int(n) {
		f.directories[i] = Directory{Addr: r.U32(fixed + 8*i), Size: r.U32(fixed + 8*i + 4)}
	}
	return nil
}

// readSections reads the headers of sections.
func (f *File) readSections(at uint64, n int) error {
	b, err := f.View("", at, int64(n)*sectionBytes, fmt.Sprintf("%d section headers inside the file", n))
	if err != nil {
		return err
	}
	names, err := f.stringTable()
	if err != nil {
		return err
	}
	f.headers = make([]Section, n)
	f.sections = make([]native.LazySection, n)
	for i := range f.headers {
		r := native.Fields{B: b[i*sectionBytes:]}
		s := &f.headers[i]
		s.Size, s.Addr, s.Stored, s.Offset, s.Flags = r.U32(8), r.U32(12), r.U32(16), r.U32(20), r.U32(36)
		if s.Name, err = sectionName(r.B[:8], names); err != nil {
			return err
		}
		if s.Offset == 0 {
			s.Stored = 0
		}
		if s.Size == 0 {
			s.Size = s.Stored
		}
		if uint64(s.Addr)+uint64(s.Size) > math.MaxUint32 {
			return f.Corrupt("", at+uint64(i)*sectionBytes, fmt.Sprintf("section %.32q inside 4 GiB", s.Name))
		}
		s.Stored = min(s.Stored, s.Size) // the rest fills a block of the file
		if uint64(s.Offset)+uint64(s.Stored) > uint64(f.In.Size) {
			return f.Corrupt(s.Name, 0, fmt.Sprintf("%d bytes at %#x of the file", s.Stored, s.Offset))
		}
		f.byAddr = append(f.byAddr, int32(i))
	}
	slices.SortStableFunc(f.byAddr, func(a, b int32) int { return cmp.Compare(f.headers[a].Addr, f.headers[b].Addr) })
	return nil
}

// Machine returns the processor, one of the constants or any other number.
func (f *File) Machine() uint16 { return f.machine }

// Arch returns the name of the processor.
func (f *File) Arch() string {
	switch f.machine {
	case MachineX86:
		return "x86"
	case MachineX64:
		return "x86_64"
	case MachineARM, MachineThumb, MachineARMNT:
		return "arm"
	case MachineARM64, MachineARM64EC, MachineARM64X:
		return "arm64"
	case machineRISCV32:
		return "riscv32"
	case machineRISCV64:
		return "riscv64"
	case machineLoong64:
		return "loongarch64"
	}
	return fmt.Sprintf("pe-%#x", f.machine)
}

// Thumb reports whether the lowest bit of a function's address tells Thumb code.
func (f *File) Thumb() bool { return f.Arch() == "arm" }

// AddrSize is 4 or 8.
func (f *File) AddrSize() int {
	if f.wide {
		return 8
	}
	return 4
}

// Base is the address that the image was linked for.
func (f *File) Base() uint64 { return f.base }

// ImageBytes is the size of the image in memory, as its header says.
func (f *File) ImageBytes() uint32 { return f.imageBytes }

// Timestamp is the time stamp of the file header. Reproducible images have a hash there.
func (f *File) Timestamp() uint32 { return f.timestamp }

// CodeID is how symbol servers name an image besides its file's name: its time stamp and its size.
func (f *File) CodeID() string { return fmt.Sprintf("%08X%x", f.timestamp, f.imageBytes) }

// Directory returns a directory of the image; zero: there is none.
func (f *File) Directory(i int) Directory { return f.directories[i] }

// Sections returns the headers of the sections, in the file's order. They must not be changed.
func (f *File) Sections() []Section { return f.headers }

// Code is the sections with code by their size in memory, ascending and disjoint: a debug file has the same as its
// image, without bytes.
func (f *File) Code() []native.Span {
	var spans []native.Span
	for i := range f.headers {
		if s := &f.headers[i]; s.Executed() {
			at := f.base + uint64(s.Addr)
			spans = append(spans, native.Span{Start: at, End: at + uint64(s.Size)})
		}
	}
	return native.Disjoint(spans, f.base)
}

// Debug reports whether this is a debug file: there is code, and no bytes of any.
func (f *File) Debug() bool {
	code := false
	for i := range f.headers {
		s := &f.headers[i]
		if s.Executed() && s.Stored > 0 {
			return false
		}
		code = code || s.Executed()
	}
	return code
}
