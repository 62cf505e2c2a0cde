package record

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// A copy shares nothing that an edit of it would change.
func TestCopy(t *testing.T) {
	id := symbol.ID{1}
	if r := Copy(nil, id); r.ID != id || !Empty(r) {
		t.Errorf("a new record is %+v", r)
	}
	old := &catalog.Record{ID: id, Progress: []catalog.Progress{{Owner: "a"}}, Names: []symbol.Name{{Text: "a"}}}
	next := Copy(old, id)
	next.Progress[0].Owner, next.Names[0].Text = "b", "b"
	if old.Progress[0].Owner != "a" || old.Names[0].Text != "a" {
		t.Errorf("an edit of the copy changed the record to %+v", old)
	}
}

func TestProgress(t *testing.T) {
	r := &catalog.Record{Published: &row.Loaded{Load: sinks.Load{1}}, Previous: &row.Loaded{Load: sinks.Load{2}},
		Progress: []catalog.Progress{{Load: sinks.Load{3}, Owner: "worker"}, {Load: sinks.Load{4}, Owner: Superseded}, {Load: sinks.Load{5}, Owner: Doomed}}}
	for i := range byte(5) {
		if !Knows(r, sinks.Load{i + 1}) {
			t.Errorf("the record does not know load %d", i+1)
		}
	}
	if Knows(r, sinks.Load{6}) || Knows(nil, sinks.Load{1}) {
		t.Error("a record knows a load that it does not name")
	}
	if n := r.Loading(); n != 1 {
		t.Errorf("%d loads are in progress, want the worker's alone", n)
	}
	if Entry(r, sinks.Load{3}, "worker") != 0 || Entry(r, sinks.Load{3}, "other") >= 0 {
		t.Error("an entry is its owner's alone")
	}
}

func TestNames(t *testing.T) {
	app := func(text string) symbol.Name { return symbol.Name{Kind: symbol.NameApp, Text: text} }
	a, b := []symbol.Name{app("shop@2"), app("shop@1/lib.so")}, []symbol.Name{app("SHOP@2"), app("shop@1")}
	all := UnionNames(slices.Clone(a), b)
	if want := []symbol.Name{app("shop@1"), app("shop@1/lib.so"), app("shop@2")}; !slices.Equal(all, want) {
		t.Errorf("the union is %v, want %v", all, want)
	}
	if got := Builds(all); !slices.Equal(got, []string{"shop@1", "shop@2"}) {
		t.Errorf("builds are %q", got)
	}
	for text, want := range map[string]bool{"Shop@1": true, "shop@1/lib.so": true, "shop@10": false} {
		if IsBuild(app(text), []string{"shop@1"}) != want {
			t.Errorf("%s belongs to build shop@1: want %v", text, want)
		}
	}
}
