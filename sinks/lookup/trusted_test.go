package lookup_test

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
	"github.com/symlake/symlake/sinks/row"
)

// TestTrustedName: an artifact of a lower rank does not make a debug-id, or a file of a build, ambiguous. File names
// alone stay what they are, and so do names of one rank.
func TestTrustedName(t *testing.T) {
	w := lookuptest.NewWorld(t)
	claim := func(hex, app string, s row.Standing) *lookuptest.Image {
		im := lookuptest.NewImage(strings.Repeat(hex, 20), "libcart.so", 5)
		im.Recorded = append(im.Recorded, symbol.Name{Kind: symbol.NameDebugID, Text: debugID}, symbol.Name{Kind: symbol.NameApp, Text: app})
		w.Publish(im)
		w.Record(im.ID, func(r *catalog.Record) {
			p := *r.Published
			p.Source.Standing = s
			r.Published = &p
		})
		return im
	}
	mine := claim("a1", "shop@1", row.Standing{Owner: "team-a", Rank: 2})
	claim("b1", "shop@1", row.Standing{Owner: "team-b", Rank: 1})
	find := func(name string, n lookup.Narrow, want symbol.Status) {
		t.Helper()
		r := w.Client().Resolve(t.Context(), name, n)
		lookuptest.FailIf(t, r.Status != want || want == symbol.Found && r.Record.ID != mine.ID, "%s %+v: %+v", name, n, r)
	}
	find(debugID, lookup.Narrow{}, symbol.Found)
	find("libcart.so", lookup.Narrow{App: "shop@1"}, symbol.Found)
	find("shop@1", lookup.Narrow{App: "shop@1"}, symbol.Found)
	find("libcart.so", lookup.Narrow{}, symbol.Ambiguous)
	claim("c1", "shop@1", row.Standing{Owner: "team-c", Rank: 2})
	find(debugID, lookup.Narrow{}, symbol.Ambiguous)
	find("libcart.so", lookup.Narrow{App: "shop@1"}, symbol.Ambiguous)
}
