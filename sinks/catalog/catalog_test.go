package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/row"
)

func newCatalog(t *testing.T) (*Catalog, *sinks.Store) {
	k, s, _ := newRing(t)
	return New(s.Catalog, k), s
}

// full is a record with every field set.
func full() *Record {
	loaded := func(n byte) *row.Loaded {
		return &row.Loaded{
			Load: sinks.Load{n, 2, 3},
			Artifact: symbol.Artifact{ID: symbol.NewID(symbol.ELF, "x"), Kind: symbol.ELF, Canonical: "x", Arch: "arm64", Base: 1 << 63, End: 77,
				Names: []symbol.Name{{Kind: symbol.NameBuildID, Text: "x"}}, Anchors: map[string]uint64{"s": 1<<64 - 1}},
			KeyVersion: 1, WrappedKey: []byte{1, 2}, Format: "elf", Parser: 3, Rank: symbol.RankSymtab,
			Fence: row.Fence{0, 5}, Rows: 6, Ranges: 7, Bytes: 8, Dropped: row.Dropped{Ranges: 9, First: 10},
			Quality: symbol.Quality{Units: 11, Text: 12, Missing: []string{"dwo:a"}}, Digest: [32]byte{n, 14},
			Source: row.Source{URL: "s3://b/k", Member: "m", ETag: "e", Size: 15, Standing: row.Standing{Owner: "team", Rank: 3}}, Claim: &row.Standing{Owner: "other", Rank: 4},
			Layout: symbol.Layout{Table: [32]byte{n, 16}, Code: [32]byte{17}}, At: time.Unix(16, 17).UTC(), Copied: true,
		}
	}
	return &Record{ID: symbol.NewID(symbol.ELF, "x"), State: Pinned, Published: loaded(1), Previous: loaded(2),
		Progress: []Progress{{Load: sinks.Load{3}, Owner: "o", Lease: time.Unix(18, 0).UTC()}},
		Names:    []symbol.Name{{Kind: symbol.NameApp, Text: "app@1"}}}
}

var opts = cmp.Options{cmpopts.IgnoreUnexported(Record{}, Object{})}

func TestArtifactRecords(t *testing.T) {
	c, _ := newCatalog(t)
	want := full()
	if r, err := c.Artifacts.Get(ctx, want.ID); r != nil || err != nil {
		t.Fatalf("absent: %v, %v", r, err)
	}
	if err := c.Artifacts.Swap(ctx, nil, want); err != nil {
		t.Fatal(err)
	}
	got, err := c.Artifacts.Get(ctx, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, opts); d != "" {
		t.Error(d)
	}
	if err := c.Artifacts.Swap(ctx, nil, full()); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("made twice: %v", err)
	}
	next := *got
	next.State = Live
	if err := c.Artifacts.Swap(ctx, got, &next); err != nil {
		t.Fatal(err)
	}
	if err := c.Artifacts.Swap(ctx, got, full()); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("swapped what is no longer there: %v", err)
	}
	after := next
	after.State = Shredded
	if err := c.Artifacts.Swap(ctx, &next, &after); err != nil { // a record counts as read after it was written
		t.Fatal(err)
	}
	n := 0
	if err := c.Artifacts.Each(ctx, func(r *Record) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d records, %v", n, err)
	}
	if err := c.Artifacts.Swap(ctx, &after, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Artifacts.Get(ctx, want.ID); r != nil || err != nil {
		t.Errorf("deleted: %v, %v", r, err)
	}
	if err := c.Artifacts.Swap(ctx, &Record{ID: want.ID}, nil); err == nil {
		t.Error("swapped a record that nobody read")
	}
}

// A record that was tampered with, or put in another's place, is an error: never absent.
func TestCatalogIsAuthentic(t *testing.T) {
	c, s := newCatalog(t)
	a, b := full(), full()
	b.ID = symbol.NewID(symbol.ELF, "y")
	for _, r := range []*Record{a, b} {
		if err := c.Artifacts.Swap(ctx, nil, r); err != nil {
			t.Fatal(err)
		}
	}
	const clearBytes = 1 + 1 + 4 // form, version of the store key and key check: they name another key
	value, _ := s.Catalog.Get(ctx, artifactKey(a.ID))
	put := func(v []byte) {
		t.Helper()
		old, _ := s.Catalog.Get(ctx, artifactKey(a.ID))
		if err := s.Catalog.Swap(ctx, artifactKey(a.ID), old, v); err != nil {
			t.Fatal(err)
		}
	}
	for bit := 0; bit < 8*len(value); bit += 37 {
		v := bytes.Clone(value)
		v[bit/8] ^= 1 << (bit % 8)
		put(v)
		if _, err := c.Artifacts.Get(ctx, a.ID); !errors.Is(err, row.ErrUnauthentic) && !(errors.Is(err, row.ErrSealed) && bit/8 < clearBytes) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	other, _ := s.Catalog.Get(ctx, artifactKey(b.ID))
	put(other)
	if _, err := c.Artifacts.Get(ctx, a.ID); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("another artifact's record: %v", err)
	}
	put([]byte{1})
	if _, err := c.Artifacts.Get(ctx, a.ID); !errors.Is(err, row.ErrUnauthentic) {
		t.Errorf("a stub: %v", err)
	}
}

func TestNames(t *testing.T) {
	c, _ := newCatalog(t)
	x, y := symbol.NewID(symbol.ELF, "x"), symbol.NewID(symbol.ELF, "y")
	for range 2 { // adding twice changes nothing
		for _, r := range []Ref{{Artifact: x}, {Artifact: y}, {Object: "s3://b/1"}, {Object: "s3://b/2"}} {
			if err := c.Names.Add(ctx, "LibFoo.so", r); err != nil {
				t.Fatal(err)
			}
		}
	}
	refs, err := c.Names.Find(ctx, "libfoo.SO", 0)
	if err != nil || len(refs) != 4 {
		t.Fatalf("%v, %v", refs, err)
	}
	if refs, err := c.Names.Find(ctx, "libfoo.so", 2); err != nil || len(refs) != 2 || refs[0].Object == "" {
		t.Errorf("limit 2: %v, %v", refs, err)
	}
	if refs, err := c.Names.Find(ctx, "libfoo.so.1", 0); err != nil || len(refs) != 0 {
		t.Errorf("another name: %v, %v", refs, err)
	}
	first, second := x, y
	if bytes.Compare(y[:], x[:]) < 0 {
		first, second = y, x
	}
	if ids, err := c.Names.Artifacts(ctx, "LIBFOO.so", symbol.ID{}, 1); err != nil || !cmp.Equal(ids, []symbol.ID{first}) {
		t.Errorf("the first artifact: %v, %v; want %v", ids, err, first)
	}
	after := first
	after[15]++
	if ids, err := c.Names.Artifacts(ctx, "libfoo.so", after, 9); err != nil || !cmp.Equal(ids, []symbol.ID{second}) {
		t.Errorf("the artifacts after %v: %v, %v; want %v", first, ids, err, second)
	}
	if ok, err := c.Names.Has(ctx, "LIBFOO.so", x); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	for range 2 { // removing twice is no error
		if err := c.Names.Remove(ctx, "libfoo.so", Ref{Artifact: x}); err != nil {
			t.Fatal(err)
		}
		if err := c.Names.Remove(ctx, "libfoo.so", Ref{Object: "s3://b/1"}); err != nil {
			t.Fatal(err)
		}
	}
	if ok, _ := c.Names.Has(ctx, "libfoo.so", x); ok {
		t.Error("removed, and still there")
	}
	want := []Ref{{Object: "s3://b/2"}, {Artifact: y}}
	if refs, err := c.Names.Find(ctx, "libfoo.so", 0); err != nil || !cmp.Equal(refs, want) {
		t.Errorf("%v, %v; want %v", refs, err, want)
	}
}

func TestWaiters(t *testing.T) {
	c, _ := newCatalog(t)
	x := symbol.NewID(symbol.ELF, "x")
	a, b := Waiter{Artifact: x, Object: "s3://b/1"}, Waiter{Artifact: x, Object: "s3://b/2"}
	for _, w := range []Waiter{a, b, a} {
		if err := c.Waiters.Add(ctx, "dwo:a", w); err != nil {
			t.Fatal(err)
		}
	}
	if ws, err := c.Waiters.For(ctx, "dwo:a"); err != nil || len(ws) != 2 {
		t.Errorf("%v, %v", ws, err)
	}
	if err := errors.Join(c.Waiters.Remove(ctx, "dwo:a", a), c.Waiters.Remove(ctx, "dwo:a", a)); err != nil {
		t.Fatal(err)
	}
	if ws, err := c.Waiters.For(ctx, "dwo:a"); err != nil || !cmp.Equal(ws, []Waiter{b}) {
		t.Errorf("%v, %v", ws, err)
	}
	if ws, err := c.Waiters.For(ctx, "dwo:A"); err != nil || len(ws) != 0 {
		t.Errorf("companions are told apart by case: %v, %v", ws, err)
	}
	if refs, err := c.Names.Find(ctx, "dwo:a", 0); err != nil || len(refs) != 0 {
		t.Errorf("a companion is no name: %v, %v", refs, err)
	}
}

func TestLedger(t *testing.T) {
	c, _ := newCatalog(t)
	var urls []string
	for i := range 20 {
		o := &Object{URL: fmt.Sprintf("s3://b/%02d", i), ETag: "e", Size: int64(i), Modified: time.Unix(1, 0).UTC(), State: ObjectRejected,
			Reason: "elf: .debug_info+0x1: corrupt input", Attempts: 1, First: time.Unix(2, 0).UTC(), Last: time.Unix(3, 0).UTC(), Seconds: .5, Run: "r",
			Artifacts: []ObjectArtifact{{ID: symbol.NewID(symbol.ELF, "x"), Member: "m", Outcome: "kept", Error: "e"}, {Outcome: "rejected"}},
			Parsers:   map[string]int{"elf": 1}}
		if err := c.Ledger.Swap(ctx, nil, o); err != nil {
			t.Fatal(err)
		}
		got, err := c.Ledger.Get(ctx, o.URL)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(o, got, opts); d != "" {
			t.Fatal(d)
		}
		urls = append(urls, o.URL)
	}
	list := func(prefix string) (got []string) {
		t.Helper()
		if err := c.Ledger.Each(ctx, prefix, func(o *Object) error { got = append(got, o.URL); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := list("s3://b/"); !cmp.Equal(got, urls) {
		t.Errorf("listed %v", got)
	}
	if got := list("s3://b/1"); !cmp.Equal(got, urls[10:]) {
		t.Errorf("listed %v below s3://b/1", got)
	}
	o, _ := c.Ledger.Get(ctx, urls[0])
	next := *o
	next.State = ObjectLoaded
	if err := c.Ledger.Swap(ctx, o, &next); err != nil {
		t.Fatal(err)
	}
	if err := c.Ledger.Swap(ctx, o, &next); !errors.Is(err, sinks.ErrConflict) {
		t.Errorf("swapped twice: %v", err)
	}
	if err := c.Ledger.Swap(ctx, &next, nil); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Ledger.Get(ctx, urls[0]); o != nil || err != nil {
		t.Errorf("deleted: %v, %v", o, err)
	}
}

func TestAudit(t *testing.T) {
	c, _ := newCatalog(t)
	at := time.Unix(5, 6).UTC()
	want := []audit.Event{{At: at, Who: "me", What: "init"}, {At: at, Who: "me", What: "rotate", Detail: "2"}, {At: at.Add(-1), Who: "you", What: "gc"}}
	for _, e := range want {
		if err := c.Audit.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	var got []audit.Event
	if err := c.Audit.Each(ctx, func(e audit.Event) error { got = append(got, e); return nil }); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkArtifact(b *testing.B) {
	k, s, _ := newRing(b)
	c := New(s.Catalog, k)
	r := full()
	r.Previous = nil
	for i := range uint64(2000) { // a fence as long as a large program's
		r.Published.Fence = binary.AppendUvarint(r.Published.Fence, 5000+i*31%9000)
	}
	if err := c.Artifacts.Swap(ctx, nil, r); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Artifacts.Get(ctx, r.ID); err != nil {
			b.Fatal(err)
		}
	}
}
