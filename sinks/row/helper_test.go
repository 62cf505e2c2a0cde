package row

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
)

// load is what a test encoded, and what it encoded it from.
type load struct {
	ring  *Keyring
	store *sinks.Store
	art   symbol.Artifact
	runs  []*symbol.Run
	marks [][]symbol.Mark // by run, of a script
	rows  []sinks.Row
	out   *Loaded
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newRing(t fataler) (*Keyring, *sinks.Store) {
	t.Helper()
	s := mem.New()
	k, err := CreateKeyring(ctx, s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

func artifact(end uint64) symbol.Artifact {
	return symbol.Artifact{ID: symbol.NewID(symbol.ELF, "c0ffee"), Kind: symbol.ELF, Canonical: "c0ffee",
		Arch: "x86_64", End: end, Anchors: map[string]uint64{"b": 2, "a": 1}}
}

// tableOf counts the runs that use each string.
func tableOf(strs []string, runs []*symbol.Run) Table {
	t := Table{Strings: strs, Runs: make([]uint32, len(strs))}
	for _, r := range runs {
		seen := map[uint32]bool{}
		for _, s := range r.Scopes {
			seen[s.Function], seen[s.Call.File] = true, true
		}
		for _, g := range r.Ranges {
			seen[g.At.File] = true
		}
		for s := range seen {
			t.Runs[s]++
		}
	}
	return t
}

func encode(t fataler, k *Keyring, a symbol.Artifact, strs []string, runs []*symbol.Run) *load {
	t.Helper()
	return encodeMarked(t, k, a, strs, runs, nil)
}

func encodeScript(t fataler, k *Keyring, a symbol.Artifact, strs []string, scripts []*symbol.Script) *load {
	t.Helper()
	var runs []*symbol.Run
	marks := [][]symbol.Mark{}
	for _, s := range scripts {
		runs, marks = append(runs, &s.Run), append(marks, s.Marks)
	}
	return encodeMarked(t, k, a, strs, runs, marks)
}

func encodeMarked(t fataler, k *Keyring, a symbol.Artifact, strs []string, runs []*symbol.Run, marks [][]symbol.Mark) *load {
	t.Helper()
	l := &load{ring: k, art: a, runs: runs, marks: marks}
	e, err := NewEncoder(k, &a, NewLoad(time.Unix(1, 0)), tableOf(strs, runs), func(r sinks.Row) error {
		if n := len(l.rows); n > 0 && string(l.rows[n-1].Key) >= string(r.Key) {
			t.Fatalf("row %x after %x", r.Key, l.rows[n-1].Key)
		}
		l.rows = append(l.rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if marks != nil {
			err = e.AddScript(&symbol.Script{Run: *r, Marks: marks[i]})
		} else {
			err = e.Add(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if l.out, err = e.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

// open gives the load opened, its dictionary set.
func (l *load) open(t fataler) *Opened {
	t.Helper()
	o, err := l.ring.Open(l.art.ID, l.out)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := o.Dictionary(); ok {
		r := l.row(s)
		if err := o.SetDictionary(r); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// row is the first row of a span, as a store gives it.
func (l *load) row(s sinks.Span) sinks.Row {
	for _, r := range l.rows {
		if string(r.Key) >= string(s.From) && string(r.Key) < string(s.Stop) {
			return r
		}
	}
	return sinks.Row{}
}

func (l *load) blocks(t fataler, o *Opened) []*Block {
	t.Helper()
	var bs []*Block
	for i := range o.Rows() {
		b, err := o.Block(i, l.row(o.Row(i)))
		if err != nil {
			t.Fatal(err)
		}
		bs = append(bs, b)
	}
	return bs
}

// naive answers a position by looking at every range.
func (l *load) naive(pos uint64) (frames []symbol.Frame, found bool) {
	for k, r := range l.runs {
		for i, g := range r.Ranges {
			if g.Start > pos || pos >= g.End {
				continue
			}
			if l.marks != nil {
				return (&symbol.Script{Run: *r, Marks: l.marks[k]}).Chain(i, nil), true
			}
			return r.Chain(i, nil), true
		}
	}
	return nil, false
}

// synthetic makes functions like those of a big C++ program: long names that
// share namespaces, a few hundred inlined helpers that recur everywhere, each
// walking through the same lines.
func synthetic(functions, rangesEach int) (strs []string, runs []*symbol.Run) {
	rnd := rand.New(rand.NewPCG(7, 7))
	index := map[string]uint32{"": 0}
	strs = []string{""}
	id := func(s string) uint32 {
		i, ok := index[s]
		if !ok {
			i = uint32(len(strs))
			index[s], strs = i, append(strs, s)
		}
		return i
	}
	type helper struct {
		function, file uint32
		lines          []uint32
	}
	var helpers []helper
	for i := range 600 {
		h := helper{
			function: id(fmt.Sprintf("_ZNSt%d_Rb_tree_implIN4ceph6buffer15v14_2_0%d4listESt4pairIKS%d_S3_ESt10_Select1stIS%d_E%sE", i%37, i%11, i, i%5, strings.Repeat("St4lessIS3_E", 1+i%8))),
			file:     id(fmt.Sprintf("/usr/include/c++/10/bits/stl_%d.h", i%60)),
		}
		for j := range 4 + i%9 {
			h.lines = append(h.lines, uint32(100+i*3+j))
		}
		helpers = append(helpers, h)
	}
	at := uint64(0x1000)
	for f := range functions {
		r := &symbol.Run{Rank: symbol.RankDWARF}
		file := id(fmt.Sprintf("/build/ceph-16.2.15/src/osd/Module%d.cc", f/12))
		r.Scopes = append(r.Scopes, symbol.Scope{Parent: -1, Function: id(fmt.Sprintf("_ZN4ceph3osd6Module%d7handle_%dERKNS_6bufferE%s", f/12, f, strings.Repeat("RKSs", f%7)))})
		line := uint32(50 + f%12*80)
		for n := 0; n < rangesEach; {
			// A stretch of the function itself, then a chain of helpers.
			scope := int32(0)
			emit := func(s int32, at2 symbol.Site) {
				end := at + 1 + uint64(rnd.IntN(14))
				r.Ranges = append(r.Ranges, symbol.Range{Start: at, End: end, Scope: s, At: at2})
				at = end
				n++
			}
			line += uint32(rnd.IntN(3))
			emit(0, symbol.Site{File: file, Line: line, Column: uint32(3 + rnd.IntN(20))})
			call := symbol.Site{File: file, Line: line, Column: 9}
			k := rnd.IntN(len(helpers))
			for range 1 + rnd.IntN(5) {
				h := helpers[k]
				r.Scopes = append(r.Scopes, symbol.Scope{Parent: scope, Function: h.function, Call: call})
				scope = int32(len(r.Scopes) - 1)
				for j := range 1 + rnd.IntN(3) {
					emit(scope, symbol.Site{File: h.file, Line: h.lines[j], Column: uint32(7 + j)})
				}
				call = symbol.Site{File: h.file, Line: h.lines[0], Column: 11}
				k = (k*7 + 1) % len(helpers)
			}
		}
		runs = append(runs, r)
		at = (at + 15) &^ 15
	}
	for _, r := range runs {
		r.Strings = strs
	}
	return strs, runs
}

func realSynthetic(t testing.TB) *load {
	k, _ := newRing(t)
	strs, runs := synthetic(2000, 60)
	last := runs[len(runs)-1].Ranges
	return encode(t, k, artifact(last[len(last)-1].End+100), strs, runs)
}
