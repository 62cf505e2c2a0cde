package all_test

import (
	"fmt"

	"github.com/symlake/symlake/formats/formattest"
)

const pdbBlock = 4096

// pdbOf is a PDB file of one module with these symbol records and subsections, and public symbols. Its code is one section.
func pdbOf(symbols, sections, publics, ids *blob) []byte {
	module := new(blob).u32(4).u8(symbols.b...)
	for len(module.b)%4 != 0 {
		module.u8(0)
	}
	symbolBytes := len(module.b)
	module.u8(sections.b...).u32(0)

	entry := new(blob).u32(0).u8(make([]byte, 28)...).u16(0).u16(6).u32(uint32(symbolBytes)).u32(0).u32(uint32(len(sections.b))).u8(make([]byte, 16)...).u8(0, 0)
	for len(entry.b)%4 != 0 {
		entry.u8(0)
	}
	contributions := new(blob).u32(0xeffe0000 + 19970605).u16(1).u16(0).u32(0).u32(codeBytes).u32(0x60000020).u16(0).u16(0).u32(0).u32(0)
	streams := new(blob)
	for i := range 11 {
		if i == 5 {
			streams.u16(7)
		} else {
			streams.u16(0xffff)
		}
	}
	dbi := new(blob).u32(0xffffffff).u32(19990903).u32(1).u16(0xffff).u16(0).u16(0xffff).u16(0).u16(5).u16(0)
	dbi.u32(uint32(len(entry.b))).u32(uint32(len(contributions.b))).u32(0).u32(0).u32(0).u32(0).u32(uint32(len(streams.b))).u32(0).u16(0).u16(0x8664).u32(0)
	dbi.u8(entry.b...).u8(contributions.b...).u8(streams.b...)

	names := new(blob).u8(0).str("a.cpp")
	text := new(blob).u32(0xeffeeffe).u32(1).u32(uint32(len(names.b))).u8(names.b...)
	info := new(blob).u32(20000404).u32(1).u32(1).u64(1).u64(2).u32(7).str("/names").u32(1).u32(1).u32(1).u32(1).u32(0).u32(0).u32(8)
	head := new(blob).u8([]byte(".text\x00\x00\x00")...).u32(codeBytes).u32(codeStart).u32(0).u32(0).u32(0).u32(0).u32(0).u32(0x60000020)

	n := uint32(0)
	for b := ids.b; len(b) > 0; b = b[2+int(b[0])+int(b[1])<<8:] {
		n++
	}
	id := new(blob).u32(20040203).u32(56).u32(0x1000).u32(0x1000 + n).u32(uint32(len(ids.b))).u16(0xffff).u16(0xffff).u8(make([]byte, 32)...).u8(ids.b...)
	return msfOf(nil, info.b, nil, dbi.b, id.b, publics.b, module.b, head.b, text.b)
}

// msfOf is a container with these streams.
func msfOf(streams ...[]byte) []byte {
	file := make([]byte, 3*pdbBlock)
	put := func(b []byte) *blob {
		list := new(blob)
		for ; len(b) > 0; b = b[min(len(b), pdbBlock):] {
			list.u32(uint32(len(file) / pdbBlock))
			file = append(file, b[:min(len(b), pdbBlock)]...)
			file = append(file, make([]byte, (pdbBlock-len(file)%pdbBlock)%pdbBlock)...)
		}
		return list
	}
	dir, lists := new(blob).u32(uint32(len(streams))), new(blob)
	for _, s := range streams {
		dir.u32(uint32(len(s)))
		lists.u8(put(s).b...)
	}
	dir.u8(lists.b...)
	where := put(put(dir.b).b)
	head := new(blob).u8([]byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00")...)
	head.u32(pdbBlock).u32(1).u32(uint32(len(file) / pdbBlock)).u32(uint32(len(dir.b))).u32(0).u8(where.b...)
	copy(file, head.b)
	return file
}

// pdbRecord adds a symbol record.
func (w *blob) pdbRecord(kind uint16, body *blob) *blob {
	for len(body.b)%4 != 2 {
		body.u8(0)
	}
	return w.u16(uint16(len(body.b) + 2)).u16(kind).u8(body.b...)
}

func (w *blob) pdbProc(at, size, end uint32, name string) *blob {
	return w.pdbRecord(0x1110, new(blob).u32(0).u32(end).u32(0).u32(size).u32(0).u32(0).u32(0).u32(at).u16(1).u8(0).str(name))
}

// pdbSites are n inline sites, each in the one before if they nest, in a procedure of 16n bytes.
func pdbSites(n int, nested bool) *blob {
	sites := new(blob)
	for i := range n {
		site := new(blob).u32(0).u32(0).u32(0x1000)
		if nested {
			site.u8(3, 1, 4, 0xc0|byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		} else {
			site.u8(1, 0xc0, byte(i>>12), byte(i>>4), byte(i<<4), 4, 8)
		}
		sites.pdbRecord(0x114d, site)
		if !nested {
			sites.pdbRecord(0x114e, new(blob))
		}
	}
	for range n {
		if nested {
			sites.pdbRecord(0x114e, new(blob))
		}
	}
	return sites
}

// pdbSections are a table of one file, lines of code, and an inlined function.
func pdbSections(n, size int) *blob {
	w := new(blob).u32(0xf4).u32(8).u32(1).u32(0)
	rows := new(blob)
	for i := range n {
		rows.u32(uint32(i * size)).u32(uint32(i&0xffff | 1))
	}
	w.u32(0xf2).u32(uint32(24 + len(rows.b))).u32(0).u16(1).u16(0).u32(uint32(n * size)).u32(0).u32(uint32(n)).u32(uint32(12 + len(rows.b))).u8(rows.b...)
	return w.u32(0xf6).u32(16).u32(0).u32(0x1000).u32(0).u32(7)
}

var pdbShapes = []formattest.Shape{
	pdbShape("procedures", 4000, func(n int) []byte {
		symbols, publics := new(blob), new(blob)
		for i := range n {
			symbols.pdbProc(uint32(16*i), 16, 0, fmt.Sprint("f", i)).pdbRecord(6, new(blob))
			publics.pdbRecord(0x110e, new(blob).u32(2).u32(uint32(16*i)).u16(1).str(fmt.Sprintf("?f%d@@YAXXZ", i)))
		}
		return pdbOf(symbols, pdbSections(2*n, 8), publics, pdbIDs(1))
	}),
	pdbShape("publics-of-one-place", 4000, func(n int) []byte {
		publics := new(blob)
		for i := range n {
			publics.pdbRecord(0x110e, new(blob).u32(2).u32(0).u16(1).str(fmt.Sprintf("?f%d@@YAXXZ", i)))
		}
		return pdbOf(new(blob), new(blob), publics, pdbIDs(1))
	}),
	pdbShape("procedures-of-one-place", 4000, func(n int) []byte {
		symbols := new(blob)
		for i := range n {
			symbols.pdbProc(0, 16, 0, fmt.Sprint("f", i)).pdbRecord(6, new(blob))
		}
		return pdbOf(symbols, pdbSections(2, 8), new(blob), pdbIDs(1))
	}),
	pdbShape("inline-sites", 3000, func(n int) []byte {
		symbols := new(blob).pdbProc(0, uint32(16*n), 1<<30, "f").u8(pdbSites(n, false).b...)
		return pdbOf(symbols, pdbSections(2*n, 8), new(blob), pdbIDs(1))
	}),
	pdbShape("inline-nest", 400, func(n int) []byte {
		symbols := new(blob).pdbProc(0, uint32(4*n), 1<<30, "f").u8(pdbSites(n, true).b...)
		return pdbOf(symbols, pdbSections(1, 4*n), new(blob), pdbIDs(1))
	}),
	pdbShape("inlined-functions", 3000, func(n int) []byte {
		symbols := new(blob).pdbProc(0, uint32(16*n), 1<<30, "f")
		for i := range n {
			symbols.pdbRecord(0x114d, new(blob).u32(0).u32(0).u32(0x1000+uint32(i)).u8(1, 0xc0, byte(i>>12), byte(i>>4), byte(i<<4), 4, 8)).pdbRecord(0x114e, new(blob))
		}
		return pdbOf(symbols, pdbSections(1, 16*n), new(blob), pdbIDs(n))
	}),
}

// pdbIDs are the ids of n functions.
func pdbIDs(n int) *blob {
	w := new(blob)
	for i := range n {
		w.pdbRecord(0x1601, new(blob).u32(0).u32(0).str(fmt.Sprint("inlined", i)))
	}
	return w
}

func pdbShape(name string, n int, make func(n int) []byte) formattest.Shape {
	return formattest.Shape{Name: "pdb/" + name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		return []formattest.File{{Name: "a.pdb", Bytes: make(n)}}
	}}
}
