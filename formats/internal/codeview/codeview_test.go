package codeview

import (
	"fmt"
	"slices"
	"testing"
)

// Annotations of clang and MSVC, as llvm-pdbutil prints them.
func TestAnnotations(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want []Inlined
	}{
		{"clang: lines, a file, an end", []byte{6, 2, 3, 0x80, 0xa2, 0x0b, 0x29, 5, 0, 6, 0x81, 0x42, 3, 0x25, 4, 0x1c, 0, 0},
			[]Inlined{{0xa2, 0xab, 8, 11, 0}, {0xab, 0xd0, 8, 12, 0}, {0xd0, 0xec, 0, 173, 0}}},
		{"MSVC: length and offset together", []byte{0x0b, 7, 6, 0x0a, 3, 0x0e, 6, 4, 3, 0x12, 6, 0x0c, 0x0c, 0x0b, 8, 0},
			[]Inlined{{7, 0x15, 8, 10, 0}, {0x15, 0x27, 8, 15, 0}, {0x27, 0x2f, 8, 17, 0}, {0x2f, 0x3a, 8, 23, 0}}[:4]},
		{"columns", []byte{9, 5, 3, 1, 4, 2}, []Inlined{{1, 3, 8, 10, 5}}},
		{"absolute", []byte{1, 9, 4, 2, 1, 3, 4, 1}, []Inlined{{9, 11, 8, 10, 0}, {3, 4, 8, 10, 0}}},
		{"no end", []byte{3, 1}, nil},
		{"cut operand", []byte{3, 1, 4, 2, 3, 0xc0, 1}, []Inlined{{1, 3, 8, 10, 0}}},
		{"unknown opcode", []byte{3, 1, 4, 2, 77, 1, 3, 1, 4, 2}, []Inlined{{1, 3, 8, 10, 0}}},
		{"another piece of the procedure", []byte{2, 1, 3, 1, 4, 2, 2, 0, 3, 1, 4, 2}, []Inlined{{4, 6, 8, 10, 0}}},
	} {
		got := Annotations(c.b, 8, 10, nil)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %x, want %x", c.name, got, c.want)
		}
	}
}

// Tables of inlined functions come with and without further files.
func TestInlinees(t *testing.T) {
	plain := []byte{0, 0, 0, 0, 1, 0x10, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0}
	more := []byte{1, 0, 0, 0, 1, 0x10, 0, 0, 8, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 2, 0x10, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0}
	if got, ok := ReadInlinees(plain, nil); !ok || !slices.Equal(got, []Inlinee{{0x1001, 8, 5}}) {
		t.Errorf("%v, %v", got, ok)
	}
	if got, ok := ReadInlinees(more, nil); !ok || !slices.Equal(got, []Inlinee{{0x1001, 8, 5}, {0x1002, 0, 6}}) {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := ReadInlinees(more[:20], nil); ok {
		t.Error("a cut table is sound")
	}
}

// Records of damaged sizes end the list.
func TestNext(t *testing.T) {
	for _, b := range [][]byte{nil, {0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {9, 0, 6, 0}, {0xff, 0xff, 6, 0}} {
		if _, _, _, ok := Next(b); ok {
			t.Errorf("%x is a record", b)
		}
	}
	if kind, body, rest, ok := Next([]byte{4, 0, 6, 0, 7, 8, 9}); !ok || kind != End || len(body) != 2 || len(rest) != 1 {
		t.Errorf("%v %v %v %v", kind, body, rest, ok)
	}
}

func FuzzAnnotations(f *testing.F) {
	f.Add([]byte{6, 2, 3, 0x80, 0xa2, 0x0b, 0x29, 5, 0, 6, 0x81, 0x42, 3, 0x25, 4, 0x1c, 0, 0})
	f.Add([]byte{0x0b, 7, 0x0c, 0x0b, 8, 2, 1, 1, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		list := Annotations(b, 1, 2, []Inlined{{Start: 9}})
		if len(list) < 1 || list[0].Start != 9 || len(list) > 1+len(b)/2 {
			t.Fatalf("%d of %d bytes", len(list), len(b))
		}
		for _, v := range list[1:] {
			if v.Start >= v.End {
				t.Fatalf("%+v", v)
			}
		}
		ReadLines(b, nil)
		ReadInlinees(b, nil)
		for rest := b; ; {
			kind, body, next, ok := Next(rest)
			if !ok {
				break
			}
			ReadProc(kind, body)
			ReadThunk(kind, body)
			ReadPublic(kind, body)
			ReadInlineSite(kind, body)
			rest = next
		}
	})
}
