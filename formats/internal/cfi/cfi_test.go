package cfi

import (
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// section builds a little-endian .debug_frame of 64-bit addresses.
type section struct{ b []byte }

func (s *section) entry(id uint32, body ...byte) int {
	at := len(s.b)
	n := uint32(len(body) + 4)
	s.b = append(s.b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	s.b = append(s.b, body...)
	return at
}

// common is an entry that functions share: the frame address is rsp+8, the return address lies below it.
func (s *section) common(more ...byte) int {
	return s.entry(0xffffffff, append([]byte{1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}, more...)...)
}

// function describes [start, start+size).
func (s *section) function(common int, start, size uint16, program ...byte) {
	body := []byte{byte(start), byte(start >> 8), 0, 0, 0, 0, 0, 0, byte(size), byte(size >> 8), 0, 0, 0, 0, 0, 0}
	s.entry(uint32(common), append(body, program...)...)
}

// read returns the rows of a section as text, one a line, and counts dropped functions.
func read(t testing.TB, b []byte, change func(*Section)) (rows string, q symbol.Quality) {
	t.Helper()
	lim := formats.Limits{}.WithDefaults()
	arch := unwind.ArchOf("x86_64")
	var out strings.Builder
	tab := NewTable(0, []native.Span{{Start: 0, End: 1 << 16}}, &lim, func(u *symbol.Unwind) error {
		for _, g := range u.Ranges {
			r, err := unwind.Decode(u.Rules[g.Rules])
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(strings.Join([]string{hex(g.Start), hex(g.End), r.Text(arch)}, " ") + "\n")
		}
		return nil
	})
	tab.Rank = symbol.UnwindDebug
	s := &Section{In: formattest.InputOf("x", b, formats.Limits{}), Name: ".debug_frame", AddrSize: 8, Arch: arch}
	if change != nil {
		change(s)
	}
	if err := Read(context.Background(), s, tab); err != nil {
		t.Fatal(err)
	}
	if err := tab.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String(), tab.Quality
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	if v < 16 {
		return digits[v : v+1]
	}
	return hex(v/16) + digits[v%16:v%16+1]
}

// Damage costs one function; those before and behind it stay.
func TestHostile(t *testing.T) {
	long := append([]byte{0x0f, 0x90, 0x4e}, make([]byte, 10000)...)
	deep := []byte{}
	for range 65 {
		deep = append(deep, 0x0a)
	}
	for _, c := range []struct {
		want    string
		program []byte
	}{
		{"a remembered state", []byte{0x0b}},
		{"at most 64 remembered states", deep},
		{"places that ascend", append([]byte{0x01}, make([]byte, 8)...)},
		{"an instruction that is known", []byte{0x3f}},
		{"whole operands", []byte{0x0e, 0x80}},
		{"expressions of at most", long},
		{"without jumps", []byte{0x0f, 3, 0x28, 0, 0}},
		{"a frame address of an integer register", []byte{0x0c, 99, 8}},
		{"a frame address of a register and an offset", []byte{0x0f, 2, 0x77, 8, 0x0e, 8}},
		{"a whole expression", []byte{0x0f, 1, 0x77}},
		{"not larger than its bytes say", flood()},
	} {
		var s section
		cie := s.common()
		s.function(cie, 0x100, 0x10)
		s.function(cie, 0x200, 0x8000, c.program...)
		s.function(cie, 0x8300, 0x10)
		rows, q := read(t, s.b, nil)
		const first, last = "100 110 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "8300 8310 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
		if rows != first+last || q.Units != 3 || q.UnitsBroken != 1 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %+v\n%s", c.want, q, rows)
		}
	}
}

// flood is a program of two bytes a row, with rules of many bytes.
func flood() (p []byte) {
	for n := range byte(15) {
		p = append(p, 0x16, n, 58)
		for range 29 {
			p = append(p, 0x70+n, 0)
		}
	}
	for i := range 20000 {
		p = append(p, 0x80, byte(i%2), 0x41)
	}
	return p
}

// What functions share may be missing, damaged, or a function itself.
func TestHostileCommon(t *testing.T) {
	for _, c := range []struct {
		want string
		body []byte
	}{
		{"version 1, 3 or 4", []byte{9, 0, 1, 0x78, 16}},
		{"an augmentation that begins with z", []byte{1, 'x', 0, 1, 0x78, 16}},
		{"the letters zPLRSBG", []byte{1, 'z', '?', 0, 1, 0x78, 16, 0}},
		{"a whole augmentation", []byte{1, 'z', 0, 1, 0x78, 16, 9}},
		{"absolute or count from their place", []byte{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x9b}},
		{"addresses of 2, 4 or 8 bytes", []byte{4, 0, 3, 0, 1, 0x78, 16}},
		{"a whole common part", []byte{1, 0, 1}},
		{"an instruction that is known", []byte{1, 0, 1, 0x78, 16, 0x3f}},
	} {
		var s section
		cie := s.entry(0xffffffff, c.body...)
		s.function(cie, 0x100, 0x10)
		s.function(s.common(), 0x200, 0x10)
		rows, q := read(t, s.b, nil)
		if rows != "200 210 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" || q.UnitsBroken != 1 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %+v\n%s", c.want, q, rows)
		}
	}
	var s section
	s.function(0, 0x100, 0x10) // its own
	s.function(9999, 0x100, 0x10)
	if rows, q := read(t, s.b, nil); rows != "" || q.UnitsBroken != 2 {
		t.Errorf("%+v\n%s", q, rows)
	}
}

// Programs that are sound.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		want    string
		program []byte
	}{
		{"100 104 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n104 108 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\n108 110 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n",
			[]byte{0x0a, 0x44, 0x0e, 16, 0x86, 2, 0x44, 0x0b}},
		{"100 110 .cfa: $rsp 8 + .ra: .undef\n", []byte{0x07, 16}},
		{"100 110 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + $r12: $rdi 0 + $r13: rbx\n", nil},
	} {
		if c.program == nil {
			c.program = []byte{0x14, 3, 3, 0x09, 12, 5, 0x08, 13}
			c.want = "100 110 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + $r12: $rdi 0 + $r13: $r13\n"
		}
		var s section
		s.function(s.common(), 0x100, 0x10, c.program...)
		if rows, q := read(t, s.b, nil); rows != c.want || q.UnitsBroken != 0 {
			t.Errorf("%+v\n%swant\n%s", q, rows, c.want)
		}
	}
}

// No section makes the reader go wrong, and it gives what a section that is not in memory gives.
func FuzzRead(f *testing.F) {
	var s section
	cie := s.common()
	s.function(cie, 0x100, 0x10, 0x0a, 0x44, 0x0e, 16, 0x86, 2, 0x44, 0x0b)
	s.function(cie, 0x200, 0x10, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)
	f.Add(s.b, byte(0))
	s = section{}
	s.entry(0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8)
	s.entry(uint32(len(s.b)+4), 0, 1, 0, 0, 0x10, 0, 0, 0, 0, 0x44, 0x0e, 16)
	f.Add(s.b, byte(1))
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		change := func(s *Section) {
			s.Runtime, s.BigEndian, s.Ends, s.Thumb, s.Swapped = kind&1 != 0, kind&2 != 0, kind&4 != 0, kind&8 != 0, kind&16 != 0
			if kind&32 != 0 {
				s.AddrSize = 4
			}
		}
		rows, q := read(t, b, change)
		again, p := read(t, b, func(s *Section) {
			change(s)
			s.In = formattest.Unmapped(s.In)
		})
		if rows != again || q.Units != p.Units || q.UnitsBroken != p.UnitsBroken {
			t.Errorf("%+v\n%snot in memory %+v\n%s", q, rows, p, again)
		}
	})
}
