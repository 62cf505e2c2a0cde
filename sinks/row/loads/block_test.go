package loads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/ranges"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

var ctx = context.Background()

// genRuns draws runs as the sweep gives them.
func genRuns(t *rapid.T) (strs []string, runs []*symbol.Run) {
	strs = append([]string{""}, rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z/]{1,40}`), 3, 12, rapid.ID).Draw(t, "strings")...)
	str := rapid.Uint32Range(0, uint32(len(strs)-1))
	site := rapid.Custom(func(t *rapid.T) symbol.Site {
		line := rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Uint32()).Draw(t, "line")
		return symbol.Site{File: str.Draw(t, "file"), Line: line, Column: rapid.OneOf(rapid.Uint32Range(0, 80), rapid.Uint32()).Draw(t, "column")}
	})
	step := rapid.OneOf(rapid.Uint64Range(1, 40), rapid.Uint64Range(1, 1<<34))
	at := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 1<<40)).Draw(t, "first")
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		r := &symbol.Run{Strings: strs}
		for i := range rapid.IntRange(1, 9).Draw(t, "scopes") {
			s := symbol.Scope{Parent: int32(rapid.IntRange(-1, i-1).Draw(t, "parent")), Function: str.Draw(t, "function")}
			if s.Parent >= 0 {
				s.Call = site.Draw(t, "call")
			}
			r.Scopes = append(r.Scopes, s)
		}
		for range rapid.IntRange(1, 30).Draw(t, "ranges") {
			end := at + step.Draw(t, "length")
			r.Ranges = append(r.Ranges, symbol.Range{Start: at, End: end, Scope: int32(rapid.IntRange(0, len(r.Scopes)-1).Draw(t, "scope")), At: site.Draw(t, "at")})
			at = end
		}
		at += rapid.OneOf(rapid.Just(uint64(0)), step).Draw(t, "gap")
		runs = append(runs, r)
	}
	return strs, runs
}

// Every answer equals a naive scan, at each boundary and beside it.
func TestBlocksAnswerAsANaiveScan(t *testing.T) {
	ring, _ := newRing(t)
	rapid.Check(t, func(t *rapid.T) {
		strs, runs := genRuns(t)
		end := rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 1<<41), rapid.Just(uint64(math.MaxUint64))).Draw(t, "end")
		l := encode(t, ring, artifact(end), strs, runs)
		o := l.open(t)
		blocks := l.blocks(t, o)
		spoken := end // the positions below are spoken for
		probes := []uint64{0, 1, end - 1, end, end + 1, math.MaxUint64}
		for _, r := range runs {
			for _, g := range r.Ranges {
				probes = append(probes, g.Start-1, g.Start, g.Start+1, g.End-1, g.End, g.End+1, g.Start+(g.End-g.Start)/2)
				spoken = max(spoken, g.End)
			}
		}
		to := make([]symbol.Frame, 1, 64)
		var asked []ranges.Question
		for _, pos := range probes {
			i, ok := o.Index(pos)
			if ok != (pos < spoken) {
				t.Fatalf("Index(%#x): %v, spoken for below %#x", pos, ok, spoken)
			}
			if _, at := o.At(pos); at != ok {
				t.Fatalf("At(%#x): %v", pos, at)
			}
			if !ok {
				continue
			}
			got, found := blocks[i].Find(pos, to)
			want, known := l.naive(pos)
			if found != known || !slices.Equal(got[1:], want) {
				t.Fatalf("%#x: found %v %v, want %v %v", pos, found, got[1:], known, want)
			}
			from, stop := blocks[i].Range(pos)
			if pos < from || pos >= stop && stop != 0 {
				t.Fatalf("Range(%#x) = [%#x, %#x)", pos, from, stop)
			}
			for j, b := range blocks {
				asked = append(asked, ranges.Question{Block: &b.Block, Pos: pos})
				if _, found := b.Find(pos, nil); found && j != i {
					t.Fatalf("%#x: block %d answers for block %d", pos, j, i)
				}
			}
		}
		together(t, asked)
	})
}

// Each gives the ranges back as they were added.
func TestEach(t *testing.T) {
	l := realSynthetic(t)
	o := l.open(t)
	type answer struct {
		start, end uint64
		chain      []symbol.Frame
	}
	var got, want []answer
	for _, b := range l.blocks(t, o) {
		err := b.Each(func(start, end uint64, chain []symbol.Frame) error {
			got = append(got, answer{start, end, slices.Clone(chain)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		if err := b.Each(func(uint64, uint64, []symbol.Frame) error { return stop }); err != stop {
			t.Errorf("emit's error came back as %v", err)
		}
	}
	for _, r := range l.runs {
		for i, g := range r.Ranges {
			want = append(want, answer{g.Start, g.End, r.Chain(i, nil)})
		}
	}
	if len(got) != len(want) || uint64(len(got)) != l.out.Ranges {
		t.Fatalf("%d ranges of %d, %d counted", len(got), len(want), l.out.Ranges)
	}
	for i := range want {
		if got[i].start != want[i].start || got[i].end != want[i].end || !slices.Equal(got[i].chain, want[i].chain) {
			t.Fatalf("range %d: %v, want %v", i, got[i], want[i])
		}
	}
	if o.Err() != nil {
		t.Error(o.Err())
	}
}

// The same content gives the same digest and the same plaintext, for any
// keys, the load and the order of the string table.
func TestDigestIsOfContentAlone(t *testing.T) {
	strs, runs := rowtest.Synthetic(300, 40)
	ring, _ := newRing(t)
	first := encode(t, ring, artifact(1<<30), strs, runs)

	n := len(strs)
	moved := make([]string, n)
	to := make([]uint32, n)
	for i, s := range strs {
		if i > 0 {
			to[i] = uint32(1 + (i*7919)%(n-1))
		}
		for i > 0 && moved[to[i]] != "" {
			to[i] = to[i]%uint32(n-1) + 1
		}
		moved[to[i]] = s
	}
	var again []*symbol.Run
	for _, r := range runs {
		c := &symbol.Run{Strings: moved, Ranges: slices.Clone(r.Ranges), Scopes: slices.Clone(r.Scopes)}
		for i := range c.Ranges {
			c.Ranges[i].At.File = to[c.Ranges[i].At.File]
		}
		for i := range c.Scopes {
			c.Scopes[i].Function, c.Scopes[i].Call.File = to[c.Scopes[i].Function], to[c.Scopes[i].Call.File]
		}
		again = append(again, c)
	}
	other, _ := newRing(t)
	second := encode(t, other, artifact(1<<30), moved, again)
	if first.out.Digest != second.out.Digest || !bytes.Equal(first.out.Fence, second.out.Fence) || first.out.Bytes != second.out.Bytes {
		t.Errorf("digest %x and %x, bytes %d and %d", first.out.Digest, second.out.Digest, first.out.Bytes, second.out.Bytes)
	}
	verified := func(l *load) [32]byte {
		v := l.open(t).Verify()
		for _, r := range l.rows {
			if _, err := v.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		d, err := v.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if verified(first) != first.out.Digest || verified(second) != first.out.Digest {
		t.Error("what is read back has another digest")
	}
	v := first.open(t).Verify()
	if _, err := v.Digest(); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("digest without rows: %v", err)
	}

	runs[0].Ranges[0].At.Line++
	if changed := encode(t, ring, artifact(1<<30), strs, runs); changed.out.Digest == first.out.Digest {
		t.Error("another line, the same digest")
	}
	runs[0].Ranges[0].At.Line--
	if longer := encode(t, ring, artifact(1<<30+1), strs, runs); longer.out.Digest == first.out.Digest {
		t.Error("another end, the same digest")
	}
}

func TestOrderIsAsserted(t *testing.T) {
	ring, _ := newRing(t)
	strs := []string{"", "f"}
	run := func(start, end uint64) *symbol.Run {
		return &symbol.Run{Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{Start: start, End: end}}}
	}
	for _, bad := range []*symbol.Run{run(0x10, 0x30), run(0x1f, 0x21), run(0x28, 0x28), run(0x30, 0x2f)} {
		a := artifact(100)
		e, err := NewEncoder(ring, &a, sinks.Load{1}, nil, dictionary.Table{Strings: strs}, func(sinks.Row) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(run(0x10, 0x20)); err != nil {
			t.Fatal(err)
		}
		err = e.Add(bad)
		if err == nil {
			t.Fatalf("%v was taken", bad.Ranges)
		}
		for _, key := range [][]byte{rowKey(a.ID, sinks.Load{1}, 0x1f), rowKey(a.ID, sinks.Load{1}, bad.Ranges[0].End-1)} {
			if !strings.Contains(err.Error(), fmt.Sprintf("%x", key)) {
				t.Errorf("%v does not print key %x", err, key)
			}
		}
		if again := e.Add(run(0x40, 0x50)); again == nil {
			t.Error("a failed encoder went on")
		}
		if _, again := e.Close(); again == nil {
			t.Error("a failed encoder closed well")
		}
	}
}

func TestRunsThatReferNowhere(t *testing.T) {
	ring, _ := newRing(t)
	good := symbol.Scope{Parent: -1, Function: 1}
	for name, r := range map[string]*symbol.Run{
		"scope":    {Scopes: []symbol.Scope{good}, Ranges: []symbol.Range{{End: 1, Scope: 1}}},
		"no scope": {Scopes: []symbol.Scope{good}, Ranges: []symbol.Range{{End: 1, Scope: -1}}},
		"parent":   {Scopes: []symbol.Scope{{Parent: 0, Function: 1}}, Ranges: []symbol.Range{{End: 1}}},
		"function": {Scopes: []symbol.Scope{{Parent: -1, Function: 2}}, Ranges: []symbol.Range{{End: 1}}},
		"call":     {Scopes: []symbol.Scope{good, {Call: symbol.Site{File: 9}}}, Ranges: []symbol.Range{{End: 1}}},
		"file":     {Scopes: []symbol.Scope{good}, Ranges: []symbol.Range{{End: 1, At: symbol.Site{File: 2}}}},
	} {
		a := artifact(100)
		e, err := NewEncoder(ring, &a, sinks.Load{1}, nil, dictionary.Table{Strings: []string{"", "f"}}, func(sinks.Row) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Add(r); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestWriteErrorComesBackAndStays(t *testing.T) {
	ring, _ := newRing(t)
	a := artifact(100)
	full := errors.New("disk full")
	e, err := NewEncoder(ring, &a, sinks.Load{1}, nil, dictionary.Table{Strings: []string{""}}, func(sinks.Row) error { return full })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Close(); !errors.Is(err, full) {
			t.Errorf("%v, want the writer's error", err)
		}
	}
}

// A range that no row can hold is left a hole, counted and named; the others
// are not touched.
func TestRangeAboveTheCap(t *testing.T) {
	ring, _ := newRing(t)
	strs := []string{"", "f", strings.Repeat("g", column.MaxRowBytes), strings.Repeat("h", 3<<20), strings.Repeat("i", 3<<20), strings.Repeat("j", 3<<20)}
	r := &symbol.Run{Strings: strs,
		Scopes: []symbol.Scope{{Parent: -1, Function: 1}, {Parent: -1, Function: 2}, {Parent: 0, Function: 3}, {Parent: 2, Function: 4}, {Parent: 3, Function: 5}},
		Ranges: []symbol.Range{{Start: 10, End: 20}, {Start: 20, End: 30, Scope: 1}, {Start: 30, End: 40, Scope: 2}, {Start: 40, End: 50, Scope: 3}, {Start: 50, End: 60, Scope: 4}, {Start: 60, End: 70}}}
	l := encode(t, ring, artifact(100), strs, []*symbol.Run{r})
	if want := (row.Dropped{Ranges: 2, First: 20}); l.out.Dropped != want || l.out.Ranges != 4 {
		t.Errorf("dropped %+v, kept %d; want %+v, 4", l.out.Dropped, l.out.Ranges, want)
	}
	o := l.open(t)
	blocks := l.blocks(t, o)
	for pos, known := range map[uint64]bool{15: true, 25: false, 35: true, 45: true, 55: false, 65: true, 75: false} {
		i, _ := o.Index(pos)
		got, found := blocks[i].Find(pos, nil)
		want, _ := l.naive(pos)
		if found != known || known && !cmp.Equal(got, want) {
			t.Errorf("%d: found %v with %d frames", pos, found, len(got))
		}
	}
	for _, r := range l.rows {
		if len(r.Value) > column.MaxRowBytes+1024 {
			t.Errorf("row of %d bytes", len(r.Value))
		}
	}
}

// A load without ranges still proves its holes; an empty image has no rows.
func TestEmptyLoads(t *testing.T) {
	ring, _ := newRing(t)
	l := encode(t, ring, artifact(1000), []string{""}, nil)
	o := l.open(t)
	if o.Rows() != 1 {
		t.Fatalf("%d rows, want 1", o.Rows())
	}
	b := l.blocks(t, o)[0]
	if _, found := b.Find(999, nil); found {
		t.Error("an answer from nothing")
	}
	if start, end := b.Range(999); start != 0 || end != 1000 {
		t.Errorf("hole [%d, %d), want [0, 1000)", start, end)
	}
	if _, ok := o.At(1000); ok {
		t.Error("a row speaks for the image's end")
	}
	l = encode(t, ring, artifact(0), []string{""}, nil)
	if o := l.open(t); o.Rows() != 0 || len(l.rows) != 0 {
		t.Errorf("%d rows of an empty image", o.Rows())
	}
}

// Find allocates nothing once its names were fetched, and may be called from
// many goroutines while they are fetched.
func TestFindIsSharedAndAllocatesNothing(t *testing.T) {
	l := realSynthetic(t)
	o := l.open(t)
	if _, ok := o.Dictionary(); !ok {
		t.Fatal("no dictionary: nothing is tested")
	}
	blocks := l.blocks(t, o)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var to []symbol.Frame
			for i := g; i < len(l.runs); i += 3 {
				r := l.runs[i]
				for j := range r.Ranges {
					pos := r.Ranges[j].Start
					k, _ := o.Index(pos)
					var found bool
					if to, found = blocks[k].Find(pos, to[:0]); !found || !slices.Equal(to, r.Chain(j, nil)) {
						t.Errorf("%#x: %v", pos, to)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	to := make([]symbol.Frame, 0, 64)
	pos := l.runs[5].Ranges[7].Start
	if n := testing.AllocsPerRun(100, func() {
		k, _ := o.Index(pos)
		to, _ = blocks[k].Find(pos, to[:0])
	}); n > 0 {
		t.Errorf("%v allocations a look-up", n)
	}
}

func TestRangesOfAnyLength(t *testing.T) {
	ring, _ := newRing(t)
	strs := []string{"", "f"}
	for _, bounds := range [][]uint64{{0, 1 << 63, math.MaxUint64}, {5, 1 << 33, 1<<33 + 1, 1 << 62}, {math.MaxUint64 - 2, math.MaxUint64 - 1, math.MaxUint64}} {
		r := &symbol.Run{Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
		for i := 1; i < len(bounds); i++ {
			r.Ranges = append(r.Ranges, symbol.Range{Start: bounds[i-1], End: bounds[i], At: symbol.Site{Line: uint32(i)}})
		}
		l := encode(t, ring, artifact(math.MaxUint64), strs, []*symbol.Run{r})
		o := l.open(t)
		blocks := l.blocks(t, o)
		for _, b := range bounds {
			for _, pos := range []uint64{b - 1, b, b + 1} {
				i, ok := o.Index(pos)
				if !ok {
					if pos != math.MaxUint64 {
						t.Errorf("%#x is outside", pos)
					}
					continue
				}
				got, found := blocks[i].Find(pos, nil)
				if want, known := l.naive(pos); found != known || !slices.Equal(got, want) {
					t.Errorf("%#x: %v %v, want %v %v", pos, found, got, known, want)
				}
			}
		}
	}
}
