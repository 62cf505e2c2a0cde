package spill

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build/sweep"
	"github.com/symlake/symlake/sinks/scratch"
)

// part makes the runs of a part: the same ones for the same number.
func part(n, runs, ranges int) []symbol.Run {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	strs := []string{""}
	var out []symbol.Run
	for range runs {
		for range 3 {
			k := r.IntN(500)
			strs = append(strs, fmt.Sprintf("_ZN4name%dEv", k))
		}
		run := symbol.Run{Rank: symbol.Rank(1 + r.IntN(2)*2), Strings: slices.Clone(strs)}
		for i := range 1 + r.IntN(8) {
			run.Scopes = append(run.Scopes, symbol.Scope{Parent: int32(r.IntN(i+1)) - 1, Function: uint32(r.IntN(len(strs))), Call: symbol.Site{File: uint32(r.IntN(len(strs))), Line: r.Uint32(), Column: uint32(r.IntN(200))}})
		}
		at := r.Uint64() >> uint(1+r.IntN(50))
		for range 1 + r.IntN(ranges) {
			end := at + 1 + uint64(r.IntN(1<<uint(1+r.IntN(20))))
			run.Ranges = append(run.Ranges, symbol.Range{Start: at, End: end, Scope: int32(r.IntN(len(run.Scopes))), At: symbol.Site{File: uint32(r.IntN(len(strs))), Line: uint32(r.IntN(5000))}})
			at = end
		}
		out = append(out, run)
	}
	return out
}

// tables are string tables that parts share, more than a lane remembers.
type tables [maxTables + 3]struct {
	mu      sync.Mutex
	strings []string
}

// share makes the runs of a part use the table.
func (t *tables) share(i int, runs []symbol.Run) {
	u := &t[i%len(t)]
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.strings == nil {
		u.strings = []string{""}
	}
	before, base := u.strings, uint32(len(u.strings)-1)
	move := func(i *uint32) {
		if *i != 0 {
			*i += base
		}
	}
	for k := range runs {
		r := &runs[k]
		u.strings = append(slices.Clone(before), r.Strings[1:]...)
		r.Strings, r.Table = u.strings, u
		for i := range r.Scopes {
			move(&r.Scopes[i].Function)
			move(&r.Scopes[i].Call.File)
		}
		for i := range r.Ranges {
			move(&r.Ranges[i].At.File)
		}
	}
}

type got struct {
	Order  Order
	Rank   symbol.Rank
	Ranges []symbol.Range
	Chains [][]symbol.Frame
}

func collect(t *testing.T, s *Sorter) []got {
	t.Helper()
	m, err := s.Merge()
	if err != nil {
		t.Fatal(err)
	}
	var out []got
	var r symbol.Run
	for {
		o, ok, err := m.Next(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		out = append(out, flat(o, &r))
	}
}

// byText is how many runs use each string.
func byText(t Table) map[string]uint32 {
	uses := map[string]uint32{}
	for i, s := range t.Strings {
		uses[s] = t.Runs[i]
	}
	return uses
}

func flat(o Order, r *symbol.Run) got {
	g := got{Order: o, Rank: r.Rank}
	for i, x := range r.Ranges {
		g.Chains = append(g.Chains, r.Chain(i, nil))
		x.Scope, x.At = 0, symbol.Site{}
		g.Ranges = append(g.Ranges, x)
	}
	return g
}

// fill adds parts in the given order over lanes.
func fill(t *testing.T, s *Sorter, lanes int, parts []int, make func(int) []symbol.Run) {
	t.Helper()
	var wg sync.WaitGroup
	for k := range lanes {
		l := s.Lane()
		wg.Go(func() {
			for i := k; i < len(parts); i += lanes {
				for _, r := range make(parts[i]) {
					if err := l.Add(parts[i], &r); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	s.Sort()
}

// The output is the input, ordered, for any lanes, order of parts,
// string tables and budget there were.
func TestSorterIsDeterministic(t *testing.T) {
	const parts = 30
	type variant struct {
		lanes  int
		budget int64
		share  bool
		back   bool
	}
	var want []got
	var table Table
	for p := range parts {
		for i, r := range part(p, 150, 60) {
			want = append(want, flat(order(r.Rank, p, i), &r))
		}
	}
	slices.SortFunc(want, func(a, b got) int {
		return cmp.Or(cmp.Compare(a.Ranges[0].Start, b.Ranges[0].Start), cmp.Compare(a.Order, b.Order))
	})
	for _, v := range []variant{{1, 64 << 20, false, false}, {1, 64 << 20, true, true}, {5, 64 << 20, true, false}, {1, 1, true, false}, {2, 1, false, true}} {
		budget := scratch.NewBudget(v.budget)
		s := New(Options{Budget: budget, Scratch: t.TempDir(), StringBytes: 1 << 30})
		var order []int
		for p := range parts {
			order = append(order, p)
		}
		if v.back {
			slices.Reverse(order)
		}
		var tables tables
		fill(t, s, v.lanes, order, func(p int) []symbol.Run {
			runs := part(p, 150, 60)
			if v.share && p%3 != 0 {
				tables.share(p/2, runs)
			}
			return runs
		})
		for range 2 { // it can be read again
			if have := collect(t, s); !reflect.DeepEqual(have, want) {
				t.Fatalf("%+v: %d runs, want %d, or they differ", v, len(have), len(want))
			}
		}
		if v.budget == 1 && v.lanes == 1 && s.Spilled() == 0 {
			t.Fatalf("%+v: nothing was spilled", v)
		}
		if table.Strings == nil {
			table = s.Table()
		} else if !maps.Equal(byText(s.Table()), byText(table)) {
			t.Fatalf("%+v: the string table differs", v)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if budget.Used() != 0 {
			t.Fatalf("%+v: %d bytes of the budget were not given back", v, budget.Used())
		}
	}
	uses := make([]uint32, len(table.Strings))
	number := map[string]int{}
	for i, s := range table.Strings {
		number[s] = i
	}
	for p := range parts {
		for _, r := range part(p, 150, 60) {
			seen := map[string]bool{}
			for _, s := range r.Scopes {
				seen[r.Strings[s.Function]], seen[r.Strings[s.Call.File]] = true, true
			}
			for _, g := range r.Ranges {
				seen[r.Strings[g.At.File]] = true
			}
			delete(seen, "")
			for s := range seen {
				uses[number[s]]++
			}
		}
	}
	if !slices.Equal(uses, table.Runs) {
		// A string that stands in a part's table twice may count twice in one run.
		for i := range uses {
			if table.Runs[i] < uses[i] {
				t.Fatalf("%q: used by %d runs, want at least %d", table.Strings[i], table.Runs[i], uses[i])
			}
		}
	}
}

// Ten times the budget goes through memory of about the budget, and nothing
// of it is in clear in the scratch folder while it is there.
func TestSorterKeepsBudget(t *testing.T) {
	const budget = 8 << 20
	dir := t.TempDir()
	s := New(Options{Budget: scratch.NewBudget(budget), Scratch: dir, StringBytes: 1 << 30})
	defer s.Close()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := s.Lane()
	runs := 0
	strs := []string{"", "secret_function", "secret/file.c"}
	run := symbol.Run{Rank: 1, Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	r := rand.New(rand.NewPCG(1, 2))
	for p := 0; s.Spilled() < 10*budget; p++ {
		for range 100 {
			at := r.Uint64() >> 8
			run.Ranges = run.Ranges[:0]
			for range 200 {
				run.Ranges = append(run.Ranges, symbol.Range{Start: at, End: at + 9, At: symbol.Site{File: 2, Line: r.Uint32(), Column: r.Uint32()}})
				at += 9
			}
			if err := l.Add(p, &run); err != nil {
				t.Fatal(err)
			}
			runs++
		}
	}
	check := func(when string) {
		runtime.GC()
		runtime.ReadMemStats(&after)
		if heap := int64(after.HeapAlloc) - int64(before.HeapAlloc); heap > budget+2*floorBytes {
			t.Fatalf("%s: %d bytes on the heap, budget %d", when, heap, budget)
		}
	}
	check("filled")
	s.Sort()
	m, err := s.Merge()
	if err != nil {
		t.Fatal(err)
	}
	n, last := 0, uint64(0)
	var into symbol.Run
	for {
		_, ok, err := m.Next(&into)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if into.Ranges[0].Start < last {
			t.Fatal("not in order")
		}
		last = into.Ranges[0].Start
		if n++; n == runs/2 {
			check("merging")
		}
	}
	if n != runs {
		t.Fatalf("%d runs, want %d", n, runs)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 && runtime.GOOS == "linux" {
		t.Fatalf("scratch has a name: %v", left)
	}
}

func TestScratchIsSealed(t *testing.T) {
	f, err := scratch.Create(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := newWriter(f)
	text := bytes.Repeat([]byte("secret_function"), 20_000)
	if err := w.write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	if len(w.seg.pages) != 5 || w.seg.bytes != int64(len(text)) {
		t.Fatalf("%+v", w.seg)
	}
}

func TestSorterRefusesBrokenRuns(t *testing.T) {
	scope := []symbol.Scope{{Parent: -1}}
	for name, r := range map[string]symbol.Run{
		"no ranges":    {Scopes: scope},
		"empty range":  {Scopes: scope, Ranges: []symbol.Range{{Start: 4, End: 4}}},
		"gap":          {Scopes: scope, Ranges: []symbol.Range{{Start: 4, End: 5}, {Start: 6, End: 7}}},
		"no scope":     {Ranges: []symbol.Range{{Start: 4, End: 5}}},
		"below scope":  {Scopes: scope, Ranges: []symbol.Range{{Start: 4, End: 5, Scope: -1}}},
		"parent after": {Scopes: []symbol.Scope{{Parent: 0}}, Ranges: []symbol.Range{{Start: 4, End: 5}}},
		"no string":    {Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{Start: 4, End: 5}}},
		"no file":      {Scopes: scope, Strings: []string{""}, Ranges: []symbol.Range{{Start: 4, End: 5, At: symbol.Site{File: 1}}}},
	} {
		s := New(Options{Budget: scratch.NewBudget(1 << 20)})
		if err := s.Lane().Add(0, &r); !formats.Rejects(err) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

func TestSorterLimitsNames(t *testing.T) {
	s := New(Options{Budget: scratch.NewBudget(1 << 20), StringBytes: 100_000})
	defer s.Close()
	l := s.Lane()
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		r := symbol.Run{Strings: []string{"", fmt.Sprintf("%0100d", i)}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{Start: 1, End: 2}}}
		err = l.Add(i, &r)
	}
	if !errors.Is(err, formats.ErrLimit) {
		t.Fatal(err)
	}
}

// BenchmarkSort takes, sorts and merges runs of the shape of a large C++
// program: 33,000 functions of 58 ranges and 45 scopes, from 1,600 units.
func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	const units, functions, names = 1600, 20, 160_000
	strs, table := []string{""}, new(int)
	for i := range names {
		strs = append(strs, fmt.Sprintf("_ZN4ceph7mangled%0100dEv", i))
	}
	var all [][]symbol.Run
	at := uint64(0)
	for range units {
		local := []uint32{0}
		for range 800 {
			local = append(local, uint32(1+r.IntN(names)))
		}
		var runs []symbol.Run
		for range functions {
			run := symbol.Run{Rank: 1, Strings: strs, Table: table}
			for i := range 45 {
				run.Scopes = append(run.Scopes, symbol.Scope{Parent: int32(max(0, i-r.IntN(6)) - 1), Function: local[r.IntN(800)], Call: symbol.Site{File: local[r.IntN(60)], Line: uint32(r.IntN(3000)), Column: uint32(r.IntN(80))}})
			}
			for range 58 {
				end := at + 1 + uint64(r.IntN(20))
				run.Ranges = append(run.Ranges, symbol.Range{Start: at, End: end, Scope: int32(r.IntN(45)), At: symbol.Site{File: local[r.IntN(60)], Line: uint32(r.IntN(3000)), Column: uint32(r.IntN(80))}})
				at = end
			}
			runs = append(runs, run)
		}
		all = append(all, runs)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := New(Options{Budget: scratch.NewBudget(256 << 20)})
		l := s.Lane()
		for p, runs := range all {
			for i := range runs {
				if err := l.Add(p, &runs[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		s.Sort()
		m, err := s.Merge()
		if err != nil {
			b.Fatal(err)
		}
		counts, err := sweep.Sweep(m.Next, func(*symbol.Run) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(counts.Ranges), "ranges/op")
		b.ReportMetric(float64(s.o.Budget.Used()>>20), "MiB/op")
		s.Close()
	}
}

// Parsers may have "" at any index, and it is no string of the load.
func TestEmptyStrings(t *testing.T) {
	s := New(Options{Budget: scratch.NewBudget(1 << 20), Scratch: t.TempDir()})
	l := s.Lane()
	strs := []string{"", "", "f", ""}
	for i := range 2000 { // some piece of text is full at some time
		strs = append(strs, strings.Repeat("x", i%7), strconv.Itoa(i))
	}
	var want []symbol.Frame
	for i := range strs {
		at := uint64(i)
		r := symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: uint32(i)}},
			Ranges: []symbol.Range{{Start: at, End: at + 1, At: symbol.Site{File: uint32(i), Line: 1}}}}, Marks: []symbol.Mark{{Name: uint32(i), Compiled: uint32(i) / 2}}}
		want = r.Chain(0, want)
		if err := l.AddScript(0, &r); err != nil {
			t.Fatal(err)
		}
	}
	s.Sort()
	var got []symbol.Frame
	m, err := s.Merge()
	if err != nil {
		t.Fatal(err)
	}
	var r symbol.Script
	for {
		_, ok, err := m.NextScript(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = r.Chain(0, got)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d frames, want %d, or they differ", len(got), len(want))
	}
	for i, text := range s.Table().Strings {
		if text == "" && i > 0 {
			t.Errorf("string %d is empty", i)
		}
	}
}

// Strings are copied, unless they outlive the sorter.
func TestLastingStrings(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		s := New(Options{Budget: scratch.NewBudget(1 << 20), Lasting: lasting})
		name := "function"
		run := symbol.Run{Rank: 1, Strings: []string{"", name}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}, Ranges: []symbol.Range{{End: 1}}}
		if err := s.Lane().Add(0, &run); err != nil {
			t.Fatal(err)
		}
		s.Sort()
		if got := s.Table().Strings[1]; got != name || unsafe.StringData(got) == unsafe.StringData(name) != lasting {
			t.Errorf("lasting %v: %q at %p of %p", lasting, got, unsafe.StringData(got), unsafe.StringData(name))
		}
		if s.strings.total.Load() < int64(len(name)) {
			t.Error("names that are not copied do not count")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
