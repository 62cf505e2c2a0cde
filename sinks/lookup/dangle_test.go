package lookup_test

import (
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// A record that is deleted while names lead to it is damage, by every name. Names that fit others answer from those.
func TestLostRecord(t *testing.T) {
	w := newWorld(t)
	lost, other := newImage(cartID, "libcart.so", 5), newImage(strings.Repeat("c0", 20), "libc.so", 5)
	lost.names = append(lost.names, symbol.Name{Kind: symbol.NameFile, Text: "shared.so"})
	other.names = append(other.names, symbol.Name{Kind: symbol.NameFile, Text: "shared.so"}, symbol.Name{Kind: symbol.NameApp, Text: "shop@1"})
	w.publish(lost)
	w.publish(other)
	c := w.client()
	ask := func(name string, n lookup.Narrow, want symbol.Status) {
		t.Helper()
		r := c.Resolve(t.Context(), name, n)
		failIf(t, r.Status != want, "%s: %s, %v, want %s", name, r.Status, r.Err, want)
		failIf(t, want == symbol.Corrupt && !strings.Contains(r.Err.Error(), "its record is gone"), "%v", r.Err)
	}
	ask(cartID, lookup.Narrow{}, symbol.Found)
	ask("shared.so", lookup.Narrow{}, symbol.Ambiguous)
	rec, err := w.catalog.Artifacts.Get(t.Context(), lost.ID)
	w.must(err)
	w.must(w.catalog.Artifacts.Swap(t.Context(), rec, nil))
	w.advance(time.Hour)
	for range 2 {
		ask(cartID, lookup.Narrow{}, symbol.Corrupt)
		ask("libcart.so", lookup.Narrow{}, symbol.Corrupt)
		ask("libcart.so", lookup.Narrow{File: "libcart.so", Arch: "arm64"}, symbol.Corrupt)
		ask("shared.so", lookup.Narrow{}, symbol.Corrupt) // never the other one's answer
		ask("shared.so", lookup.Narrow{App: "shop@1"}, symbol.Found)
		ask("libc.so", lookup.Narrow{}, symbol.Found)
	}
	// It comes back, and a cached absence does not hide it.
	w.publish(lost)
	ask("libcart.so", lookup.Narrow{}, symbol.Found)
}
