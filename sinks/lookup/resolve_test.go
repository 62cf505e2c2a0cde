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
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

const debugID = "550a1c6f-d9e2-0f4b-8a77-13c4d5e6f708"

func TestEveryName(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5)
	im.Recorded = append(im.Recorded, symbol.Name{Kind: symbol.NameDebugID, Text: debugID},
		symbol.Name{Kind: symbol.NameGoBuildID, Text: "go:AbC/dEf"}, symbol.Name{Kind: symbol.NameApp, Text: "Shop@1.2"})
	w.Publish(im)
	c := w.Client()
	bare := strings.ReplaceAll(debugID, "-", "")
	for _, name := range []string{
		lookuptest.CartID, strings.ToUpper(lookuptest.CartID), " " + lookuptest.CartID + "\n", lookuptest.CartID[:8] + "-" + lookuptest.CartID[8:],
		debugID, strings.ToUpper(debugID), bare, bare + "0", debugID + "-0",
		"libcart.so", "LibCart.so", "/data/app/~~x==/lib/arm64/libcart.so", "/data/app/base.apk!libcart.so", `C:\symbols\libcart.so`,
		"shop@1.2", "Shop@1.2", "go:abc/def", im.ID.String(), strings.ToUpper(im.ID.String()),
	} {
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		lookuptest.FailIf(t, r.Status != symbol.Found || r.Err != nil || r.Record == nil || r.Record.ID != im.ID, "%q: %+v", name, r)
	}
	for _, name := range []string{"", "libcart", lookuptest.CartID[:38], strings.Repeat("ff", 20), strings.Repeat("x", 10_000), "shop@1.3", strings.Repeat("f", 32)} {
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		lookuptest.FailIf(t, r.Status != symbol.NoArtifact || r.Err == nil, "%.50q: %+v", name, r)
	}
}

// A canonical id is one read of the catalog: the record itself.
func TestCanonicalIsOneRead(t *testing.T) {
	w := lookuptest.NewWorld(t)
	w.Publish(lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5))
	c := w.Client()
	if _, err := c.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	gets, lists := w.Values.Gets.Load(), w.Values.Lists.Load()
	for range 3 {
		r := c.Resolve(t.Context(), lookuptest.CartID, lookup.Narrow{})
		lookuptest.FailIf(t, r.Status != symbol.Found, "%+v", r)
	}
	lookuptest.FailIf(t, w.Values.Gets.Load() != gets+1 || w.Values.Lists.Load() != lists, "%d reads, %d lists", w.Values.Gets.Load()-gets, w.Values.Lists.Load()-lists)
	lists = w.Values.Lists.Load()
	lookuptest.Together(8, func(int) { c.Resolve(t.Context(), "libnone.so", lookup.Narrow{}) })
	lookuptest.FailIf(t, w.Values.Lists.Load() != lists+1, "absence cost %d lists", w.Values.Lists.Load()-lists)
}

func TestNarrows(t *testing.T) {
	w := lookuptest.NewWorld(t)
	make := func(id byte, arch string, apps ...string) *lookuptest.Image {
		im := lookuptest.NewImage(strings.Repeat(fmt.Sprintf("%02x", id), 20), "libcart.so", 5)
		im.Arch = arch
		for _, a := range apps {
			im.Recorded = append(im.Recorded, symbol.Name{Kind: symbol.NameApp, Text: a})
		}
		w.Publish(im)
		return im
	}
	a1 := make(0xa1, "arm64", "shop@1")
	a2 := make(0xa2, "arm64", "shop@2")
	x1 := make(0xb1, "x86_64", "shop@1")
	e1 := make(0xe1, "arm64e", "shop@5")
	sys := lookuptest.NewImage(strings.Repeat("c0", 20), "libc.so", 5)
	w.Publish(sys)
	c := w.Client()
	for _, k := range []struct {
		name string
		n    lookup.Narrow
		want symbol.Status
		ids  []*lookuptest.Image
	}{
		{"libcart.so", lookup.Narrow{}, symbol.Ambiguous, []*lookuptest.Image{a1, a2, x1, e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64e"}, symbol.Found, []*lookuptest.Image{e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", Variants: true, App: "shop@5"}, symbol.Found, []*lookuptest.Image{e1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", App: "shop@5"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{Arch: "arm64", Variants: true}, symbol.Ambiguous, []*lookuptest.Image{a1, a2, e1}},
		{"libcart.so", lookup.Narrow{Arch: "x86_64"}, symbol.Found, []*lookuptest.Image{x1}},
		{"libcart.so", lookup.Narrow{Arch: "arm64"}, symbol.Ambiguous, []*lookuptest.Image{a1, a2}},
		{"libcart.so", lookup.Narrow{Arch: "arm64", App: "SHOP@2"}, symbol.Found, []*lookuptest.Image{a2}},
		{"libcart.so", lookup.Narrow{Arch: "riscv64"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{App: "shop@3"}, symbol.NoArtifact, nil},
		{"libcart.so", lookup.Narrow{Kind: "macho"}, symbol.NoArtifact, nil},
		{"libc.so", lookup.Narrow{App: "shop@3"}, symbol.Found, []*lookuptest.Image{sys}}, // no app claims it
		{"libc.so", lookup.Narrow{Arch: "x86_64"}, symbol.NoArtifact, nil},                // never another arch's
		{a1.Canonical, lookup.Narrow{Arch: "x86_64", App: "shop@9", File: "b.so"}, symbol.Found, []*lookuptest.Image{a1}},
		{"shop@1", lookup.Narrow{}, symbol.Ambiguous, []*lookuptest.Image{a1, x1}},
		{"shop@1", lookup.Narrow{File: "libcart.so", Arch: "arm64"}, symbol.Found, []*lookuptest.Image{a1}},
	} {
		r := c.Resolve(t.Context(), k.name, k.n)
		lookuptest.FailIf(t, r.Status != k.want || (r.Err == nil) != (k.want == symbol.Found), "%s %+v: %s %v", k.name, k.n, r.Status, r.Err)
		switch k.want {
		case symbol.Found:
			lookuptest.FailIf(t, r.Record.ID != k.ids[0].ID, "%s %+v: %s", k.name, k.n, r.Record.ID)
		case symbol.Ambiguous:
			lookuptest.FailIf(t, len(r.Candidates) != len(k.ids), "%s %+v: %v", k.name, k.n, r.Candidates)
			for _, im := range k.ids {
				lookuptest.FailIf(t, !slices.Contains(r.Candidates, im.ID), "%s %+v: %v", k.name, k.n, r.Candidates)
			}
		}
	}
}

// A file name with years of builds is narrowed without reading every record.
func TestNarrowsMany(t *testing.T) {
	w := lookuptest.NewWorld(t)
	for i := range 1200 {
		id := symbol.NewID(symbol.ELF, fmt.Sprint(i))
		w.Must(w.Catalog.Names.Add(t.Context(), "libcart.so", catalog.Ref{Artifact: id}))
		w.Must(w.Catalog.Names.Add(t.Context(), fmt.Sprintf("shop@%d", i), catalog.Ref{Artifact: id}))
	}
	im := lookuptest.NewImage("777", "libcart.so", 5)
	im.Recorded = append(im.Recorded, symbol.Name{Kind: symbol.NameApp, Text: "shop@777"})
	w.Publish(im)
	c := w.Client()
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Ambiguous || len(r.Candidates) == 0, "%s %v", r.Status, r.Err)
	r = c.Resolve(t.Context(), "libcart.so", lookup.Narrow{App: "shop@777"})
	lookuptest.FailIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%s %v", r.Status, r.Err)
	lookuptest.FailIf(t, w.Values.Gets.Load() > 20, "%d records read", w.Values.Gets.Load())
}

func TestLedgerStatuses(t *testing.T) {
	w := lookuptest.NewWorld(t)
	c := w.Client()
	for _, k := range []struct {
		state catalog.ObjectState
		want  symbol.Status
	}{
		{catalog.ObjectPending, symbol.Pending}, {catalog.ObjectLoading, symbol.Loading}, {catalog.ObjectFailed, symbol.Pending},
		{catalog.ObjectRejected, symbol.Rejected}, {catalog.ObjectGone, symbol.NoArtifact}, {catalog.ObjectSkipped, symbol.NoArtifact},
	} {
		name := "lib" + string(k.state) + ".so"
		url := "s3://symbols/" + name
		w.Object(url, k.state, "elf: .debug_info+0x1f4a: corrupt input")
		w.Must(w.Catalog.Names.Add(t.Context(), name, catalog.Ref{Object: url}))
		r := c.Resolve(t.Context(), name, lookup.Narrow{})
		lookuptest.FailIf(t, r.Status != k.want || r.Err == nil || len(r.Objects) != 1, "%s: %+v", k.state, r)
		lookuptest.FailIf(t, !strings.Contains(r.Err.Error(), url) || !strings.Contains(r.Err.Error(), ".debug_info+0x1f4a"), "%s: %v", k.state, r.Err)
	}
	// Of several objects, what will change first is said.
	w.Must(w.Catalog.Names.Add(t.Context(), "libx.so", catalog.Ref{Object: "s3://symbols/librejected.so"}))
	w.Must(w.Catalog.Names.Add(t.Context(), "libx.so", catalog.Ref{Object: "s3://symbols/libpending.so"}))
	r := c.Resolve(t.Context(), "libx.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Pending || len(r.Objects) != 2, "%+v", r)
	// A name noted before its object was loaded leads on to the artifact.
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5)
	im.Recorded = nil
	w.Publish(im)
	w.Must(w.Catalog.Names.Add(t.Context(), "bundle.zip", catalog.Ref{Object: "s3://symbols/bundle.zip"}))
	w.Must(w.Catalog.Ledger.Swap(t.Context(), nil, &catalog.Object{URL: "s3://symbols/bundle.zip", State: catalog.ObjectLoaded,
		Artifacts: []catalog.ObjectArtifact{{ID: im.ID, Outcome: "loaded"}}}))
	r = c.Resolve(t.Context(), "bundle.zip", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%+v", r)
}

// A name is believed no longer than its TTL: a name that leads nowhere for a
// short time, a name of a loading artifact likewise.
func TestNameTTL(t *testing.T) {
	w := lookuptest.NewWorld(t)
	c := w.Client()
	resolve := func() symbol.Status { return c.Resolve(t.Context(), "libcart.so", lookup.Narrow{}).Status }
	lookuptest.FailIf(t, resolve() != symbol.NoArtifact, "found nothing's artifact")
	w.Object("s3://symbols/libcart.so", catalog.ObjectPending, "")
	w.Must(w.Catalog.Names.Add(t.Context(), "libcart.so", catalog.Ref{Object: "s3://symbols/libcart.so"}))
	lookuptest.FailIf(t, resolve() != symbol.NoArtifact, "absence was not believed")
	w.Advance(11 * time.Second)
	lookuptest.FailIf(t, resolve() != symbol.Pending, "pending was not seen")
	w.Publish(lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5))
	w.Advance(11 * time.Second)
	lookuptest.FailIf(t, resolve() != symbol.Found, "the load was not seen")
}

func TestShreddedNamesake(t *testing.T) {
	w := lookuptest.NewWorld(t)
	old, im := lookuptest.NewImage(strings.Repeat("ab", 20), "libcart.so", 5), lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5)
	w.Publish(old)
	w.Record(old.ID, func(r *catalog.Record) { r.State = catalog.Shredded })
	c := w.Client()
	r := c.Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Sealed, "%+v", r)
	w.Publish(im)
	r = w.Client().Resolve(t.Context(), "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Found || r.Record.ID != im.ID, "%+v", r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r = w.Client().Resolve(ctx, "libcart.so", lookup.Narrow{})
	lookuptest.FailIf(t, r.Status != symbol.Unavailable, "%+v", r)
}
