// Package elffile reads the headers, sections, notes and symbol tables of ELF files. It relocates the
// debug sections of relocatable files.
package elffile

import (
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// The numbers of the ELF specification that are used here.
const (
	typeRel  = 1 // ET_REL
	typeCore = 4 // ET_CORE

	ptLoad   = 1
	ptNote   = 4
	segExec  = 1 // PF_X
	segXnum  = 0xffff
	shnXnum  = 0xffff
	shnUndef = 0
	shnLow   = 0xff00 // SHN_LORESERVE
	shnAbs   = 0xfff1
	shnComm  = 0xfff2

	shtSymtab = 2
	shtStrtab = 3
	shtRela   = 4
	shtNote   = 7
	shtNobits = 8
	shtRel    = 9
	shtDynsym = 11
	shtShndx  = 18 // SHT_SYMTAB_SHNDX

	shfAlloc      = 1 << 1
	shfExec       = 1 << 2
	shfTLS        = 1 << 10
	shfGroup      = 1 << 9
	shfCompressed = 1 << 11

	maxSections = 1 << 20 // -ffunction-sections gives 100,000 in real objects
	maxSegments = 1 << 16
)

// header is one section header.
type header struct {
	name             string
	nameOff          uint32
	kind             uint32
	flags            uint64
	addr, off, size  uint64
	link, info       uint32
	align, entrySize uint64
}

// segment is one program header.
type segment struct {
	kind, flags              uint32
	off, addr, filesz, memsz uint64
	align                    uint64
}

// File is an ELF file's headers, and the way to its sections. It is safe for
// concurrent use. Close gives back what sections were spooled to.
type File struct {
	native.Source
	wide    bool // ELFCLASS64
	kind    uint16
	machine uint16
	flags   uint32

	headers  []header
	segments []segment
	places   []uint64 // where each section lies, unslid; ET_REL: laid out
	end      uint64   // ET_REL: end of the layout

	sections []native.LazySection // parallel to headers
}

// Open reads the headers of an ELF file. A file with section headers that are
// cut off or overlap nonsense is ErrCorrupt; contents are checked when they
// are asked for.
func Open(in *formats.Input) (*File, error) {
	ident, err := in.View(0, min(16, in.Size))
	if err != nil {
		return nil, err
	}
	f := &File{Source: native.Source{In: in, Format: "elf"}}
	switch {
	case len(ident) < 16 || string(ident[:4]) != "\x7fELF":
		return nil, corrupt("", 0, "an ELF header")
	case ident[4] != 1 && ident[4] != 2:
		return nil, unsupported("", 4, fmt.Sprintf("class 1 or 2, not %d", ident[4]))
	case ident[5] != 1 && ident[5] != 2:
		return nil, unsupported("", 5, fmt.Sprintf("byte order 1 or 2, not %d", ident[5]))
	}
	f.wide = ident[4] == 2
	f.Order = ident[5] == 2
	size := int64(52)
	if f.wide {
		size = 64
	}
	b, err := f.View("", 0, size, "a whole ELF header")
	if err != nil {
		return nil, err
	}
	r := native.Fields{B: b, Order: f.Order}
	f.kind, f.machine = r.U16(16), r.U16(18)
	var phoff, shoff uint64
	var tail int // e_flags
	if f.wide {
		phoff, shoff, tail = r.U64(32), r.U64(40), 48
	} else {
		phoff, shoff, tail = uint64(r.U32(28)), uint64(r.U32(32)), 36
	}
	f.flags = r.U32(tail)
	phentsize, phnum := r.U16(tail+6), uint32(r.U16(tail+8))
	shentsize, shnum, shstrndx := r.U16(tail+10), uint32(r.U16(tail+12)), uint32(r.U16(tail+14))
	if shoff != 0 {
		if err := f.readSections(shoff, shentsize, shnum, &shstrndx, &phnum); err != nil {
			return nil, err
		}
	}
	if phoff != 0 && phnum != 0 {
		if err := f.readSegments(phoff, phentsize, phnum); err != nil {
			return nil, err
		}
	}
	if err := f.nameSections(shstrndx); err != nil {
		return nil, err
	}
	return f, f.layOut()
}

// readSections reads the section headers; the first one holds what the file
// header has no room for.
func (f *File) readSections(shoff uint64, entsize uint16, n uint32, shstrndx, phnum *uint32) error {
	want := uint16(40)
	if f.wide {
		want = 64
	}
	if entsize < want {
		return corrupt("", 0, fmt.Sprintf("section headers of %d bytes, not %d", want, entsize))
	}
	first, err := f.View("", shoff, int64(want), "the first section header")
	if err != nil {
		return err
	}
	zero := f.header(first)
	if n == 0 {
		if zero.size > maxSections {
			return limit("", shoff, fmt.Sprintf("at most %d sections, not %d", maxSections, zero.size))
		}
		n = uint32(zero.size)
	}
	if *shstrndx == shnXnum {
		*shstrndx = zero.link
	}
	if *phnum == segXnum {
		*phnum = zero.info
	}
	if n > maxSections {
		return limit("", shoff, fmt.Sprintf("at most %d sections, not %d", maxSections, n))
	}
	b, err := f.View("", shoff, int64(n)*int64(entsize), "section headers inside the file")
	if err != nil {
		return err
	}
	f.headers = make([]header, n)
	for i := range f.headers {
		f.headers[i] = f.header(b[i*int(entsize):])
	}
	f.sections = make([]native.LazySection, n)
	return nil
}

func (f *File) header(b []byte) header {
	r := native.Fields{B: b, Order: f.Order}
	h := header{nameOff: r.U32(0), kind: r.U32(4)}
	if f.wide {
		h.flags, h.addr, h.off, h.size = r.U64(8), r.U64(16), r.U64(24), r.U64(32)
		h.link, h.info, h.align, h.entrySize = r.U32(40), r.U32(44), r.U64(48), r.U64(56)
	} else {
		h.flags, h.addr, h.off, h.size = uint64(r.U32(8)), uint64(r.U32(12)), uint64(r.U32(16)), uint64(r.U32(20))
		h.link, h.info, h.align, h.entrySize = r.U32(24), r.U32(28), uint64(r.U32(32)), uint64(r.U32(36))
	}
	return h
}

func (f *File) readSegments(phoff uint64, entsize uint16, n uint32) error {
	want := uint16(32)
	if f.wide {
		want = 56
	}
	if entsize < want {
		return corrupt("", 0, fmt.Sprintf("program headers of %d bytes, not %d", want, entsize))
	}
	if n > maxSegments {
		return limit("", phoff, fmt.Sprintf("at most %d program headers, not %d", maxSegments, n))
	}
	b, err := f.View("", phoff, int64(n)*int64(entsize), "program headers inside the file")
	if err != nil {
		return err
	}
	f.segments = make([]segment, n)
	for i := range f.segments {
		r := native.Fields{B: b[i*int(entsize):], Order: f.Order}
		s := &f.segments[i]
		s.kind = r.U32(0)
		if f.wide {
			s.flags, s.off, s.addr, s.filesz, s.memsz, s.align = r.U32(4), r.U64(8), r.U64(16), r.U64(32), r.U64(40), r.U64(48)
		} else {
			s.off, s.addr = uint64(r.U32(4)), uint64(r.U32(8))
			s.filesz, s.memsz, s.flags, s.align = uint64(r.U32(16)), uint64(r.U32(20)), r.U32(24), uint64(r.U32(28))
		}
	}
	return nil
}

func (f *File) nameSections(shstrndx uint32) error {
	if len(f.headers) == 0 || shstrndx == shnUndef {
		return nil
	}
	if uint64(shstrndx) >= uint64(len(f.headers)) {
		return corrupt("", 0, fmt.Sprintf("a section name table below section %d, not %d", len(f.headers), shstrndx))
	}
	table, err := f.raw(int(shstrndx))
	if err != nil {
		return err
	}
	b, err := table.View(0, table.Size)
	if err != nil {
		return err
	}
	n := native.NameTable{File: &f.Source, Section: "section names", B: b, Max: 1 << 20}
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind != 0 && uint64(h.nameOff) >= uint64(len(b)) {
			return corrupt(n.Section, uint64(h.nameOff), fmt.Sprintf("the name of section %d", i))
		}
		if h.name, err = n.At(uint64(h.nameOff)); err != nil {
			return err
		}
	}
	return nil
}

// Relocatable reports whether this is an object file or kernel module.
func (f *File) Relocatable() bool { return f.kind == typeRel }

// AddrSize is 4 or 8.
func (f *File) AddrSize() int {
	if f.wide {
		return 8
	}
	return 4
}

func corrupt(section string, off uint64, want string) error {
	return &formats.Error{Format: "elf", Section: section, Offset: int64(off), Want: want, Err: formats.ErrCorrupt}
}

func unsupported(section string, off uint64, want string) error {
	return &formats.Error{Format: "elf", Section: section, Offset: int64(off), Want: want, Err: formats.ErrUnsupported}
}

func limit(section string, off uint64, want string) error {
	return &formats.Error{Format: "elf", Section: section, Offset: int64(off), Want: want, Err: formats.ErrLimit}
}
