package stored

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

func TestAfter(t *testing.T) {
	for _, c := range []struct{ prefix, want []byte }{
		{[]byte{1, 2}, []byte{1, 3}}, {[]byte{1, 0xff}, []byte{2}}, {[]byte{0xff, 0xff}, nil},
	} {
		if got := After(c.prefix); !slices.Equal(got, c.want) {
			t.Errorf("after %x: %x, want %x", c.prefix, got, c.want)
		}
	}
}

func TestLoads(t *testing.T) {
	s := mem.New()
	loads := []Load{{symbol.ID{1}, sinks.Load{1}}, {symbol.ID{1}, sinks.Load{2}}, {symbol.ID{2}, sinks.Load{0xff}}}
	b, err := s.Blocks.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	for _, l := range loads {
		for last := range byte(3) {
			key := append(row.LoadPrefix(l.Artifact, l.ID), 1, 0, 0, 0, 0, 0, 0, 0, last)
			if err := b.Write(sinks.Row{Key: key, Value: []byte("v")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}

	var got []Load
	err = Each(t.Context(), s.Blocks, func(id symbol.ID, l sinks.Load) error {
		got = append(got, Load{id, l})
		return nil
	})
	if err != nil || !slices.Equal(got, loads) {
		t.Errorf("the store has loads %v, want %v: %v", got, loads, err)
	}
	for _, l := range loads {
		n := 0
		err := s.Blocks.Scan(t.Context(), Span(l.Artifact, l.ID), func(sinks.Row) error { n++; return nil })
		if err != nil || n != 3 {
			t.Errorf("load %v has %d rows: %v", l, n, err)
		}
	}
	have, err := HaveRows(t.Context(), s.Blocks, []Load{loads[2], {symbol.ID{3}, sinks.Load{1}}, loads[0]})
	if err != nil || !slices.Equal(have, []bool{true, false, true}) {
		t.Errorf("the store has rows of %v: %v", have, err)
	}
}
