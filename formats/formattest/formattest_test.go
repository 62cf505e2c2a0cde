package formattest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// run is a run of one function over ranges that follow each other.
func run(rank symbol.Rank, function string, borders ...uint64) *symbol.Run {
	r := &symbol.Run{Rank: rank, Strings: []string{"", function, "f.c"}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}}}
	for i := 1; i < len(borders); i++ {
		r.Ranges = append(r.Ranges, symbol.Range{Start: borders[i-1], End: borders[i], At: symbol.Site{File: 2, Line: uint32(i)}})
	}
	return r
}

func TestCheckerRefuses(t *testing.T) {
	lim := formats.Limits{InlineDepth: 2, RunRanges: 3, NameBytes: 8}.WithDefaults()
	if err := (&checker{}).check(run(1, "f", 0, 4, 8), &lim); err != nil {
		t.Fatalf("a sound run: %v", err)
	}
	for _, c := range []struct {
		what string
		bad  func(r *symbol.Run)
		want string
	}{
		{"rank", func(r *symbol.Run) { r.Rank = 0 }, "no rank"},
		{"nothing", func(r *symbol.Run) { r.Ranges = nil }, "no ranges"},
		{"empty range", func(r *symbol.Run) { r.Ranges[1].End = r.Ranges[1].Start }, "range 1 is"},
		{"gap", func(r *symbol.Run) { r.Ranges[1].Start++ }, "range 1 starts"},
		{"overlap", func(r *symbol.Run) { r.Ranges[1].Start-- }, "range 1 starts"},
		{"scope", func(r *symbol.Run) { r.Ranges[0].Scope = 1 }, "scope 1 of 1"},
		{"no scope", func(r *symbol.Run) { r.Ranges[0].Scope = -1 }, "scope -1"},
		{"file", func(r *symbol.Run) { r.Ranges[0].At.File = 3 }, "file 3"},
		{"function", func(r *symbol.Run) { r.Scopes[0].Function = 3 }, "function 3"},
		{"own parent", func(r *symbol.Run) { r.Scopes[0].Parent = 0 }, "has parent 0"},
		{"call of an outermost", func(r *symbol.Run) { r.Scopes[0].Call.Line = 1 }, "has a call"},
		{"depth", func(r *symbol.Run) {
			for i := range int32(3) {
				r.Scopes = append(r.Scopes, symbol.Scope{Parent: i})
			}
		}, "3 deep"},
		{"name", func(r *symbol.Run) { r.Strings[1] = strings.Repeat("n", 5000) }, "5000 bytes"},
		{"length", func(r *symbol.Run) { *r = *run(1, "f", 0, 1, 2, 3, 4) }, "4 ranges"},
		{"string 0", func(r *symbol.Run) { r.Strings[0] = "x" }, "string 0"},
	} {
		r := run(1, "f", 0, 4, 8)
		c.bad(r)
		if err := (&checker{}).check(r, &lim); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	// An index keeps its meaning from run to run.
	var ch checker
	if err := ch.check(run(1, "f", 0, 4), &lim); err != nil {
		t.Fatal(err)
	}
	if err := ch.check(run(1, "g", 4, 8), &lim); err == nil {
		t.Error("string 1 may become another")
	}
	// What promises order has it.
	for _, c := range []struct {
		what string
		bad  func(r *symbol.Script)
	}{
		{"before", func(r *symbol.Script) { r.Ranges[0].Start, r.Ranges[0].End = 3, 6 }},
		{"no script", func(r *symbol.Script) { r.Rank = symbol.RankDWARF }},
		{"no marks", func(r *symbol.Script) { r.Marks = nil }},
		{"name", func(r *symbol.Script) { r.Marks[0].Name = 9 }},
		{"more strings", func(r *symbol.Script) { r.Strings = append(r.Strings, "g") }},
	} {
		ch := checker{ordered: true}
		if err := ch.checkScript(script("f", 0, 4), &lim); err != nil {
			t.Fatal(err)
		}
		r := script("f", 4, 6)
		c.bad(r)
		if err := ch.checkScript(r, &lim); err == nil {
			t.Errorf("in order: %s passes", c.what)
		}
	}
	if err := (&checker{ordered: true}).checkScript(script("f.c", 0, 4), &lim); err == nil {
		t.Error("in order: a string may stand there twice")
	}
	// In a table that parts share, from part to part too.
	shared, tables := new(int), map[any]*table{}
	for _, c := range []struct {
		name string
		ok   bool
	}{{"f", true}, {"g", false}} {
		r := run(1, c.name, 0, 4)
		r.Table = shared
		if err := (&checker{tables: tables}).check(r, &lim); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// script is a script with a mark a range.
func script(function string, borders ...uint64) *symbol.Script {
	r := run(symbol.RankScript, function, borders...)
	return &symbol.Script{Run: *r, Marks: make([]symbol.Mark, len(r.Ranges))}
}

// fake is a format with given runs for parts.
func fake(parts ...[]*symbol.Run) *formats.Format {
	return &formats.Format{
		Name:   "fake",
		Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("fake")) },
		Open: func(context.Context, *formats.Input) (*formats.Object, error) {
			return &formats.Object{Artifacts: []formats.Artifact{{
				Artifact: symbol.Artifact{End: 1 << 20}, Parts: len(parts),
				Explode: func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
					for _, r := range parts[part] {
						if err := emit(r); err != nil {
							return symbol.Quality{}, err
						}
					}
					return symbol.Quality{}, nil
				},
			}}}, nil
		},
	}
}

// TestFlatten holds it against a byte-wise painting of random ranges.
func TestFlatten(t *testing.T) {
	const size = 256
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		parts := make([][]*symbol.Run, 3)
		want := [size]string{}
		type painted struct {
			rank symbol.Rank
			run  *symbol.Run
		}
		var all []painted
		for p := range parts {
			for i := range 6 {
				a := r.Uint64N(size - 8)
				b := a + 1 + r.Uint64N(8)
				run := run(symbol.Rank(1+r.IntN(4)), string(rune('a'+p*6+i)), a, b, b+1+r.Uint64N(4))
				parts[p] = append(parts[p], run)
				all = append(all, painted{run.Rank, run})
			}
		}
		slices.SortStableFunc(all, func(a, b painted) int { return int(a.rank) - int(b.rank) })
		for _, p := range slices.Backward(all) {
			for _, g := range p.run.Ranges {
				for at := g.Start; at < min(g.End, size); at++ {
					want[at] = p.run.Strings[1]
				}
			}
		}
		f := fake(parts...)
		obj := Open(t, f, InputOf("x", []byte("fake"), formats.Limits{}))
		flat, err := Flatten(context.Background(), f, &obj.Artifacts[0])
		if err != nil {
			t.Fatal(err)
		}
		for at := range want {
			got := ""
			if chain := flat.At(uint64(at)); len(chain) == 1 {
				got = chain[0].Linkage
			}
			if got != want[at] {
				t.Fatalf("seed %d: %#x is %q, want %q", seed, at, got, want[at])
			}
		}
	}
}

func TestContentSeesDifferences(t *testing.T) {
	in := func() *formats.Input { return InputOf("x", []byte("fake"), formats.Limits{}) }
	base, err := contentOf(context.Background(), fake([]*symbol.Run{run(1, "f", 0, 4)}), in(), forward)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []*symbol.Run{run(1, "g", 0, 4), run(3, "f", 0, 4), run(1, "f", 0, 5), run(1, "f", 0, 2, 4)} {
		c, err := contentOf(context.Background(), fake([]*symbol.Run{other}), in(), forward)
		if err != nil || slices.Equal(c.parts, base.parts) {
			t.Errorf("%+v gives the same content (%v)", other, err)
		}
	}
	_, err = contentOf(context.Background(), fake([]*symbol.Run{run(1, "f", 0, 0)}), in(), forward)
	var malformed *malformedError
	if !errors.As(err, &malformed) {
		t.Errorf("an empty range: %v", err)
	}
}

func TestSpoolKeepsLimits(t *testing.T) {
	in := InputOf("x", nil, formats.Limits{SpoolBytes: 10})
	for _, c := range []struct {
		size int64
		text string
		want error
	}{
		{4, "four", nil}, {4, "fiver", formats.ErrCorrupt}, {4, "two", formats.ErrCorrupt},
		{11, "more than ten", formats.ErrLimit}, {-1, "more than ten", formats.ErrLimit}, {-1, "four", nil},
	} {
		s, err := in.Spool("s", c.size, strings.NewReader(c.text))
		if !errors.Is(err, c.want) {
			t.Errorf("%q of %d: %v, want %v", c.text, c.size, err, c.want)
		}
		if err == nil {
			if err := s.Release(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := in.Spool("a", 6, strings.NewReader("sixsix")); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Spool("b", 6, strings.NewReader("sixsix")); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("what was spooled before does not count: %v", err)
	}
}

// A name that a run had is checked when all parts have been exploded, if it is to last.
func TestLastingIsChecked(t *testing.T) {
	lim := formats.Limits{}.WithDefaults()
	name := []byte("f")
	c := checker{names: lasting{}}
	if err := c.check(run(1, unsafe.String(&name[0], 1), 0, 4), &lim); err != nil || c.names.check() != nil {
		t.Fatal(err, c.names.check())
	}
	name[0] = 'g'
	if c.names.check() == nil {
		t.Fatal("a name that changed is none that changed")
	}
}

// Of two pieces that overlap the lower rank counts, of equal ranks the piece that came first.
func TestUnwound(t *testing.T) {
	rules := func(text string) string {
		var r unwind.Rules
		if err := r.Merge(unwind.ArchOf("x86_64"), text); err != nil {
			t.Fatal(err)
		}
		return string(r.Append(nil))
	}
	table := []string{"", rules(".cfa: $rsp 8 +"), rules(".cfa: $rsp 16 +")}
	pieces := []*symbol.Unwind{
		{Rank: symbol.UnwindRuntime, Rules: table, Ranges: []symbol.UnwindRange{{Start: 0x10, End: 0x20, Rules: 1}, {Start: 0x18, End: 0x28, Rules: 2}}},
		{Rank: symbol.UnwindDebug, Rules: table, Ranges: []symbol.UnwindRange{{Start: 0x14, End: 0x16, Rules: 2}, {Start: 0x28, End: 0x30, Rules: 2}}},
		{Rank: symbol.UnwindCompact, Rules: table, Ranges: []symbol.UnwindRange{{Start: 0x0, End: 0x12, Rules: 2}, {Start: 0x40, End: 0x50, Rules: 0}}},
	}
	a := &formats.Artifact{Artifact: symbol.Artifact{Arch: "x86_64"}, Unwind: func(_ context.Context, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
		for _, p := range pieces {
			if err := emit(p); err != nil {
				return q, err
			}
		}
		return q, nil
	}}
	got := UnwindOf(t, &formats.Format{Name: "pieces"}, a)
	const want = `0-10 .cfa: $rsp 16 +
10-14 .cfa: $rsp 8 +
14-16 .cfa: $rsp 16 +
16-20 .cfa: $rsp 8 +
20-30 .cfa: $rsp 16 +
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if at := got.Text(0x15); at != ".cfa: $rsp 16 +" || got.Text(0x30) != "" {
		t.Errorf("at 0x15 %q, at 0x30 %q", at, got.Text(0x30))
	}
	lim := formats.Limits{}.WithDefaults()
	for _, bad := range []*symbol.Unwind{
		{Rules: table, Ranges: pieces[0].Ranges},
		{Rank: 1, Rules: table},
		{Rank: 1, Rules: table[1:], Ranges: pieces[0].Ranges},
		{Rank: 1, Rules: table, Ranges: []symbol.UnwindRange{{Start: 1, End: 2, Rules: 3}}},
		{Rank: 1, Rules: table, Ranges: []symbol.UnwindRange{{Start: 2, End: 2, Rules: 1}}},
		{Rank: 1, Rules: []string{"", "nonsense"}, Ranges: pieces[0].Ranges},
	} {
		if checkUnwind(bad, &lim) == nil {
			t.Errorf("%+v breaks no rule", bad)
		}
	}
}
