package pdb

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// bytesOf is bytes that are written one after the other, little-endian.
type bytesOf struct{ b []byte }

func (w *bytesOf) u8(v ...byte) *bytesOf { w.b = append(w.b, v...); return w }
func (w *bytesOf) u16(v ...uint16) *bytesOf {
	for _, v := range v {
		w.b = binary.LittleEndian.AppendUint16(w.b, v)
	}
	return w
}
func (w *bytesOf) u32(v ...uint32) *bytesOf {
	for _, v := range v {
		w.b = binary.LittleEndian.AppendUint32(w.b, v)
	}
	return w
}
func (w *bytesOf) str(s string) *bytesOf { w.b = append(append(w.b, s...), 0); return w }

// record writes a symbol or a type.
func (w *bytesOf) record(kind uint16, body *bytesOf) *bytesOf {
	for len(body.b)%4 != 2 {
		body.u8(0)
	}
	return w.u16(uint16(len(body.b)+2), kind).u8(body.b...)
}

func (w *bytesOf) proc(at, size, end uint32, name string) *bytesOf {
	return w.record(0x1110, new(bytesOf).u32(0, end, 0, size, 0, 0, 0, at).u16(1).u8(0).str(name))
}

func (w *bytesOf) end() *bytesOf { return w.record(6, new(bytesOf)) }

func (w *bytesOf) public(at uint32, name string) *bytesOf {
	return w.record(0x110e, new(bytesOf).u32(2, at).u16(1).str(name))
}

// lines writes a subsection with the lines of code at an offset; rows are files, offsets and lines.
func (w *bytesOf) lines(at, size uint32, rows ...[3]uint32) *bytesOf {
	body := new(bytesOf).u32(at).u16(1, 0).u32(size)
	for _, r := range rows {
		body.u32(r[0], 1, 20, r[1], r[2])
	}
	return w.u32(0xf2, uint32(len(body.b))).u8(body.b...)
}

// made is a PDB file that a test makes: an image with one section of code at 0x1000, and files a.cpp and b.h.
type made struct {
	machine               uint16
	symbols, publics, ids bytesOf
	sections              bytesOf // beside the table of files
	more                  bytesOf // contributions beside the module's
	old                   bytesOf // section headers before code was moved
	moves                 bytesOf
}

const codeBytes = 0x10000

func header(at uint32) *bytesOf {
	return new(bytesOf).u8([]byte(".text\x00\x00\x00")...).u32(codeBytes, at, 0, 0, 0, 0, 0, 0x60000020)
}

func (m *made) bytes() []byte {
	module := new(bytesOf).u32(4).u8(m.symbols.b...)
	symbols := uint32(len(module.b))
	files := new(bytesOf).u32(0xf4, 16, 1, 0, 7, 0)
	module.u8(files.b...).u8(m.sections.b...)

	entry := new(bytesOf).u32(0).u8(make([]byte, 28)...).u16(0, 6).u32(symbols, 0, uint32(len(module.b))-symbols).u8(make([]byte, 16)...).u8(0, 0, 0, 0)
	contributions := new(bytesOf).u32(0xeffe0000+19970605).u16(1, 0).u32(0, codeBytes/2, 0x60000020).u16(0, 0).u32(0, 0).u8(m.more.b...)
	streams := new(bytesOf)
	for i := range 11 {
		n := uint16(noStream)
		switch {
		case i == extraSections:
			n = 7
		case i == extraOldSections && len(m.old.b) > 0:
			n = 9
		case i == extraOMAPFrom && len(m.old.b) > 0:
			n = 10
		}
		streams.u16(n)
	}
	machine := m.machine
	if machine == 0 {
		machine = 0x8664
	}
	dbi := new(bytesOf).u32(^uint32(0), 19990903, 1).u16(noStream, 0, noStream, 0, 5, 0)
	dbi.u32(uint32(len(entry.b)), uint32(len(contributions.b)), 0, 0, 0, 0, uint32(len(streams.b)), 0).u16(0, machine).u32(0)
	dbi.u8(entry.b...).u8(contributions.b...).u8(streams.b...)

	names := new(bytesOf).u8(0).str("a.cpp").str("b.h")
	text := new(bytesOf).u32(0xeffeeffe, 1, uint32(len(names.b))).u8(names.b...)
	info := new(bytesOf).u32(20000404, 1, 1, 1, 2, 3, 4, 7).str("/names").u32(1, 1, 1, 1, 0, 0, 8)
	n := uint32(0)
	for b := m.ids.b; len(b) > 0; b = b[2+int(u16(b)):] {
		n++
	}
	ids := new(bytesOf).u32(20040203, 56, 0x1000, 0x1000+n, uint32(len(m.ids.b))).u16(noStream, noStream).u8(make([]byte, 32)...).u8(m.ids.b...)
	return container(nil, info.b, nil, dbi.b, ids.b, m.publics.b, module.b, header(0x1000).b, text.b, m.old.b, m.moves.b)
}

// container is an MSF file of blocks of 512 bytes with these streams.
func container(streams ...[]byte) []byte {
	const block = 512
	file := make([]byte, 3*block)
	put := func(b []byte) *bytesOf {
		list := new(bytesOf)
		for ; len(b) > 0; b = b[min(len(b), block):] {
			list.u32(uint32(len(file) / block))
			file = append(file, b[:min(len(b), block)]...)
			file = append(file, make([]byte, (block-len(file)%block)%block)...)
		}
		return list
	}
	dir, lists := new(bytesOf).u32(uint32(len(streams))), new(bytesOf)
	for _, s := range streams {
		dir.u32(uint32(len(s)))
		lists.u8(put(s).b...)
	}
	dir.u8(lists.b...)
	where := put(put(dir.b).b)
	head := new(bytesOf).u8([]byte(fileMagic)...).u32(block, 1, uint32(len(file)/block), uint32(len(dir.b)), 0).u8(where.b...)
	copy(file, head.b)
	return file
}

const fileMagic = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

func (m *made) input() *formats.Input {
	return formattest.InputOf("a.pdb", m.bytes(), formats.Limits{})
}
