package lookup_test

import (
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// A record that is deleted while names lead to it is damage, by every name. Names that fit others answer from those.
func TestLostRecord(t *testing.T) {
	w := lookuptest.NewWorld(t)
	lost, other := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5), lookuptest.NewImage(strings.Repeat("c0", 20), "libc.so", 5)
	lost.Recorded = append(lost.Recorded, symbol.Name{Kind: symbol.NameFile, Text: "shared.so"})
	other.Recorded = append(other.Recorded, symbol.Name{Kind: symbol.NameFile, Text: "shared.so"}, symbol.Name{Kind: symbol.NameApp, Text: "shop@1"})
	w.Publish(lost)
	w.Publish(other)
	c := w.Client()
	ask := func(name string, n lookup.Narrow, want symbol.Status) {
		t.Helper()
		r := c.Resolve(t.Context(), name, n)
		lookuptest.FailIf(t, r.Status != want, "%s: %s, %v, want %s", name, r.Status, r.Err, want)
		lookuptest.FailIf(t, want == symbol.Corrupt && !strings.Contains(r.Err.Error(), "its record is gone"), "%v", r.Err)
	}
	ask(lookuptest.CartID, lookup.Narrow{}, symbol.Found)
	ask("shared.so", lookup.Narrow{}, symbol.Ambiguous)
	rec, err := w.Catalog.Artifacts.Get(t.Context(), lost.ID)
	w.Must(err)
	w.Must(w.Catalog.Artifacts.Swap(t.Context(), rec, nil))
	w.Advance(time.Hour)
	for range 2 {
		ask(lookuptest.CartID, lookup.Narrow{}, symbol.Corrupt)
		ask("libcart.so", lookup.Narrow{}, symbol.Corrupt)
		ask("libcart.so", lookup.Narrow{File: "libcart.so", Arch: "arm64"}, symbol.Corrupt)
		ask("shared.so", lookup.Narrow{}, symbol.Corrupt) // never the other one's answer
		ask("shared.so", lookup.Narrow{App: "shop@1"}, symbol.Found)
		ask("libc.so", lookup.Narrow{}, symbol.Found)
	}
	// It comes back, and a cached absence does not hide it.
	w.Publish(lost)
	ask("libcart.so", lookup.Narrow{}, symbol.Found)
}
