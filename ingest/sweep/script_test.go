package sweep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// scriptRuns are runs of a script in order, some of them with holes between.
func scriptRuns(r *rand.Rand, n int) []input {
	strs := []string{"", "a", "b", "f.ts", "g.ts"}
	in := make([]input, n)
	at := uint64(0)
	for k := range in {
		run := symbol.Run{Rank: symbol.RankScript, Strings: strs, Scopes: []symbol.Scope{{Parent: -1}, {Parent: r.Int32N(2) - 1, Function: 1}}}
		at += r.Uint64N(2)
		for range 1 + r.IntN(4) {
			g := symbol.Range{Start: at, End: at + 1 + r.Uint64N(3), Scope: r.Int32N(2), Name: r.Uint32N(3), At: symbol.Site{File: r.Uint32N(5), Line: r.Uint32N(2)}}
			run.Ranges, at = append(run.Ranges, g), g.End
		}
		in[k] = input{uint64(k), run}
	}
	return in
}

// What comes in order passes as the sweep hands it on, counted alike.
func TestScriptIsSwept(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		in := scriptRuns(r, r.IntN(20))
		var swept, passed []string
		list := func(to *[]string) func(*symbol.Run) error {
			return func(r *symbol.Run) error {
				for i, g := range r.Ranges {
					*to = append(*to, fmt.Sprintf("%d-%d %s", g.Start, g.End, answer(r, i)))
				}
				return nil
			}
		}
		want, err := Sweep(source(slices.Clone(in)), list(&swept))
		if err != nil {
			t.Fatal(err)
		}
		s := Script{Emit: list(&passed)}
		for i := range in {
			if err := s.Add(&in[i].run); err != nil {
				t.Fatal(err)
			}
		}
		if s.Counts != want || !slices.Equal(passed, swept) {
			t.Fatalf("%+v, want %+v\n%q\n%q", s.Counts, want, passed, swept)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*symbol.Run){
		"no script":      func(r *symbol.Run) { r.Rank = symbol.RankDWARF },
		"no ranges":      func(r *symbol.Run) { r.Ranges = nil },
		"more strings":   func(r *symbol.Run) { r.Strings = append(r.Strings, "new") },
		"before":         func(r *symbol.Run) { r.Ranges[0].Start = 9; r.Ranges[0].End = 11 },
		"gap inside":     func(r *symbol.Run) { r.Ranges[1].Start++ },
		"empty":          func(r *symbol.Run) { r.Ranges[1].End = r.Ranges[1].Start },
		"scope":          func(r *symbol.Run) { r.Ranges[1].Scope = 1 },
		"file":           func(r *symbol.Run) { r.Ranges[1].At.File = 2 },
		"name":           func(r *symbol.Run) { r.Ranges[1].Name = 2 },
		"parent":         func(r *symbol.Run) { r.Scopes[0].Parent = 0 },
		"function":       func(r *symbol.Run) { r.Scopes[0].Function = 2 },
		"file of a call": func(r *symbol.Run) { r.Scopes[0].Call.File = 2 },
	} {
		at := func(start uint64) *symbol.Run {
			return &symbol.Run{Rank: symbol.RankScript, Strings: []string{"", "f.ts"}, Scopes: []symbol.Scope{{Parent: -1}},
				Ranges: []symbol.Range{{Start: start, End: start + 4}, {Start: start + 4, End: start + 10}}}
		}
		given := 0
		s := Script{Emit: func(*symbol.Run) error { given++; return nil }}
		if err := s.Add(at(0)); err != nil {
			t.Fatal(err)
		}
		r := at(10)
		spoil(r)
		if err := s.Add(r); !errors.Is(err, formats.ErrCorrupt) || given != 1 {
			t.Errorf("%s: %v after %d runs", name, err, given)
		}
	}
}
