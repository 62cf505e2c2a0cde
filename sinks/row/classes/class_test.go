package classes

import (
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// typeTable is a table of the types of classes, worth a dictionary.
func typeTable(all []*symbol.Class) dictionary.Table {
	t := dictionary.Table{Strings: []string{""}}
	p := NewPacker(func(s string) uint32 {
		if !slices.Contains(t.Strings, s) {
			t.Strings = append(t.Strings, s)
		}
		return 0
	})
	for _, c := range all {
		p.Append(nil, c)
	}
	return t
}

// For any bytes in a row of classes that passed its seal, opening it neither panics nor takes more memory than a
// row may, and so do its classes.
func FuzzClasses(f *testing.F) {
	all := rowtest.Classes(rand.New(rand.NewPCG(1, 2)), 40)
	table := typeTable(all)
	picked := table.Choose()
	dict, err := dictionary.Open(table.Encode(column.NewEncoder(), picked, io.Discard))
	if err != nil {
		f.Fatal(err)
	}
	packer := NewPacker(func(s string) uint32 { return uint32(max(0, slices.Index(table.Strings, s))) })
	var packed []*Packed
	for i, c := range all {
		packed = append(packed, &Packed{Position: uint64(i), Form: packer.Append(nil, c)})
	}
	f.Add(encode(f, &table, picked.Numbers(len(table.Strings)), packed...))
	f.Add(exampleBlock(f))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := column.NewDecoder()
		defer d.Release()
		b, err := Decode(d, dict, body, 1<<64-1)
		if err != nil {
			return
		}
		if b.Bytes() > 32*column.MaxRowBytes {
			t.Fatalf("%d bytes of memory", b.Bytes())
		}
		p := NewPacker(nil)
		for i := range min(b.Len(), 100) {
			if x, err := b.Class(b.Name(i)); err == nil {
				whole, err := x.whole() // a checked class can be made
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range whole.Members[:min(10, len(whole.Members))] {
					x.Named(m.Name)
				}
			}
			c, err := b.At(i)
			if err != nil {
				continue
			}
			if len(c.Members) > len(body)*1000 {
				t.Fatalf("%d members", len(c.Members))
			}
			p.Append(nil, c)
		}
	})
}

// The sorter hands on only what it was given; a packed class that is broken is an error all the same.
func FuzzPacked(f *testing.F) {
	share := func(s string) uint32 { return uint32(len(s) % 3) }
	p := NewPacker(share)
	for _, c := range rowtest.Classes(rand.New(rand.NewPCG(3, 4)), 20) {
		f.Add(p.Append(nil, c))
	}
	t := &dictionary.Table{Strings: []string{"", "a.B", "int"}}
	f.Fuzz(func(test *testing.T, b []byte) {
		w := NewWriter(t, []uint32{0, 0, 1}, column.NewEncoder(), nil, func(_, _ uint64, _ []byte) error { return nil })
		if len(b) < classBytes {
			_ = w.Add(&Packed{Form: b}) // it may refuse
		}
		c, err := Unpack(t, b)
		if err != nil {
			return
		}
		again := NewPacker(nil).Append(nil, c)
		// A class that names itself as another may come back with one more source file.
		if d, err := Unpack(t, again); err != nil || d.Original != c.Original || d.File != c.File || !reflect.DeepEqual(c.Members, d.Members) {
			test.Fatalf("%v: %+v, then %+v", err, c, d)
		}
	})
}

// What the lake is given is the class that was packed, whichever of its strings have numbers.
func TestUnpack(t *testing.T) {
	table := &dictionary.Table{Strings: []string{"", "void", "x.Y", "o.P"}, Numbers: []uint32{0, 0, 3, 1, 2}}
	p := NewPacker(func(s string) uint32 {
		return map[string]uint32{"void": 3, "x.Y": 4, "o.P": 2}[s]
	})
	for _, c := range rowtest.Classes(rand.New(rand.NewPCG(5, 6)), 500) {
		b := p.Append(nil, c)
		got, err := Unpack(table, b)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, got, c)
		}
		if name, err := PackedName(b); err != nil || name != c.Name {
			t.Fatalf("%q, %v, want %q", name, err, c.Name)
		}
	}
}
