package lookup_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

const debugID = "550a1c6f-d9e2-0f4b-8a77-13c4d5e6f708"

func TestEveryName(t *testing.T) {
	w := newWorld(t)
	im := newImage(cartID, "libcart.so", 5)
	im.names = append(im.names, symbol.Name{Kind: symbol.NameDebugID, Text: debugID},
		symbol.Name{Kind: symbol.NameGoBuildID, Text: "go:AbC/dEf"}, symbol.Name{Kind: symbol.NameApp, Text: "Shop@1.2"})
	w.publish(im)
	c := w.client()
	bare := strings.ReplaceAll(debugID, "-", "")
	for _, name := range []string{
		cartID, strings.ToUpper(cartID), " " + cartID + "\n", cartID[:8] + "-" + cartID[8:],
		debugID, strings.ToUpper(debugID), bare, bare + "0", debugID + "-0",
		"libcart.so", "LibCart.so", "/data/app/~~x==/lib/arm64/libcart.so", "/data/app/base.apk!libcart.so", `C:\symbols\libcart.so`,
		"shop@1.2", "Shop@1.2", "go:abc/def", im.ID.String(), strings.ToUpper(im.ID.String()),
	} {
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		failIf(t, r.Status != symbol.Found || r.Err != nil || r.Record == nil || r.Record.ID != im.ID, "%q: %+v", name, r)
	}
	for _, name := range []string{"", "libcart", cartID[:38], strings.Repeat("ff", 20), strings.Repeat("x", 10_000), "shop@1.3", strings.Repeat("f", 32)} {
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		failIf(t, r.Status != symbol.NoArtifact || r.Err == nil, "%.50q: %+v", name, r)
	}
}

// A canonical id is one read of the catalog: the record itself.
func TestCanonicalIsOneRead(t *testing.T) {
	w := newWorld(t)
	w.publish(newImage(cartID, "libcart.so", 5))
	c := w.client()
	if _, err := c.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	gets, lists := w.values.gets.Load(), w.values.lists.Load()
	for range 3 {
		r := c.Resolve(t.Context(), cartID, lookup.Narrow{})
		failIf(t, r.Status != symbol.Found, "%+v", r)
	}
	failIf(t, w.values.gets.Load() != gets+1 || w.values.lists.Load() != lists, "%d reads, %d lists", w.values.gets.Load()-gets, w.values.lists.Load()-lists)
	lists = w.values.lists.Load()
	together(8, func(int) { c.Resolve(t.Context(), "libnone.so", lookup.Narrow{}) })
	failIf(t, w.values.lists.Load() != lists+1, "absence cost %d lists", w.values.lists.Load()-lists)
}

func TestNarrows(t *testing.T) {
	w := newWorld(t)
	make := func(id byte, arch string, apps ...string) *image {
		im := newImage(strings.Repeat(fmt.Sprintf("%02x", id), 20), "libcart.so", 5)
		im.Arch = arch
		for _, a := range apps {
			im.names = append(im.names, symbol.Name{Kind: symbol.NameApp, Text: a})
		}
		w.publish(im)
		return im
	}
	a1 := make(0xa1, "arm64", "shop@1")
	a2 := make(0xa2, "arm64", "shop@2")
	x1 := make(0xb1, "x86_64", "shop@1")
	e1 := make(0xe1, "arm64e", "shop@5")
	sys := newImage(strings.Repeat("c0", 20), "libc.so", 5)
	w.publish(sys)
	c := w.client()
	for _, k := range []struct {
		name string
		n    lookup.Narrow
		want symbol.Status
		ids  []*image
	}{
		{"libcart.so", lookup.Narrow{}, symbol.Ambiguous, []*image{a1, a2, x1, e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64e"}, symbol.Found, []*image{e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", Variants: true, App: "shop@5"}, symbol.Found, []*image{e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", App: "shop@5"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{Arch: "arm64", Variants: true}, symbol.Ambiguous, []*image{a1, a2, e1}},
		{"libcart.so", lookup.Narrow{Arch: "x86_64"}, symbol.Found, []*image{x1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64"}, symbol.Ambiguous, []*image{a1, a2}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", App: "SHOP@2"}, symbol.Found, []*image{a2}},
		{"libcart.so", lookup.Narrow{Arch: "riscv64"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{App: "shop@3"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{Kind: "macho"}, symbol.NoArtifact, nil},
		{"libc.so", lookup.Narrow{App: "shop@3"}, symbol.Found, []*image{sys}}, // no app claims it
		{"libc.so", lookup.Narrow{Arch: "x86_64"}, symbol.NoArtifact, nil},     // never another arch's
		{a1.Canonical, lookup.Narrow{Arch: "x86_64", App: "shop@9", File: "b.so"}, symbol.Found, []*image{a1}},
		{"shop@1", lookup.Narrow{}, symbol.Ambiguous, []*image{a1, x1}},
		{"shop@1", lookup.Narrow{File: "libcart.so", Arch: "arm64"}, symbol.Found, []*image{a1}},
	} {
		r := c.Resolve(t.Context(), k.name, k.n)
		failIf(t, r.Status != k.want || (r.Err == nil) != (k.want == symbol.Found), "%s %+v: %s %v", k.name, k.n, r.Status, r.Err)
		switch k.want {
		case symbol.Found:
			failIf(t, r.Record.ID != k.ids[0].ID, "%s %+v: %s", k.name, k.n, r.Record.ID)
		case symbol.Ambiguous:
			failIf(t, len(r.Candidates) != len(k.ids), "%s %+v: %v", k.name, k.n, r.Candidates)
			for _, im := range k.ids {
				failIf(t, !slices.Contains(r.Candidates, im.ID), "%s %+v: %v", k.name, k.n, r.Candidates)
			}
		}
	}
}

// A file name with years of builds is narrowed without reading every record.
func TestNarrowsMany(t *testing.T) {
	w := newWorld(t)
	for i := range 1200 {
		id := symbol.NewID(symbol.ELF, fmt.Sprint(i))
		w.must(w.catalog.Names.Add(t.Context(), "libcart.so", catalog.Ref{Artifact: id}))
		w.must(w.catalog.Names.Add(t.Context(), fmt.Sprintf("shop@%d", i), catalog.Ref{Artifact: id}))
	}
	im := newImage("777", "libcart.so", 5)
	im.names = append(im.names, symbol.Name{Kind: symbol.NameApp, Text: "shop@777"})
	w.publish(im)
	c := w.client()
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Ambiguous || len(r.Candidates) == 0, "%s %v", r.Status, r.Err)
	r = c.Resolve(t.Context(), "libcart.so", lookup.Narrow{App: "shop@777"})
	failIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%s %v", r.Status, r.Err)
	failIf(t, w.values.gets.Load() > 20, "%d records read", w.values.gets.Load())
}

func TestLedgerStatuses(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	for _, k := range []struct {
		state catalog.ObjectState
		want  symbol.Status
	}{
		{catalog.ObjectPending, symbol.Pending}, {catalog.ObjectLoading, symbol.Loading}, {catalog.ObjectFailed, symbol.Pending},
		{catalog.ObjectRejected, symbol.Rejected}, {catalog.ObjectGone, symbol.NoArtifact}, {catalog.ObjectSkipped, symbol.NoArtifact},
	} {
		name := "lib" + string(k.state) + ".so"
		url := "s3://symbols/" + name
		w.object(url, k.state, "elf: .debug_info+0x1f4a: corrupt input")
		w.must(w.catalog.Names.Add(t.Context(), name, catalog.Ref{Object: url}))
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		failIf(t, r.Status != k.want || r.Err == nil || len(r.Objects) != 1, "%s: %+v", k.state, r)
		failIf(t, !strings.Contains(r.Err.Error(), url) || !strings.Contains(r.Err.Error(), ".debug_info+0x1f4a"), "%s: %v", k.state, r.Err)
	}
	// Of several objects, what will change first is said.
	w.must(w.catalog.Names.Add(t.Context(), "libx.so", catalog.Ref{Object: "s3://symbols/librejected.so"}))
	w.must(w.catalog.Names.Add(t.Context(), "libx.so", catalog.Ref{Object: "s3://symbols/libpending.so"}))
	r := c.Resolve(t.Context(), "libx.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Pending || len(r.Objects) != 2, "%+v", r)
	// A name noted before its object was loaded leads on to the artifact.
	im := newImage(cartID, "libcart.so", 5)
	im.names = nil
	w.publish(im)
	w.must(w.catalog.Names.Add(t.Context(), "bundle.zip", catalog.Ref{Object: "s3://symbols/bundle.zip"}))
	w.must(w.catalog.Ledger.Swap(t.Context(), nil, &catalog.Object{URL: "s3://symbols/bundle.zip", State: catalog.ObjectLoaded,
		Artifacts: []catalog.ObjectArtifact{{ID: im.ID, Outcome: "loaded"}}}))
	r = c.Resolve(t.Context(), "bundle.zip", lookup.Narrow{})
	failIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%+v", r)
}

// A name is believed no longer than its TTL: one that leads nowhere for a
// short time, one whose artifact is loading likewise.
func TestNameTTL(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	resolve := func() symbol.Status { return c.Resolve(t.Context(), "libcart.so", lookup.Narrow{}).Status }
	failIf(t, resolve() != symbol.NoArtifact, "found nothing's artifact")
	w.object("s3://symbols/libcart.so", catalog.ObjectPending, "")
	w.must(w.catalog.Names.Add(t.Context(), "libcart.so", catalog.Ref{Object: "s3://symbols/libcart.so"}))
	failIf(t, resolve() != symbol.NoArtifact, "absence was not believed")
	w.advance(11 * time.Second)
	failIf(t, resolve() != symbol.Pending, "pending was not seen")
	w.publish(newImage(cartID, "libcart.so", 5))
	w.advance(11 * time.Second)
	failIf(t, resolve() != symbol.Found, "the load was not seen")
}

func TestShreddedNamesake(t *testing.T) {
	w := newWorld(t)
	old, im := newImage(strings.Repeat("ab", 20), "libcart.so", 5), newImage(cartID, "libcart.so", 5)
	w.publish(old)
	w.record(old.ID, func(r *catalog.Record) { r.State = catalog.Shredded })
	c := w.client()
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Sealed, "%+v", r)
	w.publish(im)
	r = w.client().Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%+v", r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r = w.client().Resolve(ctx, "libcart.so", lookup.Narrow{})
	failIf(t, r.Status != symbol.Unavailable, "%+v", r)
}
