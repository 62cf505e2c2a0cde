package all_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

const (
	peCode  = 0x1000
	peBytes = 1 << 26
	peTable = 1 << 27
)

// peSection is a section of an image of Windows. Without a body it is code.
type peSection struct {
	name string
	addr uint32
	body []byte
}

// peOf is an image of 64 bits with code and these sections; directories are the addresses and sizes of exports (0) and of the
// function table (3).
func peOf(directories map[int][2]int, sections ...peSection) string {
	return peWith(directories, nil, sections...)
}

// peWith has a symbol table too.
func peWith(directories map[int][2]int, symbols *peSymbols, sections ...peSection) string {
	sections = append([]peSection{{name: ".text", addr: peCode}}, sections...)
	head := 64 + 24 + 240 + 40*len(sections)
	end := head
	for _, s := range sections {
		end += len(s.body)
	}
	f := new(blob).u8('M', 'Z').u8(make([]byte, 58)...).u32(64).u8('P', 'E', 0, 0).u16(0x8664).u16(uint16(len(sections))).u32(1)
	if symbols != nil {
		f.u32(uint32(end)).u32(uint32(symbols.n))
	} else {
		f.u64(0)
	}
	f.u16(240).u16(0x2022).u16(0x20b).u8(make([]byte, 22)...).u64(1 << 32).u8(make([]byte, 24)...).u32(1 << 30).u32(0x400).u8(make([]byte, 44)...).u32(16)
	for i := range 16 {
		f.u32(uint32(directories[i][0])).u32(uint32(directories[i][1]))
	}
	at := head
	for _, s := range sections {
		size, off, flags := uint32(len(s.body)), uint32(at), uint32(0x40000040)
		if s.body == nil {
			size, off, flags = peBytes, 0, 0x60000020
		}
		name := [8]byte{}
		copy(name[:], s.name)
		f.u8(name[:]...).u32(size).u32(s.addr).u32(uint32(len(s.body))).u32(off).u64(0).u32(0).u32(flags)
		at += len(s.body)
	}
	for _, s := range sections {
		f.u8(s.body...)
	}
	if symbols != nil {
		f.u8(symbols.table.b...).u32(uint32(len(symbols.names.b) + 4)).u8(symbols.names.b...)
	}
	return string(f.b)
}

// peSymbols is a symbol table.
type peSymbols struct {
	n            int
	table, names blob
}

func (s *peSymbols) add(name string, value uint32) {
	s.n++
	s.table.u32(0).u32(uint32(len(s.names.b)+4)).u32(value).u16(1).u16(0x20).u8(2, 0)
	s.names.str(name)
}

// peExports is an image with n exports.
func peExports(n int, name func(i int) string, addr func(i int) int) string {
	functions, names, ordinals, text := &blob{}, &blob{}, &blob{}, &blob{}
	const head = 40
	for i := range n {
		functions.u32(uint32(addr(i)))
		names.u32(uint32(peTable + head + 10*n + len(text.b)))
		ordinals.u16(uint16(i))
		text.str(name(i))
	}
	t := new(blob).u64(0).u64(0).u32(1).u32(uint32(n)).u32(uint32(n)).u32(peTable + head).u32(uint32(peTable + head + 4*n)).u32(uint32(peTable + head + 8*n))
	t.u8(functions.b...).u8(names.b...).u8(ordinals.b...).u8(text.b...)
	return peOf(map[int][2]int{0: {peTable, head}}, peSection{".edata", peTable, t.b})
}

// peFunctions is an image with n functions, and behind them their unwind information.
func peFunctions(n int, info func(i int) []byte, shared bool) string {
	table, behind := &blob{}, &blob{}
	for i := range n {
		if !shared || i == 0 {
			behind.u8(info(i)...)
		}
		at := peTable + 12*n + len(behind.b) - len(info(i))
		if shared {
			at = peTable + 12*n
		}
		table.u32(uint32(peCode + 64*i)).u32(uint32(peCode + 64*i + 48)).u32(uint32(at))
	}
	t := table.u8(behind.b...)
	s := &peSymbols{}
	s.add("f", 0)
	return peWith(map[int][2]int{3: {peTable, 12 * n}}, s, peSection{".pdata", peTable, t.b})
}

// prologOf is unwind information of n pushes.
func prologOf(n int) []byte {
	b := []byte{1, byte(n), byte(n), 0}
	for i := range n {
		b = append(b, byte(n-i), 0x30)
	}
	return append(b, make([]byte, -len(b)&3)...)
}

var peShapes = []formattest.Shape{
	of("pe/exports", "a.dll", 10000, func(n int) string {
		return peExports(n, func(i int) string { return fmt.Sprint("f", i) }, func(i int) int { return peCode + 16*i })
	}),
	of("pe/exports at one address", "a.dll", 10000, func(n int) string {
		return peExports(n, func(i int) string { return fmt.Sprint("f", i) }, func(int) int { return peCode })
	}),
	of("pe/exports backward", "a.dll", 10000, func(n int) string {
		return peExports(n, func(i int) string { return "f" }, func(i int) int { return peCode + 16*(n-i) })
	}),
	of("pe/symbols", "a.dll", 10000, func(n int) string {
		s := &peSymbols{}
		for i := range n {
			s.add(fmt.Sprint("f", i), uint32(16*i))
		}
		return peWith(nil, s)
	}),
	of("pe/long names", "a.dll", 20, func(n int) string {
		s := &peSymbols{}
		for i := range n {
			s.add(strings.Repeat("f", 100_000)+fmt.Sprint(i), uint32(16*i))
		}
		return peWith(nil, s)
	}),
	of("pe/sections", "a.dll", 2000, func(n int) string {
		s := &peSymbols{}
		s.add("f", 0)
		var all []peSection
		for i := range n {
			all = append(all, peSection{".data", uint32(peTable + 4096*i), []byte("x")})
		}
		return peWith(nil, s, all...)
	}),
	of("pe/functions", "a.dll", 5000, func(n int) string {
		return peFunctions(n, func(i int) []byte { return prologOf(i % 8) }, false)
	}),
	of("pe/functions of one long prolog", "a.dll", 1000, func(n int) string {
		return peFunctions(n, func(int) []byte { return prologOf(48) }, true)
	}),
}
