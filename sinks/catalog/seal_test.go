package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog/audit"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/loads"
)

var ctx = context.Background()

func newRing(t testing.TB) (*row.Keyring, *sinks.Store, sinks.KEK) {
	t.Helper()
	s, key := mem.New(), kek.Ephemeral()
	ring, err := row.CreateKeyring(ctx, s.Catalog, key)
	if err != nil {
		t.Fatal(err)
	}
	return ring, s, key
}

// load is an encoded load of one image.
type load struct {
	ring  *row.Keyring
	kek   sinks.KEK
	store *sinks.Store
	rows  []sinks.Row
	out   *row.Loaded
}

// small is a load of some hundred functions.
func small(t *testing.T) *load {
	t.Helper()
	l := &load{}
	l.ring, l.store, l.kek = newRing(t)
	a := symbol.Artifact{ID: symbol.NewID(symbol.ELF, "c0ffee"), Kind: symbol.ELF, Canonical: "c0ffee", Arch: "x86_64", End: 1 << 20}
	strs := []string{"", "/usr/include/c++/10/bits/stl_vector.h", "/build/ceph_osd/Module.cc"}
	r := &symbol.Run{Rank: symbol.RankDWARF}
	for i := range 300 {
		strs = append(strs, fmt.Sprintf("_ZNSt6vectorIN4ceph6Module%dE", i))
		at := uint64(i) * 16
		r.Scopes = append(r.Scopes, symbol.Scope{Parent: -1, Function: uint32(len(strs) - 1)})
		r.Ranges = append(r.Ranges, symbol.Range{Start: at, End: at + 16, Scope: int32(i), At: symbol.Site{File: 1 + uint32(i%2), Line: uint32(i)}})
	}
	r.Strings = strs
	e, err := loads.NewEncoder(l.ring, &a, row.NewLoad(time.Unix(1, 0)), nil, dictionary.Table{Strings: strs}, func(r sinks.Row) error {
		l.rows = append(l.rows, r)
		return nil
	})
	if err == nil {
		err = e.Add(r)
	}
	if err == nil {
		l.out, err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRotate(t *testing.T) {
	l := small(t)
	cat := New(l.store.Catalog, l.ring)
	rec := &Record{ID: l.out.Artifact.ID, State: Live, Published: l.out}
	if err := cat.Artifacts.Swap(ctx, nil, rec); err != nil {
		t.Fatal(err)
	}
	if err := cat.Names.Add(ctx, "LibFoo.so", Ref{Artifact: l.out.Artifact.ID}); err != nil {
		t.Fatal(err)
	}
	// A reader that opened the store before the rotation.
	reader, err := row.OpenKeyring(ctx, l.store.Catalog, l.kek)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := l.ring.Rotate(ctx)
	if err != nil || v != 2 {
		t.Fatalf("version %d, %v", v, err)
	}
	moved, err := l.ring.Rewrap(l.out.Artifact.ID, l.out)
	if err != nil || moved.KeyVersion != 2 || l.out.KeyVersion != 1 {
		t.Fatalf("re-wrapped under %d, %v", moved.KeyVersion, err)
	}
	if err := cat.Artifacts.Swap(ctx, rec, &Record{ID: rec.ID, State: Live, Published: moved, Previous: l.out}); err != nil {
		t.Fatal(err)
	}
	fresh, err := row.OpenKeyring(ctx, l.store.Catalog, l.kek)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*row.Keyring{"before": reader, "after": fresh} {
		c := New(l.store.Catalog, k)
		got, err := c.Artifacts.Get(ctx, l.out.Artifact.ID)
		if err != nil {
			t.Fatalf("reader opened %s the rotation: %v", name, err)
		}
		for _, x := range []*row.Loaded{got.Published, got.Previous} {
			if _, err := loads.Open(k, l.out.Artifact.ID, x); err != nil {
				t.Errorf("reader opened %s the rotation, version %d: %v", name, x.KeyVersion, err)
			}
		}
		if ok, err := c.Names.Has(ctx, "libfoo.SO", l.out.Artifact.ID); !ok || err != nil {
			t.Errorf("reader opened %s the rotation: name %v, %v", name, ok, err)
		}
	}
	storeKey := []byte{row.RecordStoreKey, 0, 0, 0, 1}
	// The first version destroyed: what it sealed is sealed, not corrupt.
	old, err := l.store.Catalog.Get(ctx, storeKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.store.Catalog.Swap(ctx, storeKey, old, nil); err != nil {
		t.Fatal(err)
	}
	last, err := row.OpenKeyring(ctx, l.store.Catalog, l.kek)
	if err != nil {
		t.Fatal(err)
	}
	got, err := New(l.store.Catalog, last).Artifacts.Get(ctx, l.out.Artifact.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loads.Open(last, l.out.Artifact.ID, got.Published); err != nil {
		t.Error(err)
	}
	if _, err := loads.Open(last, l.out.Artifact.ID, got.Previous); !errors.Is(err, row.ErrSealed) {
		t.Errorf("a load under a destroyed store key: %v", err)
	}
}

// Nothing that a store sees holds a name.
func TestNothingInClear(t *testing.T) {
	l := small(t)
	cat := New(l.store.Catalog, l.ring)
	const secret = "PaymentsRisk"
	rec := &Record{ID: l.out.Artifact.ID, State: Live, Published: l.out, Names: []symbol.Name{{Kind: symbol.NameFile, Text: secret}}}
	for _, err := range []error{
		cat.Artifacts.Swap(ctx, nil, rec),
		cat.Names.Add(ctx, secret, Ref{Artifact: l.out.Artifact.ID}),
		cat.Names.Add(ctx, secret, Ref{Object: "s3://b/" + secret}),
		cat.Waiters.Add(ctx, "dwo:"+secret, Waiter{Artifact: l.out.Artifact.ID, Object: "s3://b/" + secret}),
		cat.Ledger.Swap(ctx, nil, &Object{URL: "s3://b/o", Reason: secret}),
		cat.Audit.Add(ctx, audit.Event{At: time.Unix(1, 0), Who: "me", What: "forget", Detail: secret}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := slices.Clone(l.rows)
	if err := l.store.Catalog.List(ctx, sinks.Span{}, func(r sinks.Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	// Long enough that no cipher text has one by chance.
	words := []string{secret, strings.ToLower(secret), "_ZNSt", "Module", "ceph_", "stl_vec", "c0ffee"}
	for _, r := range rows {
		for _, w := range words {
			if bytes.Contains(r.Key, []byte(w)) || bytes.Contains(r.Value, []byte(w)) {
				t.Errorf("%q shows in row %x", w, r.Key)
			}
		}
	}
}
