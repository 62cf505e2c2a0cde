package all_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// frames is a .debug_frame of 64-bit ARM.
type frames struct{ blob }

func (f *frames) entry(id uint32, body []byte) int {
	at := len(f.b)
	f.u32(uint32(4 + len(body))).u32(id).u8(body...)
	return at
}

// common is an entry that functions share.
func (f *frames) common() int {
	return f.entry(1<<32-1, []byte{1, 0, 1, 0x78, 30, 0x0c, 31, 0})
}

// function describes a piece of code.
func (f *frames) function(common, start, size int, program ...byte) {
	body := new(blob).u64(codeStart + uint64(start)).u64(uint64(size)).u8(program...)
	f.entry(uint32(common), body.b)
}

func frameShape(name string, n int, fill func(f *frames, n int)) formattest.Shape {
	return of("frames/"+name, "x.so", n, func(n int) string {
		f := &frames{}
		fill(f, n)
		return elfOf(append(symbolsOf(1, one), section{name: ".debug_frame", kind: 1, body: f.b})...)
	})
}

const stackModule = "MODULE windows x86 000102030405060708090A0B0C0D0E0F1 x.pdb\nFUNC 0 ffffffff 0 f\n"

var frameShapes = []formattest.Shape{
	frameShape("functions", 5000, func(f *frames, n int) {
		cie := f.common()
		repeat(n, func(i int) { f.function(cie, 16*i, 16, 0x44, 0x0e, 16) })
	}),
	frameShape("functions at one address", 5000, func(f *frames, n int) {
		cie := f.common()
		repeat(n, func(i int) { f.function(cie, 0, 1+i, 0x44, 0x0e, 16) })
	}),
	frameShape("common parts", 5000, func(f *frames, n int) {
		repeat(n, func(i int) { f.function(f.common(), 16*i, 16) })
	}),
	frameShape("common parts far away", 5000, func(f *frames, n int) {
		var all []int
		repeat(n, func(int) { all = append(all, f.common()) })
		repeat(n, func(i int) { f.function(all[i*1025%n], 16*i, 16) })
	}),
	frameShape("functions without a common part", 5000, func(f *frames, n int) {
		repeat(n, func(i int) { f.function(i, 16*i, 16) })
	}),
	frameShape("rows", 20000, func(f *frames, n int) {
		var p []byte
		repeat(n, func(i int) { p = append(p, 0x0e, byte(i&0x7f), 0x44) })
		f.function(f.common(), 0, 1<<29, p...)
	}),
	frameShape("rows with rules of their own", 20000, func(f *frames, n int) {
		w := &blob{}
		repeat(n, func(i int) { w.u8(0x0e).uleb(uint64(i)).u8(0x44) })
		f.function(f.common(), 0, 1<<29, w.b...)
	}),
	frameShape("remembered states", 20000, func(f *frames, n int) {
		cie := f.common()
		repeat(n/50, func(i int) { f.function(cie, 4096*i, 4096, []byte(strings.Repeat("\x0a\x44\x0b", 50))...) })
	}),
	frameShape("expressions", 2000, func(f *frames, n int) {
		cie := f.common()
		expression := append([]byte{0x0f, 100}, []byte(strings.Repeat("\x8f\x08", 50))...)
		repeat(n, func(i int) { f.function(cie, 16*i, 16, expression...) })
	}),
	of("frames/STACK CFI", "x.sym", 5000, func(n int) string {
		return module + each(n, "\n", "STACK CFI INIT %x000 10 .cfa: $sp 8 + .ra: .cfa -8 + ^\nSTACK CFI %[1]x001 .cfa: $sp %[1]d +") + "\nFUNC 0 fffffff 0 f"
	}),
	of("frames/STACK CFI of one function", "x.sym", 5000, func(n int) string {
		return module + "STACK CFI INIT 0 fffffff .cfa: $sp 8 + .ra: .cfa -8 + ^\n" + each(n, "\n", "STACK CFI %x001 .cfa: $sp %[1]d +") + "\nFUNC 0 fffffff 0 f"
	}),
	of("frames/STACK WIN", "x.sym", 5000, func(n int) string {
		return stackModule + each(n, "\n", "STACK WIN 4 %x0 10 0 0 8 4 8 0 1 $T0 %[1]d =")
	}),
	of("frames/nested STACK WIN", "x.sym", 5000, func(n int) string {
		var b strings.Builder
		repeat(n, func(i int) { fmt.Fprintf(&b, "STACK WIN 0 %x %x 0 0 8 4 %x 0 0 0\n", i, 3*n-2*i, i%7) })
		return stackModule + b.String()
	}),
}
