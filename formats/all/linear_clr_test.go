package all_test

import (
	"fmt"

	"github.com/symlake/symlake/formats/formattest"
)

// portableOf is a portable PDB with documents of those names and methods with those blobs of places, by their number.
func portableOf(documents int, document func(i int) string, methods int, points [][]byte, pointsOf func(i int) int) string {
	blobs := new(blob).u8(0)
	place := func(b []byte) uint32 {
		at := uint32(len(blobs.b))
		blobs.u8(0xc0|byte(len(b)>>24), byte(len(b)>>16), byte(len(b)>>8), byte(len(b))).u8(b...)
		return at
	}
	rows := new(blob)
	for i := range documents {
		part := place([]byte(document(i)))
		rows.u32(place([]byte{'/', 0xc0 | byte(part>>24), byte(part >> 16), byte(part >> 8), byte(part)})).u16(0).u32(0).u16(0)
	}
	var at []uint32
	for _, p := range points {
		at = append(at, place(p))
	}
	for i := range methods {
		if documents > 0xffff {
			rows.u32(uint32(i%documents + 1))
		} else {
			rows.u16(uint16(i%documents + 1))
		}
		rows.u32(at[pointsOf(i)])
	}
	tables := new(blob).u32(0).u8(2, 0, 4, 1).u64(1<<0x30 | 1<<0x31).u64(0).u32(uint32(documents)).u32(uint32(methods)).u8(rows.b...)
	id := new(blob).u64(1).u64(2).u32(3).u32(0).u64(0)
	streams := []struct {
		name string
		b    []byte
	}{{"#Pdb\x00\x00\x00\x00", id.b}, {"#~\x00\x00", tables.b}, {"#Blob\x00\x00\x00", blobs.b}}
	head := new(blob).u32(0x424a5342).u16(1).u16(1).u32(0).u32(4).u8('v', '1', 0, 0).u16(0).u16(uint16(len(streams)))
	from := len(head.b)
	for _, s := range streams {
		from += 8 + len(s.name)
	}
	for _, s := range streams {
		head.u32(uint32(from)).u32(uint32(len(s.b))).u8([]byte(s.name)...)
		from += len(s.b)
	}
	for _, s := range streams {
		head.u8(s.b...)
	}
	return string(head.b)
}

// places are the places of a method with n lines.
func places(n int) []byte {
	w := new(blob).u8(0, 0, 0, 1, 1, 1) // no variables, offset 0, line 1
	for range n {
		w.u8(1, 0, 1, 2, 0) // an offset further, of no lines and one column; a line below, the same column
	}
	return w.b
}

func onlyPlace(int) int { return 0 }

var clrShapes = []formattest.Shape{
	of("clr/methods", "a.pdb", 3000, func(n int) string {
		return portableOf(1, func(int) string { return "/a.cs" }, n, [][]byte{places(1)}, onlyPlace)
	}),
	of("clr/lines of a method", "a.pdb", 20000, func(n int) string {
		return portableOf(1, func(int) string { return "/a.cs" }, 1, [][]byte{places(n)}, onlyPlace)
	}),
	of("clr/documents", "a.pdb", 3000, func(n int) string {
		return portableOf(n, func(i int) string { return fmt.Sprintf("/src/%d.cs", i) }, n, [][]byte{places(1)}, onlyPlace)
	}),
	rejects("do not share without end", of("clr/methods that share their lines", "a.pdb", 8000, func(n int) string {
		return portableOf(1, func(int) string { return "/a.cs" }, n/8, [][]byte{places(n)}, onlyPlace)
	})),
}
