package all_test

import "github.com/symlake/symlake/formats/formattest"

// goProgram is an ELF file without sections, with a Go program's table of n functions of 16 bytes. values are the places of
// each function; all share them.
func goProgram(n int, values func(n int) []byte) string {
	const code, data, from, size = 0x400000, 0x10000000, 0x1000, 16
	pctab := append([]byte{0}, values(n)...)
	for len(pctab)%8 != 0 {
		pctab = append(pctab, 0)
	}
	names, units, files := []byte("main.f\x00\x00"), []byte{0, 0, 0, 0, 0, 0, 0, 0}, []byte("/main.go\x00\x00\x00\x00\x00\x00\x00\x00")
	t := new(blob).u32(0xfffffff0).u8(0, 0, 1, 8).u64(uint64(n)).u64(1).u64(code)
	at := uint64(72)
	for _, piece := range [][]byte{names, units, files, pctab, nil} {
		t.u64(at)
		at += uint64(len(piece))
	}
	t.u8(names...).u8(units...).u8(files...).u8(pctab...)
	const body = 40
	for i := range n {
		t.u32(uint32(i * size)).u32(uint32((2*n+1)*4 + i*body))
	}
	t.u32(uint32(n * size))
	for i := range n {
		t.u32(uint32(i * size)).u32(0).u32(0).u32(0).u32(0).u32(1).u32(1).u32(0).u32(0).u32(0)
	}

	w := new(blob).u8(0x7f, 'E', 'L', 'F', 2, 1, 1, 0).u64(0).u16(2).u16(62).u32(1).u64(code).u64(64).u64(0).u32(0).u16(64).u16(56).u16(2).u16(0).u16(0).u16(0)
	w.u32(1).u32(5).u64(0).u64(code).u64(code).u64(from).u64(uint64(n * size)).u64(0x1000)
	w.u32(1).u32(4).u64(from).u64(data).u64(data).u64(uint64(len(t.b))).u64(uint64(len(t.b))).u64(0x1000)
	return string(append(append(w.b, make([]byte, from-len(w.b))...), t.b...))
}

var goShapes = []formattest.Shape{
	of("elf/functions of Go", "a", 3000, func(n int) string {
		return goProgram(n, func(int) []byte { return []byte{2, 4, 2, 4, 2, 8, 0} })
	}),
	rejects("do not share without end", of("elf/functions of Go that share long values", "a", 3000, func(n int) string {
		return goProgram(n, func(n int) []byte {
			b := make([]byte, 0, 4*n)
			for range 2 * n {
				b = append(b, 2, 0) // a value that nothing has
			}
			return append(b, 0)
		})
	})),
}
