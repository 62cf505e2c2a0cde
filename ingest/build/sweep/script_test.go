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

type scriptInput struct {
	order uint64
	run   symbol.Script
}

// scriptSource hands out copies of runs.
func scriptSource(in []scriptInput) ScriptSource[uint64] {
	return func(into *symbol.Script) (uint64, bool, error) {
		if len(in) == 0 {
			return 0, false, nil
		}
		next := in[0]
		in = in[1:]
		ranges, scopes, marks := append(into.Ranges[:0], next.run.Ranges...), append(into.Scopes[:0], next.run.Scopes...), append(into.Marks[:0], next.run.Marks...)
		*into = next.run
		into.Ranges, into.Scopes, into.Marks = ranges, scopes, marks
		return next.order, true, nil
	}
}

// scriptRuns are runs of a script in order, some of them with holes between.
func scriptRuns(r *rand.Rand, n int) []scriptInput {
	strs := []string{"", "a", "b", "f.ts", "g.ts"}
	in := make([]scriptInput, n)
	at := uint64(0)
	for k := range in {
		run := symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: strs, Scopes: []symbol.Scope{{Parent: -1}, {Parent: r.Int32N(2) - 1, Function: 1}}}}
		at += r.Uint64N(2)
		for range 1 + r.IntN(4) {
			g := symbol.Range{Start: at, End: at + 1 + r.Uint64N(3), Scope: r.Int32N(2), At: symbol.Site{File: r.Uint32N(5), Line: r.Uint32N(2)}}
			run.Ranges, run.Marks, at = append(run.Ranges, g), append(run.Marks, symbol.Mark{Name: r.Uint32N(3), Compiled: r.Uint32N(2)}), g.End
		}
		in[k] = scriptInput{uint64(k), run}
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
		list := func(to *[]string) func(*symbol.Script) error {
			return func(r *symbol.Script) error {
				for i, g := range r.Ranges {
					*to = append(*to, fmt.Sprintf("%d-%d %s", g.Start, g.End, fmt.Sprint(r.Chain(i, nil))))
				}
				return nil
			}
		}
		want, err := SweepScript(scriptSource(in), list(&swept))
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
	for name, spoil := range map[string]func(*symbol.Script){
		"no script":      func(r *symbol.Script) { r.Rank = symbol.RankDWARF },
		"no ranges":      func(r *symbol.Script) { r.Ranges = nil },
		"more strings":   func(r *symbol.Script) { r.Strings = append(r.Strings, "new") },
		"before":         func(r *symbol.Script) { r.Ranges[0].Start = 9; r.Ranges[0].End = 11 },
		"gap inside":     func(r *symbol.Script) { r.Ranges[1].Start++ },
		"empty":          func(r *symbol.Script) { r.Ranges[1].End = r.Ranges[1].Start },
		"scope":          func(r *symbol.Script) { r.Ranges[1].Scope = 1 },
		"file":           func(r *symbol.Script) { r.Ranges[1].At.File = 2 },
		"name":           func(r *symbol.Script) { r.Marks[1].Name = 2 },
		"marks":          func(r *symbol.Script) { r.Marks = nil },
		"parent":         func(r *symbol.Script) { r.Scopes[0].Parent = 0 },
		"function":       func(r *symbol.Script) { r.Scopes[0].Function = 2 },
		"file of a call": func(r *symbol.Script) { r.Scopes[0].Call.File = 2 },
	} {
		at := func(start uint64) *symbol.Script {
			return &symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: []string{"", "f.ts"}, Scopes: []symbol.Scope{{Parent: -1}},
				Ranges: []symbol.Range{{Start: start, End: start + 4}, {Start: start + 4, End: start + 10}}}, Marks: make([]symbol.Mark, 2)}
		}
		given := 0
		s := Script{Emit: func(*symbol.Script) error { given++; return nil }}
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
