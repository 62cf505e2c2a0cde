package iceberg

import (
	"slices"
	"testing"
)

// Dead rows join with those that die, in any order. A row that dies twice, or that the file does not have, does not fit.
func TestUnion(t *testing.T) {
	for _, c := range []struct {
		a, b []Span
		most uint64
		want []Span
		rows uint64
		ok   bool
	}{
		{nil, nil, 5, nil, 0, true},
		{[]Span{{2, 2}}, []Span{{0, 1}, {4, 1}}, 5, []Span{{0, 1}, {2, 3}}, 4, true},
		{[]Span{{0, 5}}, nil, 5, []Span{{0, 5}}, 5, true},
		{[]Span{{0, 3}}, []Span{{2, 1}}, 5, nil, 0, false},
		{nil, []Span{{4, 2}}, 5, nil, 0, false},
		{nil, []Span{{9, 0}}, 5, nil, 0, false},
		{nil, []Span{{1, 1 << 63}, {2, 1 << 63}}, 5, nil, 0, false},
	} {
		all, rows, ok := union(c.a, c.b, c.most)
		if !slices.Equal(all, c.want) || rows != c.rows || ok != c.ok {
			t.Errorf("%v and %v of %d rows: %v, %d, %t", c.a, c.b, c.most, all, rows, ok)
		}
	}
}

// Changes that do not fit what a table shows lead to a comparison, which makes the table right.
func TestUnfit(t *testing.T) {
	w := newWorld(t)
	w.add("one", "elf", "a", "b")
	w.add("one", "elf", "c")
	w.publish(w.open(Catalog{}))
	for _, c := range []Changes{
		{Died: map[string][]Span{w.all[0].Path: {{7, 1}}}},             // a row that the file does not have
		{Died: map[string][]Span{w.all[0].Path: {{0, 1}, {0, 1}}}},     // a row that dies twice
		{Died: map[string][]Span{"one/kind=elf/day=x/f.parquet": nil}}, // a path of no file
		{Died: map[string][]Span{"one/kind=elf/day=2026-01-01/gone.parquet": {{0, 1}}}},
		{Gone: []string{"one/f.parquet"}},
	} {
		tables := w.open(Catalog{})
		base, err := tables.catalog.load(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := tables.listed(t.Context(), base.Head())
		if err != nil {
			t.Fatal(err)
		}
		p := tables.grown(tables.shapes[0], manifests, totals{}, nil)
		if ok, err := tables.shrink(t.Context(), tables.shapes[0], p, &c, 1); ok || err != nil {
			t.Errorf("%+v: %t, %v", c, ok, err)
		}
	}
}
