package compact

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// read returns the rules of functions by address, as text.
func read(t testing.TB, arch string, b []byte, code ...byte) (map[uint64]string, symbol.Quality) {
	t.Helper()
	lim := formats.Limits{}.WithDefaults()
	rows := map[uint64]string{}
	tab := cfi.NewTable(0, []native.Span{{Start: 0, End: 1 << 20}}, &lim, func(u *symbol.Unwind) error {
		for _, g := range u.Ranges {
			r, err := unwind.Decode(u.Rules[g.Rules])
			if err != nil {
				t.Fatal(err)
			}
			rows[g.Start] = r.Text(unwind.ArchOf(arch))
		}
		return nil
	})
	tab.Rank = symbol.UnwindCompact
	x := &Info{In: formattest.InputOf("x", b, formats.Limits{}), Arch: unwind.ArchOf(arch), Memory: func(addr uint64, n int64) ([]byte, error) {
		if addr > uint64(len(code)) || uint64(n) > uint64(len(code))-addr {
			return nil, nil
		}
		return code[addr:][:n], nil
	}}
	if err := Read(context.Background(), x, tab); err != nil {
		t.Fatal(err)
	}
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	return rows, tab.Quality
}

func words(all ...uint32) (b []byte) {
	for _, w := range all {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// regular is a section with a page of the functions at 0x100, 0x200 …, one for each encoding.
func regular(encodings ...uint32) []byte {
	n := uint32(len(encodings))
	all := []uint32{1, 28, 0, 28, 0, 28, 2, 0x100, 52, 0, (n + 1) * 0x100, 0, 0, regularPage, 8 | n<<16}
	for i, e := range encodings {
		all = append(all, uint32(i+1)*0x100, e)
	}
	return words(all...)
}

// again is an index of nine entries that name one page of eight functions.
func again() []byte {
	all := []uint32{1, 0, 0, 0, 0, 28, 9}
	for i := range uint32(9) {
		all = append(all, i, 28+9*12, 0)
	}
	all = append(all, 2, 8|8<<16)
	for range 8 {
		all = append(all, 9, 0)
	}
	return words(all...)
}

func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		arch, want string
		word       uint32
	}{
		{"x86_64", ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^", 0x01000000},
		{"x86_64", ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + ^ $rbp: .cfa -16 + ^ $r14: .cfa -32 + ^", 0x01020000 | 4 | 1<<3},
		{"x86_64", ".cfa: $rsp 8 + .ra: .cfa -8 + ^", 0x02010000},
		{"x86_64", ".cfa: $rsp 2080 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^", 0x03004400},
		{"x86_64", "", 0x04000123},
		{"x86_64", "", 0},
		{"x86", ".cfa: $ebp 8 + .ra: .cfa -4 + ^ $ebx: .cfa -12 + ^ $ebp: .cfa -8 + ^ $edi: .cfa -16 + ^", 0x01020000 | 4 | 1<<3},
		{"x86", ".cfa: $esp 16 + .ra: .cfa -4 + ^ $ebp: .cfa -8 + ^ $esi: .cfa -12 + ^", 0x02040000 | 2<<10 | 24},
		{"arm64", ".cfa: $x29 16 + .ra: .cfa -8 + ^ $x21: .cfa -24 + ^ $x22: .cfa -32 + ^ $x29: .cfa -16 + ^", 0x04000102},
		{"arm64", ".cfa: $sp 32 + $x19: .cfa -8 + ^ $x20: .cfa -16 + ^", 0x02002001},
		{"arm64", "", 0x03000123},
	} {
		code := make([]byte, 0x200)
		binary.LittleEndian.PutUint32(code[0x100:], 0x810)
		rows, q := read(t, c.arch, regular(c.word), code...)
		if rows[0x100] != c.want || q.UnitsBroken != 0 {
			t.Errorf("%s %#x: %q, want %q: %+v", c.arch, c.word, rows[0x100], c.want, q)
		}
	}
}

// The orders of pushed registers are the permutations, each once.
func TestPermutations(t *testing.T) {
	orders := 1
	for count := range 7 {
		seen := map[[6]int]bool{}
		for code := range 1024 {
			if list, ok := permutation(code, count); ok {
				if seen[list] && code < orders {
					t.Fatalf("%d of %d gives %v again", code, count, list)
				}
				seen[list] = true
			}
		}
		if len(seen) != orders {
			t.Errorf("%d registers have %d orders, want %d", count, len(seen), orders)
		}
		orders *= 6 - count
	}
}

// Damage costs a function or a page.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		arch, want string
		word       uint32
	}{
		{"x86_64", "a frame of modes 1 to 4", 0x07000000},
		{"x86_64", "registers that a function saves", 0x01000007},
		{"x86_64", "a frame with its registers", 0x02010400},
		{"x86_64", "a frame with its registers", 0x02ff1c00},
		{"x86_64", "a function with the size of its frame", 0x03ff0000},
		{"arm64", "a frame of modes 2 to 4", 0x01000000},
	} {
		sound := map[string]uint32{"x86_64": 0x01000000, "arm64": 0x02000000}[c.arch]
		rows, q := read(t, c.arch, regular(sound, c.word, sound))
		if len(rows) != 2 || rows[0x100] == "" || rows[0x100] != rows[0x300] || q.Units != 3 || q.UnitsBroken != 1 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %v %+v", c.want, rows, q)
		}
	}
	for _, c := range []struct {
		want    string
		section []byte
	}{
		{"a header of version 1", nil},
		{"a header of version 1", words(2, 0, 0, 0, 0, 0, 0)},
		{"encodings inside", words(1, 99, 9, 0, 0, 0, 0)},
		{"an index inside", words(1, 0, 0, 0, 0, 28, 1<<31)},
		{"an index inside", words(1, 0, 0, 0, 0, 28, 1)},
		{"a page inside", words(1, 0, 0, 0, 0, 28, 1, 0x100, 99, 0)},
		{"a page of kind 2 or 3", words(1, 0, 0, 0, 0, 28, 1, 0x100, 40, 0, 9, 0)},
		{"entries inside", words(1, 0, 0, 0, 0, 28, 1, 0x100, 40, 0, 2, 9|9<<16)},
		{"encodings inside", words(1, 0, 0, 0, 0, 28, 1, 0x100, 40, 0, 3, 12|1<<16, 12|9<<16)},
		{"one of 1 encodings", words(1, 0, 0, 0, 0, 28, 1, 0x100, 40, 0, 3, 12|1<<16, 12|1<<16, 0x05000000)},
		{"pages that are named once", again()},
		{"functions that ascend", words(1, 0, 0, 0, 0, 28, 1, 0x100, 40, 0, 2, 8|2<<16, 0x200, 0x01000000, 0x100, 0x01000000)},
	} {
		if _, q := read(t, "x86_64", c.section); q.UnitsBroken == 0 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %+v", c.want, q)
		}
	}
}

// No section makes the reader go wrong.
func FuzzRead(f *testing.F) {
	f.Add(regular(0x01000000, 0x02010000, 0x03004400), byte(0))
	f.Add(words(1, 28, 1, 0, 0, 32, 2, 0x100, 56, 0, 0x400, 0, 0, 0, 3, 12|2<<16, 20|1<<16, 0, 0x01000010, 0x02010000, 0), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		arch := []string{"x86_64", "x86", "arm64"}[kind%3]
		if _, q := read(t, arch, b, b...); int(q.Units) > len(b)/4 {
			t.Errorf("%+v of %d bytes", q, len(b))
		}
	})
}
