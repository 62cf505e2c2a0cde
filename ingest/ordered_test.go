package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// mapOf is a source map of n segments that uses all its strings. Its mappings end with tail.
func mapOf(n int, tail string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var b, names strings.Builder
	vlq := func(v int) {
		u := v << 1
		if v < 0 {
			u = -v<<1 | 1
		}
		for ; u >= 32; u >>= 5 {
			b.WriteByte(digits[u&31|32])
		}
		b.WriteByte(digits[u])
	}
	r := rand.New(rand.NewPCG(1, 2))
	b.WriteString(`{"version":3,"sources":["a.ts","b.ts",null],"names":[`)
	for i := range 1000 {
		fmt.Fprintf(&names, `"name%d",`, i)
	}
	b.WriteString(strings.TrimSuffix(names.String(), ",") + `],"mappings":"AAAAA`)
	source, name := 0, 0
	for i := range n {
		if b.WriteByte(','); i%500 == 0 {
			b.WriteByte(';')
		}
		to, next := r.IntN(3), i%1000
		vlq(1 + r.IntN(40))
		vlq(to - source)
		vlq(i % 2)
		vlq(0)
		vlq(next - name)
		source, name = to, next
	}
	return strings.ReplaceAll(b.String(), ",;", ";") + tail + `"}`
}

func (w *world) maps() (all []*catalog.Record) {
	w.t.Helper()
	err := w.cat.Artifacts.Each(w.t.Context(), func(r *catalog.Record) error { all = append(all, r); return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// A map with ordered ranges is stored as if it had been sorted.
func TestOrderedIsAsSorted(t *testing.T) {
	few := false
	ordered := sourcemap.Format
	ordered.Open = func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		obj, err := sourcemap.Format.Open(ctx, in)
		if err == nil && (!obj.Artifacts[0].Ordered || obj.Artifacts[0].Few != few) {
			t.Errorf("ordered: %t, few: %t", obj.Artifacts[0].Ordered, obj.Artifacts[0].Few)
		}
		return obj, err
	}
	sorted := sourcemap.Format
	sorted.Open = func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		obj, err := sourcemap.Format.Open(ctx, in)
		if err == nil {
			obj.Artifacts[0].Ordered = false
		}
		return obj, err
	}
	for _, c := range []struct {
		segments, rows int
		few            bool
	}{{40_000, 10, false}, {600, 1, true}, {1, 1, true}} {
		few = c.few
		var loads []*row.Loaded
		for _, f := range []formats.Format{ordered, sorted} {
			w := newWorld(t)
			w.o.Formats = []*formats.Format{&f}
			w.put("app.js.map", mapOf(c.segments, ""))
			w.run()
			w.is("app.js.map", catalog.ObjectLoaded)
			w.verify()
			loads = append(loads, w.maps()[0].Published)
		}
		a, b := loads[0], loads[1]
		if a.Digest != b.Digest || a.Ranges != b.Ranges || a.Rows != b.Rows || fmt.Sprint(a.Quality) != fmt.Sprint(b.Quality) || a.Rows < uint64(c.rows) {
			t.Fatalf("%d segments: %d ranges in %d rows, %+v; sorted %d in %d, %+v; digests %x %x", c.segments, a.Ranges, a.Rows, a.Quality, b.Ranges, b.Rows, b.Quality, a.Digest, b.Digest)
		}
	}
}

// A fault at the end of a map is found when most of its rows are written: none of them shows.
func TestOrderedRejectsTheWhole(t *testing.T) {
	w := newWorld(t)
	w.o.Formats = []*formats.Format{&sourcemap.Format}
	w.put("app.js.map", mapOf(800_000, ",!"))
	r := w.run()
	w.is("app.js.map", catalog.ObjectRejected)
	if len(r.Rejected) != 1 || !strings.Contains(r.Rejected[0].Error, "mappings+0x51") || r.Ranges != 0 || r.Bytes.Stored != 0 {
		t.Fatalf("%+v", r)
	}
	if all := w.maps(); len(all) != 1 || all[0].Published != nil || len(all[0].Progress) != 1 {
		t.Fatalf("%+v: want one that was begun", all)
	}
	err := w.store.Blocks.Scan(t.Context(), sinks.Span{From: []byte{}}, func(r sinks.Row) error { return fmt.Errorf("row %x stands in the store", r.Key) })
	if err != nil {
		t.Fatal(err)
	}
	w.verify()
}

// A format that breaks its promise has its object rejected, and no more.
func TestOrderedIsHeldTo(t *testing.T) {
	w := newWorld(t)
	liar := &formats.Format{Name: "liar", Version: 1, Detect: func(string, []byte) bool { return true },
		Open: func(context.Context, *formats.Input) (*formats.Object, error) {
			a := formats.Artifact{Rank: symbol.RankScript, Parts: 1, Ordered: true}
			a.Kind, a.Canonical, a.ID, a.End = symbol.SourceMap, "liar", symbol.NewID(symbol.SourceMap, "liar"), 1<<40
			a.ExplodeScript = func(_ context.Context, _ int, emit func(*symbol.Script) error) (symbol.Quality, error) {
				for _, at := range []uint64{20, 10} {
					err := emit(&symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: []string{""}, Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{Start: at, End: at + 5}}}, Marks: make([]symbol.Mark, 1)})
					if err != nil {
						return symbol.Quality{}, err
					}
				}
				return symbol.Quality{}, nil
			}
			return &formats.Object{Artifacts: []formats.Artifact{a}}, nil
		}}
	w.o.Formats = []*formats.Format{liar}
	w.put("a", "any")
	w.run()
	w.is("a", catalog.ObjectRejected)
}
