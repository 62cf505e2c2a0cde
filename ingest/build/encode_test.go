package build

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/scratch"
)

// fetched is a bucket with objects that must be fetched.
type fetched struct {
	bucket.Bucket
	bucket.Fetcher
}

// What gets the runs may keep their strings longer than the object has them.
func TestOrderedStringsAreKept(t *testing.T) {
	text := []byte("a.ts")
	a := &formats.Artifact{ExplodeScript: func(_ context.Context, _ int, emit func(*symbol.Script) error) (symbol.Quality, error) {
		err := emit(&symbol.Script{Run: symbol.Run{Rank: symbol.RankScript, Strings: []string{"", unsafe.String(&text[0], len(text))}, Scopes: []symbol.Scope{{Parent: -1}}, Ranges: []symbol.Range{{End: 1}}}, Marks: make([]symbol.Mark, 1)})
		copy(text, "gone")
		return symbol.Quality{}, err
	}}
	task := &discover.Task{Source: &discover.CheckedSource{Source: discover.Source{Bucket: fetched{}}}}
	e := &encoding{x: &object{b: &Builder{Opener: Opener{Budget: scratch.NewBudget(1 << 20)}}, Object: outcome.New(t.Context(), task, time.Time{})}, format: &sourcemap.Format, of: a}
	var strs []string
	_, err := e.passed(t.Context(), func(dictionary.Table, bool) (takers, error) {
		return takers{rows: func(r *symbol.Script) error { strs = r.Strings; return nil }}, nil
	})
	if err != nil || len(strs) != 2 || strs[1] != "a.ts" {
		t.Fatalf("%q, %v", strs, err)
	}
}
