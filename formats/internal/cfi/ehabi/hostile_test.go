package ehabi

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/native"
)

// index is an index at 0x1000, of functions from 0x100 on, 0x10 bytes each, with a table behind it.
func index(words []uint32, table ...uint32) *Index {
	var b []byte
	add := func(w uint32) { b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24)) }
	for i, w := range words {
		add((0x100 + uint32(i)*0x10 - 0x1000 - uint32(i)*8) & 0x7fffffff)
		add(w)
	}
	n := len(b)
	for _, w := range table {
		add(w)
	}
	return &Index{In: formattest.InputOf("x", b[:n], formats.Limits{}), Addr: 0x1000, Memory: func(addr uint64, n int64) ([]byte, error) {
		if addr < 0x1000 || addr-0x1000+uint64(n) > uint64(len(b)) {
			return nil, nil
		}
		return b[addr-0x1000:][:n], nil
	}}
}

var code = []native.Span{{Start: 0x100, End: 0x1000}}

// Damage costs one function; its neighbors stay.
func TestHostile(t *testing.T) {
	const sound = 0x8001b0b0 // vsp += 8
	for _, c := range []struct {
		want  string
		word  uint32
		table []uint32
	}{
		{"model 0 in the index", 0x81b0b0b0, nil},
		{"an entry of .ARM.extab", 0x7fff, nil},
		{"an entry of .ARM.extab", 0x1c, nil},
		{"model 0, 1 or 2", 0x18, []uint32{0x84b0b0b0}},
		{"opcodes behind the address", 0x18, []uint32{0x00001000}},
		{"all opcodes of an entry", 0x18, []uint32{0x81ffb0b0}},
		{"a whole opcode", 0x80b0b0b0&^0xffffff | 0x010180, nil},
		{"an opcode that is known", 0x80cab0b0, nil},
		{"a stack pointer that is not popped", 0x808200b0, nil},
		{"a stack pointer from a register", 0x809d00b0, nil},
		{"a stack pointer from a register", 0x809b9bb0, nil},
		{"a mask of the registers", 0x80b1f0b0, nil},
		{"a mask of four registers", 0x80c7f0b0, nil},
		{"a number of words", 0x80b2ffff, nil},
	} {
		x := index([]uint32{sound, c.word, sound, cannot}, append([]uint32{0}, c.table...)...)
		rows, q := read(t, x, 0, code)
		if len(rows) != 2 || rows[0x100] != ".cfa: $sp 8 +" || rows[0x120] != rows[0x100] || q.Units != 4 || q.UnitsBroken != 1 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %+v %v", c.want, q, rows)
		}
	}
}

// Opcodes that compilers write seldom.
func TestOpcodes(t *testing.T) {
	for _, c := range []struct {
		word uint32
		want string
	}{
		{0x808000b0, ".cfa: $sp 0 + .ra: .undef"},
		{0x809bb0b0, ".cfa: $r11 0 +"},
		{0x808400b0, ".cfa: $sp 4 + .ra: .cfa -4 + ^"},
		{0x80b100b0, ""},
		{0x80b103b0, ".cfa: $sp 8 + $r0: .cfa -8 + ^ $r1: .cfa -4 + ^"},
		{0x80b201b0, ".cfa: $sp 520 +"},
		{0x80b381b0, ".cfa: $sp 20 +"},
		{0x80c981b0, ".cfa: $sp 16 +"},
		{0x80d1c1b0, ".cfa: $sp 32 +"},
		{0x80c703b0, ".cfa: $sp 8 +"},
		{0x80b4b9b0, ".cfa: $sp 24 +"},
		{0x80a097b0, ".cfa: $r7 0 + $r4: $sp ^"},
		{0x80a9b0b0, ".cfa: $sp 12 + .ra: .cfa -4 + ^ $r4: .cfa -12 + ^ $r5: .cfa -8 + ^"},
	} {
		rows, q := read(t, index([]uint32{c.word, cannot}), 0, code)
		if rows[0x100] != c.want || (c.want == "") != (q.UnitsBroken == 1) {
			t.Errorf("%#x: %q, want %q", c.word, rows[0x100], c.want)
		}
	}
}

// No index makes the reader go wrong.
func FuzzRead(f *testing.F) {
	x := index([]uint32{0x8001b0b0, 0x809bb0b0, 0x14, 0x1c, cannot}, 0x8101ab01, 0x8484b0b0, 0x1000, 0x01a9b204, 0x83b0b0b0)
	b, err := x.Memory(0x1000, 60)
	if err != nil || b == nil {
		f.Fatal(err)
	}
	f.Add(b, 40, false)
	f.Fuzz(func(t *testing.T, b []byte, n int, big bool) {
		if n < 0 || n > len(b) {
			return
		}
		x := &Index{In: formattest.InputOf("x", b[:n], formats.Limits{}), Addr: 0x1000, BigEndian: big, Memory: func(addr uint64, n int64) ([]byte, error) {
			if addr < 0x1000 || addr-0x1000 > uint64(len(b)) || uint64(n) > uint64(len(b))-(addr-0x1000) {
				return nil, nil
			}
			return b[addr-0x1000:][:n], nil
		}}
		if _, q := read(t, x, 0, code); int(q.Units) > n/entryBytes || q.UnitsBroken > q.Units {
			t.Errorf("%+v of %d bytes", q, n)
		}
	})
}
