package all_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// blob is bytes that are written one after the other, little-endian.
type blob struct{ b []byte }

func (w *blob) u8(v ...byte) *blob { w.b = append(w.b, v...); return w }
func (w *blob) u16(v uint16) *blob { w.b = binary.LittleEndian.AppendUint16(w.b, v); return w }
func (w *blob) u32(v uint32) *blob { w.b = binary.LittleEndian.AppendUint32(w.b, v); return w }
func (w *blob) u64(v uint64) *blob { w.b = binary.LittleEndian.AppendUint64(w.b, v); return w }
func (w *blob) str(s string) *blob { w.b = append(append(w.b, s...), 0); return w }
func (w *blob) uleb(v uint64) *blob {
	w.b = binary.AppendUvarint(w.b, v)
	return w
}

// section is one of an ELF file.
type section struct {
	name  string
	kind  uint32
	flags uint64
	addr  uint64
	body  []byte
	link  uint32
	info  uint32
	size  uint64 // of an entry
}

const (
	codeStart = 0x1000
	codeBytes = 1 << 30
)

// elfOf is an ELF file of 64 bits with code, a build-id and these sections; the first of them is section 3.
func elfOf(sections ...section) string {
	note := new(blob).u32(4).u32(16).u32(3).str("GNU").u64(1).u64(2)
	all := append([]section{
		{},
		{name: ".text", kind: 8, flags: 6, addr: codeStart},
		{name: ".note.gnu.build-id", kind: 7, flags: 2, body: note.b},
	}, sections...)
	names := new(blob).u8(0)
	const headBytes = 64 + 56
	body, heads := &blob{}, &blob{}
	all = append(all, section{name: ".shstrtab", kind: 3})
	for i := range all {
		s := &all[i]
		at := len(names.b)
		names.str(s.name)
		if s.name == ".shstrtab" {
			s.body = names.b
		}
		size := uint64(len(s.body))
		if s.kind == 8 {
			size = codeBytes
		}
		if i == 0 {
			at = 0
		}
		heads.u32(uint32(at)).u32(s.kind).u64(s.flags).u64(s.addr).u64(uint64(headBytes + len(body.b))).u64(size).u32(s.link).u32(s.info).u64(1).u64(s.size)
		body.u8(s.body...)
	}
	shnum, shstrndx := len(all), len(all)-1
	if shnum >= 0xff00 { // the numbers stand in section 0
		binary.LittleEndian.PutUint64(heads.b[32:], uint64(shnum))
		binary.LittleEndian.PutUint32(heads.b[40:], uint32(shstrndx))
		shnum, shstrndx = 0, 0xffff
	}
	f := new(blob).u8(0x7f, 'E', 'L', 'F', 2, 1, 1, 0).u64(0)
	f.u16(3).u16(183).u32(1).u64(0).u64(64).u64(uint64(headBytes + len(body.b))).u32(0).u16(64).u16(56).u16(1).u16(64).u16(uint16(shnum)).u16(uint16(shstrndx))
	f.u32(1).u32(5).u64(0).u64(0).u64(0).u64(codeStart + codeBytes).u64(codeStart + codeBytes).u64(0x1000)
	return string(f.u8(body.b...).u8(heads.b...).b)
}

// symbolsOf is a symbol table in sections 3 and 4.
func symbolsOf(n int, symbol func(i int) (name string, addr, size uint64)) []section {
	names, table := new(blob).u8(0), new(blob).u64(0).u64(0).u64(0)
	for i := range n {
		name, addr, size := symbol(i)
		table.u32(uint32(len(names.b))).u8(0x12, 0).u16(1).u64(addr).u64(size)
		names.str(name)
	}
	return []section{{name: ".symtab", kind: 2, body: table.b, link: 4, info: 1, size: 24}, {name: ".strtab", kind: 3, body: names.b}}
}

// symbolShape is a shape of an ELF file that has symbols alone.
func symbolShape(name string, n int, symbol func(i int) (name string, addr, size uint64)) formattest.Shape {
	return of("elf/"+name, "a.so", n, func(n int) string { return elfOf(symbolsOf(n, symbol)...) })
}

func one(int) (string, uint64, uint64) { return "f", codeStart, 16 }

var elfShapes = []formattest.Shape{
	symbolShape("symbols", 10000, func(i int) (string, uint64, uint64) { return fmt.Sprint("f", i), codeStart + 16*uint64(i), 16 }),
	symbolShape("symbols of one name", 10000, func(i int) (string, uint64, uint64) { return "f", codeStart + 16*uint64(i), 16 }),
	symbolShape("symbols at one address", 10000, func(i int) (string, uint64, uint64) { return fmt.Sprint("f", i), codeStart, 16 }),
	symbolShape("symbols around each other", 10000, func(i int) (string, uint64, uint64) {
		return "f", codeStart + 16*uint64(i), codeBytes - 32*uint64(i)
	}),
	symbolShape("symbols over each other", 10000, func(i int) (string, uint64, uint64) { return "f", codeStart + 16*uint64(i), 1 << 20 }),
	symbolShape("symbols that grow", 10000, func(i int) (string, uint64, uint64) { return fmt.Sprint("f", i), codeStart, 16 * uint64(i) }),
	symbolShape("symbols without sizes", 10000, func(i int) (string, uint64, uint64) { return "f", codeStart + 16*uint64(i), 0 }),
	symbolShape("symbols backward", 10000, func(i int) (string, uint64, uint64) { return "f", codeStart + 1<<24 - 16*uint64(i), 16 }),
	symbolShape("long names", 20, func(i int) (string, uint64, uint64) {
		return strings.Repeat("f", 100_000) + fmt.Sprint(i), codeStart + 16*uint64(i), 16
	}),
	symbolShape("clones", 10000, func(i int) (string, uint64, uint64) {
		return fmt.Sprint("f.part.", i), codeStart + 16*uint64(i), 16
	}),
	of("elf/sections", "a.so", 3000, func(n int) string {
		all := symbolsOf(1, one)
		for i := range n {
			all = append(all, section{name: fmt.Sprint(".s", i), kind: 1, body: []byte("x")})
		}
		return elfOf(all...)
	}),
	of("elf/sections of one name", "a.so", 3000, func(n int) string {
		all := symbolsOf(1, one)
		for range n {
			all = append(all, section{name: ".comment", kind: 1, body: []byte("x")})
		}
		return elfOf(all...)
	}),
	of("elf/code sections", "a.so", 3000, func(n int) string {
		all := symbolsOf(n, func(i int) (string, uint64, uint64) { return "f", codeStart + 16*uint64(i), 16 })
		for i := range n {
			all = append(all, section{name: ".text", kind: 1, flags: 6, addr: codeStart + 16*uint64(i), body: make([]byte, 16)})
		}
		return elfOf(all...)
	}),
	of("elf/symbol tables", "a.so", 500, func(n int) string {
		all := symbolsOf(1, one)
		for range n {
			all = append(all, all[0])
		}
		return elfOf(all...)
	}),
	of("elf/notes", "a.so", 5000, func(n int) string {
		note := new(blob).u32(4).u32(4).u32(9).str("GNU").u32(7)
		return elfOf(append(symbolsOf(1, one), section{name: ".note", kind: 7, flags: 2, body: []byte(strings.Repeat(string(note.b), n))})...)
	}),
	of("elf/Rust and C++ names", "a.so", 5000, func(n int) string {
		return elfOf(symbolsOf(n, func(i int) (string, uint64, uint64) {
			return "_ZN4core3fmt9Formatter17h0123456789abcdefE", codeStart + 16*uint64(i), 16
		})...)
	}),
}
