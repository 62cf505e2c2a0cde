package loads

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/ranges"
)

// genScript draws runs as a source map gives them: ranges within lines, names,
// flags, inlined functions, holes within lines and over them.
func genScript(t *rapid.T) (strs []string, runs []*symbol.Script) {
	strs = append([]string{""}, rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z/]{1,40}`), 3, 12, rapid.ID).Draw(t, "strings")...)
	str := rapid.Uint32Range(0, uint32(len(strs)-1))
	number := rapid.OneOf(rapid.Uint32Range(0, 90), rapid.Uint32())
	site := rapid.Custom(func(t *rapid.T) symbol.Site {
		return symbol.Site{File: str.Draw(t, "file"), Line: number.Draw(t, "line"), Column: number.Draw(t, "column")}
	})
	at := rapid.Uint64Range(0, 1<<36).Draw(t, "first")
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		r := &symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: strs}}
		for i := range rapid.IntRange(1, 5).Draw(t, "scopes") {
			s := symbol.Scope{Parent: int32(rapid.IntRange(-1, i-1).Draw(t, "parent")), Function: str.Draw(t, "function")}
			if s.Parent >= 0 {
				s.Call = site.Draw(t, "call")
			}
			r.Scopes = append(r.Scopes, s)
		}
		for range rapid.IntRange(1, 30).Draw(t, "ranges") {
			end := at + rapid.Uint64Range(1, 300).Draw(t, "length")
			if eol := (at>>32 + 1) << 32; end > eol || rapid.IntRange(0, 5).Draw(t, "last of its line") == 0 {
				end = eol
			}
			flags := symbol.Flags(rapid.IntRange(0, 3).Draw(t, "flags"))
			if rapid.IntRange(0, 9).Draw(t, "over lines") == 0 {
				end = at + rapid.SampledFrom([]uint64{1, 1 << 32, 3<<32 - at&(1<<32-1), 5<<32 + 7}).Draw(t, "length over lines")
				flags |= symbol.OverLines
			}
			r.Ranges = append(r.Ranges, symbol.Range{Start: at, End: end, Scope: int32(rapid.IntRange(0, len(r.Scopes)-1).Draw(t, "scope")),
				At: site.Draw(t, "at")})
			r.Marks = append(r.Marks, symbol.Mark{Name: str.Draw(t, "name"), Compiled: str.Draw(t, "compiled"), Flags: flags})
			at = end
		}
		at += rapid.SampledFrom([]uint64{0, 1, 40, 1 << 32, 3<<32 + 2, 1 << 50}).Draw(t, "gap")
		runs = append(runs, r)
	}
	return strs, runs
}

func script(end uint64) symbol.Artifact {
	return symbol.Artifact{ID: symbol.NewID(symbol.SourceMap, "c0ffee"), Kind: symbol.SourceMap, Canonical: "c0ffee", End: end}
}

// naiveScript is naive with what a range says of its positions.
func (l *load) naiveScript(pos uint64) (frames []symbol.Frame, found bool) {
	frames, found = l.naive(pos)
	for k, r := range l.runs {
		for i, g := range r.Ranges {
			if g.Start <= pos && pos < g.End {
				at := l.marks[k][i].Flags.At(symbol.Site{Line: frames[0].Line, Column: frames[0].Column}, g.Start, pos)
				frames[0].Line, frames[0].Column = at.Line, at.Column
			}
		}
	}
	return frames, found
}

// Every answer of a script equals a naive scan, at each boundary and beside it.
func TestScriptsAnswerAsANaiveScan(t *testing.T) {
	ring, _ := newRing(t)
	rapid.Check(t, func(t *rapid.T) {
		strs, runs := genScript(t)
		end := rapid.SampledFrom([]uint64{0, 9 << 32, 1 << 52}).Draw(t, "end")
		l := encodeScript(t, ring, script(end), strs, runs)
		o := l.open(t)
		blocks := l.blocks(t, o)
		probes := []uint64{0, 1}
		for _, r := range runs {
			for _, g := range r.Ranges {
				probes = append(probes, g.Start-1, g.Start, g.Start+1, g.End-1, g.End, g.End+1, g.Start+(g.End-g.Start)/2, (g.Start>>32+1)<<32)
			}
		}
		var asked []ranges.Question
		for _, pos := range probes {
			i, ok := o.Index(pos)
			if !ok {
				continue
			}
			asked = append(asked, ranges.Question{Block: &blocks[i].Block, Pos: pos})
			got, found := blocks[i].Find(pos, nil)
			want, known := l.naiveScript(pos)
			if found != known || !slices.Equal(got, want) {
				t.Fatalf("%#x: found %v %v, want %v %v", pos, found, got, known, want)
			}
			if from, stop := blocks[i].Range(pos); pos < from || pos >= stop && stop != 0 {
				t.Fatalf("Range(%#x) = [%#x, %#x)", pos, from, stop)
			}
		}
		together(t, asked)
		verify(t, l, o)
	})
}

// verify: the digest computed from the rows is the writer's.
func verify(t fataler, l *load, o *Opened) {
	t.Helper()
	v := o.Verify()
	for _, r := range l.rows {
		if _, err := v.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if sum, err := v.Digest(); err != nil || sum != l.out.Digest {
		t.Fatal("another digest", err)
	}
}

func TestScriptRangeOverItsLine(t *testing.T) {
	ring, _ := newRing(t)
	a := script(0)
	e, err := NewEncoder(ring, &a, [8]byte{1}, nil, dictionary.Table{Strings: []string{""}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = e.AddScript(&symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: []string{""}, Scopes: []symbol.Scope{{Parent: -1}},
		Ranges: []symbol.Range{{Start: 5, End: 1<<32 + 1}}}, Marks: make([]symbol.Mark, 1)})
	if err == nil {
		t.Error("a range over the end of its line was taken")
	}
}
