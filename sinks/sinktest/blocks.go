package sinktest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func visibility(t *testing.T, open func() *sinks.Store) {
	s, other := open(), open()
	list := rows(load(1, 1), 3, 100)
	b := begin(t, s)
	put(t, b, list, rows(load(2, 1), 2000, 1000)) // the second is above any buffer
	for _, s := range []*sinks.Store{s, other} {
		if got := all(t, s, sinks.Span{}); len(got) != 0 {
			t.Fatalf("%d rows before Commit", len(got))
		}
		if r := one(t, s, span(load(1, 1), 0)); r.Key != nil {
			t.Fatal("a row before Commit")
		}
	}
	b.Abort()
	b.Abort()
	if err := b.Commit(ctx); err == nil {
		t.Error("an aborted batch was committed")
	}
	if err := b.Write(list[0]); err == nil {
		t.Error("an aborted batch took a row")
	}
	if got := all(t, s, sinks.Span{}); len(got) != 0 {
		t.Fatalf("%d rows after Abort", len(got))
	}
	b = begin(t, s)
	put(t, b, list)
	if err := b.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	b.Abort() // does nothing
	if err := b.Write(rows(load(3, 1), 1, 1)[0]); err == nil {
		t.Error("a committed batch took a row")
	}
	if err := b.Commit(ctx); err == nil {
		t.Error("a batch was committed twice")
	}
	for _, s := range []*sinks.Store{s, other, open()} {
		same(t, all(t, s, sinks.Span{}), list)
		sameRow(t, one(t, s, span(load(1, 1), 0)), list[0])
	}
}

func refuses(t *testing.T, open func() *sinks.Store) {
	s := open()
	a, b := rows(load(1, 1), 3, 10), rows(load(2, 1), 3, 10)
	for name, list := range map[string][]sinks.Row{
		"a key twice":               {a[0], a[0]},
		"a key behind a higher one": {a[1], a[0]},
		"a load in two parts":       {a[0], b[0], a[1]},
		"a key without prefix":      {{Key: a[0].Key[:sinks.PrefixBytes-1], Value: []byte("x")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, s)
			defer w.Abort()
			var err error
			for _, r := range list {
				err = w.Write(r)
			}
			if err == nil {
				t.Fatal("was taken")
			}
			if err := w.Write(b[2]); err == nil {
				t.Error("a failed batch took a row")
			}
			if err := w.Commit(ctx); err == nil {
				t.Error("a failed batch was committed")
			}
		})
	}
	if got := all(t, s, sinks.Span{}); len(got) != 0 {
		t.Fatalf("%d rows of failed batches", len(got))
	}
}

func nothing(t *testing.T, open func() *sinks.Store) {
	s := open()
	commit(t, s)
	if got := all(t, s, sinks.Span{}); len(got) != 0 {
		t.Fatalf("%d rows in an empty store", len(got))
	}
	if r := one(t, s, span(load(1, 1), 0)); r.Key != nil || r.Value != nil {
		t.Fatal("a row in an empty store")
	}
	if err := s.Blocks.First(ctx, nil, func(int, sinks.Row, error) { t.Error("an answer without a question") }); err != nil {
		t.Fatal(err)
	}
	if err := s.Blocks.Drop(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

// first asks at every edge of rows, kinds and loads.
func first(t *testing.T, open func() *sinks.Store) {
	s := open()
	before, it, after := load(1, 1), load(1, 2), load(1, 3) // neighbors in key order
	dictionary := sinks.Row{Key: append(bytes.Clone(it), 0, 0, 0, 0, 0, 0, 0, 0, 0), Value: []byte("dictionary")}
	list := rows(it, 500, 300)
	top := key(it, ^uint64(0))
	list = append(list, sinks.Row{Key: top, Value: value(top, 300)})
	class := sinks.Row{Key: append(bytes.Clone(it), 2, 1, 1, 1, 1, 1, 1, 1, 1), Value: []byte{}}
	commit(t, s, rows(after, 3, 10), []sinks.Row{dictionary}, list, []sinks.Row{class}, rows(before, 3, 10))
	for i, want := range list[:500] {
		pos := uint64(i) * 10 // the first it speaks for
		for _, at := range []uint64{pos, pos + 5, pos + 9} {
			sameRow(t, one(t, s, span(it, at)), want)
		}
		if r := one(t, s, sinks.Span{From: key(it, pos), Stop: want.Key}); r.Key != nil {
			t.Fatalf("row %x in a span that stops at it", r.Key)
		}
		sameRow(t, one(t, s, sinks.Span{From: want.Key, Stop: append(bytes.Clone(want.Key), 0)}), want)
		if r := one(t, s, sinks.Span{From: want.Key, Stop: want.Key}); r.Key != nil {
			t.Fatal("a row in an empty span")
		}
	}
	sameRow(t, one(t, s, span(it, 5000)), list[500])
	sameRow(t, one(t, s, span(it, ^uint64(0))), list[500])
	kind := func(k byte) sinks.Span {
		return sinks.Span{From: append(bytes.Clone(it), k), Stop: append(bytes.Clone(it), k+1)}
	}
	sameRow(t, one(t, s, kind(0)), dictionary)
	sameRow(t, one(t, s, kind(1)), list[0])
	sameRow(t, one(t, s, kind(2)), class)
	if r := one(t, s, kind(3)); r.Key != nil {
		t.Fatalf("row %x of a kind that is not there: of the next load", r.Key)
	}
	if r := one(t, s, span(after, 30)); r.Key != nil {
		t.Fatalf("row %x beyond the load's last", r.Key)
	}
	if r := one(t, s, span(load(1, 4), 0)); r.Key != nil {
		t.Fatalf("row %x of a load that is not there", r.Key)
	}
	sameRow(t, one(t, s, sinks.Span{}), rows(before, 1, 10)[0])          // of the whole store
	sameRow(t, one(t, s, sinks.Span{From: key(before, 30)}), dictionary) // across loads
	if r := one(t, s, sinks.Span{From: key(after, 30)}); r.Key != nil {
		t.Fatalf("row %x behind the last of all", r.Key)
	}
}

func firstOfMany(t *testing.T, open func() *sinks.Store) {
	s := open()
	var spans []sinks.Span
	var want []sinks.Row
	var batches [][]sinks.Row
	for a := range 20 {
		batches = append(batches, rows(load(a, 1), 10, 50))
	}
	commit(t, s, batches...)
	for i := range 300 {
		a := i * 7 % 25 // some are not there
		spans = append(spans, span(load(a, 1), uint64(i%11)*10))
		if a < 20 && i%11 < 10 {
			want = append(want, batches[a][i%11])
		} else {
			want = append(want, sinks.Row{})
		}
	}
	answers := make([]int, len(spans))
	if err := s.Blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
		if err != nil {
			t.Errorf("span %d: %v", i, err)
		}
		answers[i]++
		sameRow(t, r, want[i])
	}); err != nil {
		t.Fatal(err)
	}
	for i, n := range answers {
		if n != 1 {
			t.Fatalf("span %d was answered %d times", i, n)
		}
	}
}

func scan(t *testing.T, open func() *sinks.Store) {
	s := open()
	a, b, c := rows(load(1, 1), 40, 100), rows(load(2, 1), 40, 100), rows(load(3, 1), 40, 100)
	commit(t, s, c, a)
	commit(t, s, b)
	list := ordered(a, b, c)
	same(t, all(t, s, sinks.Span{}), list)
	for _, at := range [][2]int{{0, 1}, {3, 3}, {5, 4}, {10, 50}, {39, 41}, {0, 119}, {79, 120}, {119, 120}} {
		var stop []byte
		if at[1] < len(list) {
			stop = list[at[1]].Key
		}
		same(t, all(t, s, sinks.Span{From: list[at[0]].Key, Stop: stop}), list[at[0]:max(at[0], at[1])])
		// Edges that are no keys.
		same(t, all(t, s, sinks.Span{From: append(bytes.Clone(list[at[0]].Key), 0), Stop: stop}), list[at[0]+1:max(at[0]+1, at[1])])
	}
	same(t, all(t, s, sinks.Span{From: []byte{0xff, 0xff}}), list[len(list):])
	same(t, all(t, s, sinks.Span{Stop: []byte{0}}), list[:0])
	same(t, all(t, s, sinks.Span{From: b[0].Key[:7], Stop: b[0].Key[:sinks.PrefixBytes]}), list[:0])
	n := 0
	err := s.Blocks.Scan(ctx, sinks.Span{}, func(sinks.Row) error {
		if n++; n == 50 {
			return errEnough
		}
		return nil
	})
	if err != errEnough || n != 50 {
		t.Fatalf("emit's error came back as %v after %d rows", err, n)
	}
	err = s.Blocks.Scan(ctx, sinks.Span{Stop: list[3].Key}, func(r sinks.Row) error { // a callback may ask
		sameRow(t, one(t, s, sinks.Span{From: r.Key}), r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func manyLoads(t *testing.T, open func() *sinks.Store) {
	s := open()
	rng := rand.New(rand.NewPCG(1, 2))
	var loads [][]sinks.Row
	for a := range 3000 {
		loads = append(loads, rows(load(a, a%3), 1+a%3, rng.IntN(200)))
	}
	rng.Shuffle(len(loads), func(i, j int) { loads[i], loads[j] = loads[j], loads[i] })
	commit(t, s, loads...)
	for _, l := range loads[:300] {
		sameRow(t, one(t, s, span(l[0].Key[:sinks.PrefixBytes], 0)), l[0])
	}
	same(t, all(t, s, sinks.Span{}), ordered(loads...))
}

func bigLoad(t *testing.T, open func() *sinks.Store) {
	s := open()
	small1, big, small2, big2 := rows(load(1, 1), 3, 100), rows(load(2, 1), 3000, 2000), rows(load(3, 1), 3, 100), rows(load(4, 1), 700, 2000)
	commit(t, s, small2, big, small1, big2)
	same(t, all(t, s, sinks.Span{}), ordered(small1, big, small2, big2))
	for i := 0; i < len(big); i += 97 {
		sameRow(t, one(t, s, span(load(2, 1), uint64(i)*10)), big[i])
	}
	sameRow(t, one(t, s, span(load(3, 1), 0)), small2[0])
	if r := one(t, s, span(load(2, 1), 30_000)); r.Key != nil {
		t.Fatalf("row %x behind the load's last", r.Key)
	}
}

func bigValues(t *testing.T, open func() *sinks.Store) {
	s := open()
	list := rows(load(1, 1), 4, 10)
	for i, n := range []int{0, 1<<20 - 1, 3 << 20, 8<<20 + 100} { // a row is at most 8 MiB of sealed block and its header
		list[i].Value = value(list[i].Key, n)
	}
	commit(t, s, list)
	same(t, all(t, s, sinks.Span{}), list)
	for i, r := range list {
		sameRow(t, one(t, s, span(load(1, 1), uint64(i)*10+1)), r)
	}
}

// random compares with a naive store after each of many batches and drops.
func random(t *testing.T, open func() *sinks.Store) {
	s := open()
	rng := rand.New(rand.NewPCG(3, 4))
	have := make(map[int][]sinks.Row)
	for next := 0; next < 60; {
		var batch [][]sinks.Row
		for range 1 + rng.IntN(8) {
			batch = append(batch, rows(load(next%17, next), 1+rng.IntN(30), rng.IntN(3000)))
			have[next] = batch[len(batch)-1]
			next++
		}
		commit(t, s, batch...)
		if rng.IntN(3) == 0 {
			gone := rng.IntN(next)
			if err := s.Blocks.Drop(ctx, [][]byte{load(gone%17, gone)}); err != nil {
				t.Fatal(err)
			}
			delete(have, gone)
		}
		var lists [][]sinks.Row
		for _, l := range have {
			lists = append(lists, l)
		}
		want := ordered(lists...)
		same(t, all(t, s, sinks.Span{}), want)
		for range 50 {
			n := rng.IntN(next)
			pos := rng.Uint64N(320)
			var expect sinks.Row
			for _, r := range have[n] {
				if bytes.Compare(r.Key, key(load(n%17, n), pos)) >= 0 {
					expect = r
					break
				}
			}
			sameRow(t, one(t, s, span(load(n%17, n), pos)), expect)
		}
	}
}
