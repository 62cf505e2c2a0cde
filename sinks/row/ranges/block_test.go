package ranges

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/rowtest"
)

// encoded is a block that a writer emitted.
type encoded struct {
	body []byte
	last uint64
}

// encode makes blocks of runs or of scripts.
func encode(t testing.TB, strs []string, numbers []uint32, runs []*symbol.Run, scripts []*symbol.Script) (blocks []encoded) {
	t.Helper()
	c := column.NewEncoder()
	defer c.Release()
	w := NewWriter(strs, numbers, scripts != nil, nil, func(b *Full) (*Full, error) {
		blocks = append(blocks, encoded{bytes.Clone(b.Body(c)), b.Last})
		return b, nil
	})
	for _, r := range runs {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range scripts {
		if err := w.AddScript(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(1 << 20); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// For any bytes in a row that passed its seal, opening it neither panics nor
// takes more memory than a row may, and what opens answers.
func FuzzBlock(f *testing.F) {
	strs, runs := rowtest.Synthetic(60, 40)
	table := dictionary.Table{Strings: strs}
	picked := table.Choose()
	dict, err := dictionary.Open(table.Encode(column.NewEncoder(), picked, io.Discard))
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range encode(f, strs, picked.Numbers(len(strs)), runs, nil) {
		f.Add(b.body, b.last, false)
	}
	f.Add([]byte{0, 1, 1}, uint64(10), false)
	for _, b := range scriptSeed(f) {
		f.Add(b.body, b.last, true)
	}
	f.Fuzz(func(t *testing.T, body []byte, last uint64, script bool) {
		d := column.NewDecoder()
		defer d.Release()
		b := new(Block)
		if _, err := b.Decode(d, dict, body, last, script); err != nil {
			return
		}
		if b.Bytes() > 16*column.MaxRowBytes {
			t.Fatalf("%d bytes of memory", b.Bytes())
		}
		at := b.from
		var asked []Question
		for range 50 {
			start, end := b.Range(at)
			if start > at || end <= at && end != 0 {
				t.Fatalf("Range(%#x) = [%#x, %#x)", at, start, end)
			}
			asked = append(asked, Question{Block: b, Pos: at}, Question{Block: b, Pos: end})
			if at = end; end == 0 || end > b.last {
				break
			}
		}
		together(t, asked)
		n := 0
		err = b.Each(func(start, end uint64, chain []symbol.Frame) error { n++; return nil })
		if err != nil || n > len(b.parts) {
			t.Fatalf("%d ranges, %v", n, err)
		}
	})
}

// scriptSeed is a small block of a script.
func scriptSeed(t testing.TB) []encoded {
	strs := []string{"", "a.ts", "b.ts", "add", "cart", "n"}
	return encode(t, strs, make([]uint32, len(strs)), nil, []*symbol.Script{{Run: symbol.Run{Rank: symbol.RankScript, Strings: strs,
		Scopes: []symbol.Scope{{Parent: -1, Function: 3}, {Parent: 0, Function: 4, Call: symbol.Site{File: 2, Line: 4, Column: 5}}},
		Ranges: []symbol.Range{{Start: 4, End: 9, At: symbol.Site{File: 1, Line: 3}}, {Start: 9, End: 12, Scope: 1, At: symbol.Site{File: 2, Line: 3, Column: 7}},
			{Start: 12, End: 1 << 32, At: symbol.Site{File: 1, Line: 9, Column: 2}}}},
		Marks: []symbol.Mark{{Name: 5, Compiled: 1}, {Flags: symbol.Linear}, {Name: 5, Flags: symbol.Ignored}}}})
}

// together: asked together, questions get the answers that they get alone.
func together(t testing.TB, qs []Question) {
	t.Helper()
	Locate(qs)
	for i := range qs {
		q := &qs[i]
		want, known := q.Block.Find(q.Pos, make([]symbol.Frame, 1))
		if got, found := q.Find(make([]symbol.Frame, 1)); found != known || !slices.Equal(got, want) {
			t.Fatalf("%#x: with %d others found %v %v, alone %v %v", q.Pos, len(qs)-1, found, got, known, want)
		}
	}
}

// Blocks without parts of the line of the last one: each part has a line, also a line 0 further.
func TestScriptBlocksWithAllLines(t *testing.T) {
	body := []byte{0, 3, 1} // from 0; 3 parts; 1 node
	cols := [scriptColumns][]byte{
		colStep: {0, 4, 3}, colLineStep: {0}, colStart: {5}, colWhat: {partFile | partNode, 0, 0},
		colScriptFile: {0}, colFileLo: {0}, colFileHi: {0},
		colNode: {2}, colParent: {0}, colFunction: {1}, colFunctionLo: {0}, colFunctionHi: {0},
		colTextLength: {4, 1}, colText: []byte("a.tsf"),
		colScriptLine: {20, 0, 2}, colScriptColumn: {6}, colScriptRestart: {7, 1},
	}
	c := column.NewEncoder()
	for _, col := range cols {
		body = c.Append(body, col, column.TryNone)
	}
	b := new(Block)
	if _, err := b.Decode(column.NewDecoder(), nil, body, 99, true); err != nil {
		t.Fatal(err)
	}
	for pos, want := range map[uint64]symbol.Frame{5: {Line: 10, Column: 7}, 9: {Line: 10, Column: 10}, 12: {Line: 11, Column: 1}, 99: {Line: 11, Column: 1}} {
		want.Linkage, want.File = "f", "a.ts"
		if got, ok := b.Find(pos, nil); !ok || len(got) != 1 || got[0] != want {
			t.Errorf("%d: %v %v, want %v", pos, ok, got, want)
		}
	}
}
