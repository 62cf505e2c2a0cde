package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// inlining makes a procedure f of 0x40 bytes with a function g that is inlined, and h in it.
func inlining() *made {
	m := &made{}
	m.ids.record(0x1601, new(bytesOf).u32(0, 0).str("g")).record(0x1605, new(bytesOf).u32(0).str("space")).record(0x1601, new(bytesOf).u32(0x1001, 0).str("h"))
	m.symbols.proc(0x100, 0x40, 1<<20, "n::f")
	m.symbols.record(0x114d, new(bytesOf).u32(0, 0, 0x1000).u8(3, 0x10, 0x0b, 0x22, 4, 8))
	m.symbols.record(0x115d, new(bytesOf).u32(0, 0, 0x1002, 1).u8(3, 0x14, 4, 2)).record(0x114e, new(bytesOf)).record(0x114e, new(bytesOf))
	binary.LittleEndian.PutUint32(m.symbols.b[8:], uint32(4+len(m.symbols.b)))
	m.symbols.end()
	m.publics.public(0x100, "?f@n@@YAXXZ")
	m.sections.lines(0x100, 0x40, [3]uint32{0, 0, 10}, [3]uint32{0, 0x10, 11}, [3]uint32{0, 0x20, 12})
	m.sections.u32(0xf6, 28, 0, 0x1000, 8, 70, 0x1002, 8, 90)
	return m
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() *made
		want map[uint64]string
	}{
		{"inlined functions", inlining, map[uint64]string{
			0x10ff: "", 0x1100: "?f@n@@YAXXZ a.cpp:10", 0x1110: "g b.h:70 < ?f@n@@YAXXZ a.cpp:11", 0x1112: "g b.h:71 < ?f@n@@YAXXZ a.cpp:11",
			0x1114: "space::h b.h:90 < g b.h:71 < ?f@n@@YAXXZ a.cpp:11", 0x1116: "g b.h:71 < ?f@n@@YAXXZ a.cpp:11", 0x111a: "?f@n@@YAXXZ a.cpp:11",
			0x113f: "?f@n@@YAXXZ a.cpp:12", 0x1140: "?f@n@@YAXXZ :0", 0x8fff: "?f@n@@YAXXZ :0", 0x10fff: "?f@n@@YAXXZ :0", 0x11000: ""}},
		{"a contribution of another module", func() *made {
			m := inlining()
			m.more.u16(1, 0).u32(codeBytes/2, codeBytes/2, 0x60000020).u16(1, 0).u32(0, 0)
			m.symbols.proc(codeBytes/2+0x20, 0x10, 0, "other").end()
			return m
		}, map[uint64]string{0x8fff: "?f@n@@YAXXZ :0", 0x9000: "", 0x9020: "other :0", 0x9030: ""}},
		{"lines of two files in one function", func() *made {
			m := &made{}
			m.symbols.proc(0, 0x30, 0, "f").end()
			m.sections.lines(0, 0x30, [3]uint32{0, 0, 1}, [3]uint32{0, 0x20, 3}, [3]uint32{8, 0x10, 2}, [3]uint32{0, 0x28, 0xf00f00})
			return m
		}, map[uint64]string{0x1000: "f a.cpp:1", 0x1010: "f b.h:2", 0x1020: "f a.cpp:3", 0x102f: "f a.cpp:3", 0x1030: ""}},
		{"lines without a procedure", func() *made {
			m := &made{}
			m.publics.public(0x10, "start")
			m.sections.lines(0, 0x30, [3]uint32{0, 8, 1}, [3]uint32{0, 0x18, 3})
			return m
		}, map[uint64]string{0x1007: "", 0x1008: " a.cpp:1", 0x1010: "start a.cpp:1", 0x102f: "start a.cpp:3", 0x1030: "start :0"}},
		{"before the first line", func() *made {
			m := &made{}
			m.symbols.proc(0, 0x30, 0, "f").end()
			m.sections.lines(0, 0x30, [3]uint32{0, 8, 5})
			return m
		}, map[uint64]string{0x1000: "f a.cpp:5", 0x1008: "f a.cpp:5"}},
		{"thunks, stubs and code that lies apart", func() *made {
			m := inlining()
			m.symbols.record(0x1102, new(bytesOf).u32(0, 0, 0, 0x200).u16(1, 6).u8(0).str("thunk")).end()
			m.symbols.record(0x112c, new(bytesOf).u16(0, 5).u32(0x210, 0x100).u16(1, 1))
			m.symbols.record(0x1132, new(bytesOf).u32(0, 0, 8, 0, 0x300, 0x104).u16(1, 1)).end()
			m.sections.lines(0x300, 8, [3]uint32{0, 0, 13})
			return m
		}, map[uint64]string{0x1205: "thunk :0", 0x1210: "?f@n@@YAXXZ :0", 0x1300: "?f@n@@YAXXZ a.cpp:13", 0x1307: "?f@n@@YAXXZ a.cpp:13"}},
		{"several publics at one place", func() *made {
			m := inlining()
			m.publics.public(0x100, "?zz@@YAXXZ").public(0x400, "?b@@YAXXZ").public(0x400, "?a@@YAXXZ")
			return m
		}, map[uint64]string{0x1100: "?f@n@@YAXXZ a.cpp:10", 0x1400: "?b@@YAXXZ :0"}},
		{"names with a length before them", func() *made {
			m := &made{machine: machineX86}
			m.symbols.record(0x100b, new(bytesOf).u32(0, 0, 0, 0x10, 0, 0, 0, 0).u16(1).u8(0, 4).str("proc!")).end()
			m.publics.record(0x1009, new(bytesOf).u32(2, 0x20).u16(1).u8(7).str("_name@8!"))
			return m
		}, map[uint64]string{0x1000: "proc :0", 0x1020: "name :0"}},
		{"code that was moved", func() *made {
			m := inlining()
			m.old = *header(0x1000)
			m.moves.u32(0x1000, 0x1000, 0x1110, 0x5000, 0x1118, 0, 0x1120, 0x6000, 0x2000, 0)
			return m
		}, map[uint64]string{0x1100: "?f@n@@YAXXZ a.cpp:10", 0x1110: "", 0x5000: "g b.h:70 < ?f@n@@YAXXZ a.cpp:11", 0x5007: "g b.h:71 < ?f@n@@YAXXZ a.cpp:11", 0x5008: "", 0x6000: "?f@n@@YAXXZ a.cpp:12"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			obj := formattest.Open(t, &Format, c.make().input())
			fl, err := formattest.Flatten(t.Context(), &Format, &obj.Artifacts[0])
			if err != nil {
				t.Fatal(err)
			}
			for at, want := range c.want {
				var frames []string
				for _, f := range fl.At(at) {
					frames = append(frames, fmt.Sprintf("%s %s:%d", f.Linkage, f.File, f.Line))
				}
				if got := strings.Join(frames, " < "); got != want {
					t.Errorf("%#x: %q, want %q", at, got, want)
				}
			}
		})
	}
}

// Damage costs a module or less, and work stays in proportion to the file.
func TestHostile(t *testing.T) {
	site := func(m *made, n int) {
		for range n {
			m.symbols.record(0x114d, new(bytesOf).u32(0, 0, 0x1000).u8(3, 0, 4, 0x20))
		}
	}
	for _, c := range []struct {
		name   string
		make   func() []byte
		broken uint32
		at     uint64 // that has an answer; 0: none
	}{
		{"inlined functions without end", func() []byte {
			m := inlining()
			m.symbols.proc(0x1000, 0x40, 1<<30, "deep")
			site(m, 5000)
			return m.bytes()
		}, 0, 0x2000},
		{"a scope for each line and level", func() []byte {
			m := inlining()
			m.symbols.proc(0x1000, 0x1000, 1<<30, "deep")
			for range 600 {
				m.symbols.record(0x114d, new(bytesOf).u32(0, 0, 0x1000).u8(3, 0, 4, 0xc0, 0, 0x10, 0))
			}
			rows := [][3]uint32{}
			for i := range uint32(0x1000) {
				rows = append(rows, [3]uint32{0, i, i})
			}
			m.sections.lines(0x1000, 0x1000, rows...)
			return m.bytes()
		}, 0, 0x2000},
		{"records of length 0", func() []byte {
			m := inlining()
			m.symbols.u32(0, 0, 0, 0)
			m.publics.u32(0, 0)
			return m.bytes()
		}, 0, 0x1100},
		{"a module longer than its stream", func() []byte {
			b := inlining().bytes()
			i := bytes.Index(b, new(bytesOf).u32(0).u8(make([]byte, 28)...).u16(0, 6).b)
			binary.LittleEndian.PutUint32(b[i+36:], 1<<31)
			return b
		}, 1, 0x1100},
		{"a stream that is not there", func() []byte {
			b := inlining().bytes()
			i := bytes.Index(b, new(bytesOf).u32(0).u8(make([]byte, 28)...).u16(0, 6).b)
			binary.LittleEndian.PutUint16(b[i+34:], 999)
			return b
		}, 1, 0x1100},
		{"an id of a function beyond the stream", func() []byte {
			m := inlining()
			m.symbols.proc(0x1000, 0x40, 1<<30, "f").record(0x114d, new(bytesOf).u32(0, 0, ^uint32(0)).u8(3, 0, 4, 0x20))
			return m.bytes()
		}, 0, 0x2000},
	} {
		t.Run(c.name, func(t *testing.T) {
			obj := formattest.Open(t, &Format, formattest.InputOf("a.pdb", c.make(), formats.Limits{}))
			a := &obj.Artifacts[0]
			scopes, answered := 0, false
			var q symbol.Quality
			for part := range a.Parts {
				more, err := a.Explode(t.Context(), part, func(r *symbol.Run) error {
					scopes += len(r.Scopes)
					answered = answered || r.Ranges[0].Start <= c.at && c.at < r.Ranges[len(r.Ranges)-1].End
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				q.Add(more)
			}
			if q.UnitsBroken != c.broken || !answered {
				t.Errorf("%d units broken, want %d; an answer at %#x: %v", q.UnitsBroken, c.broken, c.at, answered)
			}
			if scopes > 100_000 {
				t.Errorf("%d scopes", scopes)
			}
		})
	}
}
