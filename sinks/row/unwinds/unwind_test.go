package unwinds

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// coded is a load's rows as a test keeps them.
type coded struct {
	bodies [][]byte
	lasts  []uint64
	rules  []byte
	count  int
}

func encode(t testing.TB, table []string, ranges []symbol.UnwindRange) (*Writer, coded) {
	t.Helper()
	var to coded
	c := column.NewEncoder()
	defer c.Release()
	w := NewWriter(table, c, func(from, last uint64, body []byte, columns [][]byte) error {
		to.bodies, to.lasts = append(to.bodies, bytes.Clone(body)), append(to.lasts, last)
		return nil
	})
	for _, g := range ranges {
		if err := w.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if to.rules, to.count, _, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return w, to
}

// decode returns the ranges of all blocks, their rules as indices into table.
func (c *coded) decode(t testing.TB, table []string) (ranges []symbol.UnwindRange) {
	t.Helper()
	d := column.NewDecoder()
	defer d.Release()
	rules, _, err := DecodeRules(d, c.rules)
	if err != nil {
		t.Fatal(err)
	}
	if rules.Rows != uint64(len(c.bodies)) || rules.Last != c.lasts[len(c.lasts)-1] || rules.Len() != c.count {
		t.Fatalf("the table says %d rows up to %#x, %d rules", rules.Rows, rules.Last, rules.Len())
	}
	index := map[string]uint32{}
	for i, s := range table {
		index[s] = uint32(i)
	}
	from := uint64(0)
	for i, body := range c.bodies {
		b, _, err := Decode(d, body, c.lasts[i], c.count)
		if err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
		if b.From() != from {
			t.Fatalf("block %d speaks from %#x on, want %#x", i, b.From(), from)
		}
		from = c.lasts[i] + 1
		err = b.Each(func(start, end uint64, n uint32) error {
			number, gotStart, gotEnd, ok := b.Find(end - 1)
			if !ok || number != n || gotStart != start || gotEnd != end {
				t.Fatalf("at %#x rules %d of [%#x, %#x), %t; want %d of [%#x, %#x)", end-1, number, gotStart, gotEnd, ok, n, start, end)
			}
			ranges = append(ranges, symbol.UnwindRange{Start: start, End: end, Rules: index[rules.Get(n)]})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return ranges
}

// functions makes ranges as compilers write them: functions that begin and end alike, with holes between.
func functions(r *rand.Rand, n, rules int) (table []string, ranges []symbol.UnwindRange) {
	table = []string{""}
	for i := range rules {
		table = append(table, fmt.Sprintf("rules %d", i))
	}
	at := uint64(0x1000)
	for len(ranges) < n {
		kind := 1 + r.IntN(max(rules-4, 1))
		for k := range min(4, rules) {
			end := at + uint64(1+k+r.IntN(2)*r.IntN(300))
			ranges = append(ranges, symbol.UnwindRange{Start: at, End: end, Rules: uint32(kind + k)})
			at = end
		}
		at = (at + 15) &^ 15
		if r.IntN(200) == 0 {
			at += r.Uint64N(1 << 34)
		}
	}
	return table, ranges
}

// Blocks give back any ranges that they were made of.
func TestRanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 4))
	for _, rules := range []int{1, 5, 300, 20_000} {
		table, ranges := functions(r, 30_000, rules)
		_, c := encode(t, table, ranges)
		if got := c.decode(t, table); !slices.Equal(got, ranges) {
			t.Errorf("%d rules: %d ranges, want %d, or others", rules, len(got), len(ranges))
		}
	}
	table := []string{"", "a", "b"}
	for name, ranges := range map[string][]symbol.UnwindRange{
		"one":        {{Start: 0, End: 1, Rules: 1}},
		"all":        {{Start: 0, End: math.MaxUint64 - 1, Rules: 2}},
		"far apart":  {{Start: 7, End: 9, Rules: 1}, {Start: 1 << 63, End: 1<<63 + 5<<32, Rules: 2}, {Start: 1<<63 + 5<<32, End: 1<<63 + 5<<32 + 1, Rules: 1}},
		"no rules":   {{Start: 7, End: 9, Rules: 1}, {Start: 9, End: 11}, {Start: 11, End: 12, Rules: 2}},
		"alternates": {{Start: 1, End: 2, Rules: 1}, {Start: 2, End: 300, Rules: 2}, {Start: 300, End: 301, Rules: 1}, {Start: 301, End: 599, Rules: 2}, {Start: 599, End: 600, Rules: 1}},
	} {
		_, c := encode(t, table, ranges)
		want := slices.DeleteFunc(slices.Clone(ranges), func(g symbol.UnwindRange) bool { return g.Rules == 0 })
		if got := c.decode(t, table); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// What stands between ranges is a hole, and so is what stands before the first.
func TestHoles(t *testing.T) {
	t.Parallel()
	_, c := encode(t, []string{"", "a"}, []symbol.UnwindRange{{Start: 0x14, End: 0x18, Rules: 1}, {Start: 0x20, End: 0x30, Rules: 1}})
	d := column.NewDecoder()
	defer d.Release()
	b, _, err := Decode(d, c.bodies[0], c.lasts[0], c.count)
	if err != nil {
		t.Fatal(err)
	}
	for _, hole := range [][3]uint64{{0, 0, 0x14}, {0x13, 0, 0x14}, {0x18, 0x18, 0x20}, {0x1f, 0x18, 0x20}} {
		if _, start, end, ok := b.Find(hole[0]); ok || start != hole[1] || end != hole[2] {
			t.Errorf("at %#x: [%#x, %#x), %t", hole[0], start, end, ok)
		}
	}
}

// Ranges out of order, and rules that there are not, are the caller's fault. Rules beyond the table's room are left out.
func TestRefused(t *testing.T) {
	t.Parallel()
	c := column.NewEncoder()
	defer c.Release()
	for _, ranges := range [][]symbol.UnwindRange{
		{{Start: 4, End: 4, Rules: 1}}, {{Start: 4, End: 8, Rules: 2}}, {{Start: 4, End: math.MaxUint64, Rules: 1}},
		{{Start: 4, End: 8, Rules: 1}, {Start: 7, End: 9, Rules: 1}},
	} {
		w := NewWriter([]string{"", "a"}, c, func(uint64, uint64, []byte, [][]byte) error { return nil })
		var err error
		for _, g := range ranges {
			if e := w.Add(g); e != nil {
				err = e
			}
		}
		if err == nil {
			t.Errorf("%v are taken", ranges)
		}
	}
	long := string(make([]byte, maxRuleBytes/2))
	table := []string{"", long + "a", long[1:] + "b", "c"}
	w, got := encode(t, table, []symbol.UnwindRange{{Start: 0, End: 1, Rules: 1}, {Start: 1, End: 2, Rules: 2}, {Start: 2, End: 3, Rules: 3}})
	if w.Left != 1 || w.Ranges != 2 || len(got.decode(t, table)) != 2 {
		t.Errorf("%d ranges, %d left out", w.Ranges, w.Left)
	}
}

// Real code takes less than a byte a range: most of it is guessed.
func TestSmall(t *testing.T) {
	t.Parallel()
	var ranges []symbol.UnwindRange
	at := uint64(0x1000)
	r := rand.New(rand.NewPCG(1, 1))
	for len(ranges) < 20_000 {
		for rules, length := range []uint64{1, 4, uint64(20 + r.IntN(100)), 1} {
			ranges = append(ranges, symbol.UnwindRange{Start: at, End: at + length, Rules: uint32(rules + 1)})
			at += length
		}
		at = (at + 15) &^ 15
	}
	_, c := encode(t, []string{"", "a", "b", "c", "d"}, ranges)
	total := 0
	for _, b := range c.bodies {
		total += len(b)
	}
	if total > len(ranges)/3 {
		t.Errorf("%d bytes for %d ranges", total, len(ranges))
	}
}

// For any bytes in rows of call frame information, reading them neither panics nor takes more than a row may.
func FuzzBlock(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 8))
	for _, rules := range []int{1, 40} {
		table, ranges := functions(r, 300, rules)
		_, c := encode(f, table, ranges)
		for i, b := range c.bodies[:min(len(c.bodies), 4)] {
			f.Add(b, c.lasts[i], uint32(c.count), true)
		}
		f.Add(c.rules, uint64(0), uint32(0), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, last uint64, rules uint32, block bool) {
		d := column.NewDecoder()
		defer d.Release()
		if !block {
			if r, _, err := DecodeRules(d, body); err == nil && r.Len() == 0 {
				t.Fatal("no rules")
			}
			return
		}
		b, _, err := Decode(d, body, last, int(rules))
		if err != nil {
			return
		}
		at := b.base
		err = b.Each(func(start, end uint64, n uint32) error {
			if start < at || end <= start || end > last+1 || n >= rules {
				t.Fatalf("[%#x, %#x) with rules %d of %d after %#x", start, end, n, rules, at)
			}
			if got, _, _, ok := b.Find(start); !ok || got != n {
				t.Fatalf("at %#x rules %d, %t; want %d", start, got, ok, n)
			}
			at = end
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	table, ranges := functions(rand.New(rand.NewPCG(1, 2)), 100_000, 300)
	for b.Loop() {
		encode(b, table, ranges)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ranges)), "ns/range")
}

func BenchmarkDecode(b *testing.B) {
	table, ranges := functions(rand.New(rand.NewPCG(1, 2)), maxParts, 300)
	_, c := encode(b, table, ranges)
	d := column.NewDecoder()
	defer d.Release()
	for b.Loop() {
		if _, _, err := Decode(d, c.bodies[0], c.lasts[0], c.count); err != nil {
			b.Fatal(err)
		}
	}
}
