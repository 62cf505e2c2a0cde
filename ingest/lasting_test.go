package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

// lasting is the fake format with strings that last.
func lasting(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	obj, err := openFake(ctx, in)
	for i := 0; err == nil && i < len(obj.Artifacts); i++ {
		obj.Artifacts[i].Lasting = true
	}
	return obj, err
}

// Names that are not copied are read until the last row is encoded: a file that was written over by then is read again.
func TestLastingIsUnchanged(t *testing.T) {
	w := newWorld(t)
	w.o.Formats[0].Open = lasting
	w.put("a.so", "FAKE\nid aa\nf 10 20 first 1")
	encoded := 0
	w.o.Span = func(ctx context.Context, stage, _ string) (context.Context, func(error)) {
		if stage == report.StageEncode {
			if encoded++; encoded == 1 {
				w.put("a.so", "FAKE\nid aa\nf 10 20 second 2")
			}
		}
		return ctx, func(error) {}
	}
	r := w.run()
	w.answers("aa", 10, "second:2")
	if encoded != 2 || r.Artifacts != 1 {
		t.Fatalf("encoded %d times, want 2; %d published, want the second alone", encoded, r.Artifacts)
	}
	w.verify()
}

// A file that is cut off while its names are encoded counts as changed for every reader of them: names that many runs use
// are sorted first, the others read where the first of them is encoded, beside the sweep. So is a file that is cut off before
// the sorter has the names.
func TestLastingIsCutOff(t *testing.T) {
	for _, cut := range []struct{ many, early bool }{{many: true}, {}, {early: true}} {
		w := newWorld(t)
		w.o.Formats[0].Open = func(_ context.Context, in *formats.Input) (*formats.Object, error) {
			a := formats.Artifact{Rank: symbol.RankDWARF, Parts: 1, Lasting: true}
			a.Kind, a.Canonical, a.ID, a.End = symbol.ELF, "aa", symbol.NewID(symbol.ELF, "aa"), 1<<40
			a.Explode = func(_ context.Context, _ int, emit func(*symbol.Run) error) (symbol.Quality, error) {
				strs := []string{""}
				for i := range 16 {
					strs = append(strs, unsafe.String(&in.Mapped[(16+i)<<12], 4000)) // behind what a page may hold
				}
				if cut.early {
					w.put("a.so", "cut off")
				}
				for i := range uint64(2 * build.FeedRanges) {
					function := uint32(0)
					if cut.many || i < 16 {
						function = uint32(1 + i%16)
					}
					err := emit(&symbol.Run{Rank: a.Rank, Strings: strs, Scopes: []symbol.Scope{{Parent: -1, Function: function}}, Ranges: []symbol.Range{{Start: i, End: i + 1}}})
					if err != nil {
						return symbol.Quality{}, err
					}
				}
				return symbol.Quality{}, nil
			}
			return &formats.Object{Artifacts: []formats.Artifact{a}}, nil
		}
		var text strings.Builder
		for i := range 32 {
			fmt.Fprintf(&text, "FAKE%-4092d", i)
		}
		w.put("a.so", text.String())
		w.o.Span = func(ctx context.Context, stage, _ string) (context.Context, func(error)) {
			if stage == report.StageEncode {
				w.put("a.so", "cut off")
			}
			return ctx, func(error) {}
		}
		if r := w.run(); r.Artifacts != 0 {
			t.Fatalf("%d published of a file that is gone", r.Artifacts)
		}
		w.is("a.so", catalog.ObjectSkipped)
	}
}
