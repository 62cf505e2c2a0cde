package catalog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

var update = flag.Bool("update", false, "write the golden files")

// older returns a store with the records that earlier versions wrote.
func older(t *testing.T) (*row.Keyring, *sinks.Store) {
	t.Helper()
	b, err := os.ReadFile("testdata/records-json.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Keyset  string
		Records []sinks.Row
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := os.WriteFile(path, []byte(f.Keyset), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := kek.OpenKeyset(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := mem.New()
	for _, r := range f.Records {
		if err := s.Catalog.Swap(ctx, r.Key, nil, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	ring, err := row.OpenKeyring(ctx, s.Catalog, key)
	if err != nil {
		t.Fatal(err)
	}
	return ring, s
}

// told is all that a catalog says of the kinds of records that have a compact form.
type told struct {
	Artifacts []*Record
	Objects   []*Object
	Heads     []*Object // as Between reads them
	Names     map[string][]Ref
	Waiters   []string
	Joined    bool
	bytes     int
}

// tell reads a catalog. names are the names of artifacts and objects that it should know.
func tell(t *testing.T, ring *row.Keyring, s *sinks.Store) told {
	t.Helper()
	c := New(s.Catalog, ring)
	all := told{Names: map[string][]Ref{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Artifacts.Each(ctx, func(r *Record) error { all.Artifacts = append(all.Artifacts, r); return nil }))
	must(c.Ledger.Each(ctx, "", func(o *Object) error { all.Objects = append(all.Objects, o); return nil }))
	must(c.Ledger.Between(ctx, "", "", "", func(o *Object) error { all.Heads = append(all.Heads, o); return nil }))
	must(c.Waiters.Each(ctx, func(companion string, w Waiter) error {
		all.Waiters = append(all.Waiters, companion+" "+w.Artifact.String()+" "+w.Object)
		return nil
	}))
	for _, r := range all.Artifacts {
		for _, n := range r.Names {
			refs, err := c.Names.Find(ctx, n.Text, 0)
			must(err)
			all.Names[n.Text] = refs
			if ok, err := c.Names.Has(ctx, n.Text, r.ID); !ok || err != nil {
				t.Errorf("name %q of %s: %v, %v", n.Text, r.ID, ok, err)
			}
		}
	}
	pairs := 0
	must(c.Names.Each(ctx, func(p Pair) error { pairs++; return nil }))
	found := 0
	for _, refs := range all.Names {
		found += len(refs)
	}
	if found > pairs {
		t.Errorf("%d pairs are listed, %d are found", pairs, found)
	}
	var err error
	all.Joined, err = c.Obligations.Joined(ctx)
	must(err)
	must(s.Catalog.List(ctx, sinks.Span{}, func(r sinks.Row) error { all.bytes += len(r.Key) + len(r.Value); return nil }))
	return all
}

// What earlier versions wrote reads the same after it was written anew.
func TestOldRecordsReadEqual(t *testing.T) {
	ring, s := older(t)
	old := tell(t, ring, s)
	if len(old.Artifacts) != 6 || len(old.Objects) != 9 || len(old.Waiters) != 4 || !old.Joined {
		t.Fatalf("%d artifacts, %d objects, %d waiters", len(old.Artifacts), len(old.Objects), len(old.Waiters))
	}
	for _, o := range old.Objects {
		if strings.HasSuffix(o.URL, "broken.so") && (o.State != ObjectRejected || o.Reason == "" || o.Standing.Owner != "team" || o.Size != 3000 || o.Parsers["elf"] != 7) {
			t.Errorf("%+v", o)
		}
	}

	c := New(s.Catalog, ring)
	renewed := 0
	for from, more := []byte(nil), true; more; {
		list, next, err := c.Keys.Old(ctx, from, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if _, done, err := c.Keys.Renew(ctx, r); !done || err != nil {
				t.Fatalf("%x: %v, %v", r.Key(), done, err)
			}
			renewed++
		}
		from, more = next, next != nil
	}
	if list, _, err := c.Keys.Old(ctx, nil, 1000); err != nil || len(list) > 0 {
		t.Errorf("%d records are old, %v", len(list), err)
	}
	now := tell(t, ring, s)
	if d := cmp.Diff(old, now, cmpopts.IgnoreUnexported(Record{}, Object{}, told{})); d != "" {
		t.Error(d)
	}
	if renewed != 49 || now.bytes*2 > old.bytes {
		t.Errorf("%d records were renewed, %d bytes became %d", renewed, old.bytes, now.bytes)
	}
	if chain, err := c.Audit.Chain(ctx); err != nil || len(chain.Problems) > 0 || chain.Events != 1 {
		t.Errorf("%+v, %v", chain, err)
	}
}

// A name that is there in both forms counts once, and is removed in both.
func TestNameInBothForms(t *testing.T) {
	ring, s := older(t)
	c := New(s.Catalog, ring)
	id := symbol.NewID(symbol.ELF, "dd43186d84cb2a94322d06bb4aa6a95514dde3d7")
	before, err := c.Names.Find(ctx, "libm00000.so", 0)
	if err != nil || len(before) != 1 || before[0].Artifact != id {
		t.Fatalf("%v, %v", before, err)
	}
	if err := c.Names.Add(ctx, "LIBM00000.so", Ref{Artifact: id}); err != nil {
		t.Fatal(err)
	}
	if now, err := c.Names.Find(ctx, "libm00000.so", 0); err != nil || !slices.Equal(now, before) {
		t.Errorf("%v, %v", now, err)
	}
	if ids, err := c.Names.Artifacts(ctx, "libm00000.so", symbol.ID{}, 0); err != nil || !slices.Equal(ids, []symbol.ID{id}) {
		t.Errorf("%v, %v", ids, err)
	}
	if err := c.Names.Remove(ctx, "libm00000.so", Ref{Artifact: id}); err != nil {
		t.Fatal(err)
	}
	if now, err := c.Names.Find(ctx, "libm00000.so", 0); err != nil || len(now) != 0 {
		t.Errorf("%v, %v", now, err)
	}
	if has, err := c.Names.Has(ctx, "libm00000.so", id); err != nil || has {
		t.Errorf("%v, %v", has, err)
	}
}

// A mark opens under its own key only.
func TestMarksAreAuthentic(t *testing.T) {
	c, s := newCatalog(t)
	a, b := symbol.NewID(symbol.ELF, "a"), symbol.NewID(symbol.ELF, "b")
	for _, id := range []symbol.ID{a, b} {
		if err := c.Names.Add(ctx, "lib.so", Ref{Artifact: id}); err != nil {
			t.Fatal(err)
		}
	}
	key, other := c.Names.nameKey("lib.so", a), c.Names.nameKey("lib.so", b)
	value, _ := s.Catalog.Get(ctx, key)
	if len(key) != 33 || len(value) != 9 {
		t.Errorf("a name takes %d and %d bytes", len(key), len(value))
	}
	wrong, _ := s.Catalog.Get(ctx, other)
	bad := [][]byte{wrong, value[:8], append(bytes.Clone(value), 0), {}, {3}, {64}, {3, 1}}
	for bit := range 8 * len(value) {
		v := bytes.Clone(value)
		v[bit/8] ^= 1 << (bit % 8)
		bad = append(bad, v)
	}
	for _, v := range bad {
		if err := s.Catalog.Swap(ctx, key, value, v); err != nil {
			t.Fatal(err)
		}
		if refs, err := c.Names.Find(ctx, "lib.so", 0); !errors.Is(err, row.ErrUnauthentic) && !errors.Is(err, row.ErrSealed) {
			t.Errorf("%x: %v, %v", v, refs, err)
		}
		value = v
	}
}

// A newer symlake's record is refused with a word that says so.
func TestNewerRecords(t *testing.T) {
	c, s := newCatalog(t)
	r := full()
	if err := c.Artifacts.Swap(ctx, nil, r); err != nil {
		t.Fatal(err)
	}
	old := r.raw
	for _, plain := range [][]byte{{formVersion + 1, 7}, {formVersion, 1 << recordBits}} {
		value := c.Artifacts.ring.SealRecord(artifactKey(r.ID), plain)
		if err := s.Catalog.Swap(ctx, artifactKey(r.ID), old, value); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Artifacts.Get(ctx, r.ID); !errors.Is(err, compact.ErrNewer) || errors.Is(err, row.ErrUnauthentic) || !strings.Contains(err.Error(), "upgrade symlake") {
			t.Errorf("%x: %v", plain, err)
		}
		old = value
	}
}

// fullObject is an entry with every field set.
func fullObject() *Object {
	at := time.Unix(1_700_000_000, 123_456_789).UTC()
	return &Object{URL: "s3://b/k", ETag: "d41d8cd98f00b204e9800998ecf8427e-17", Size: 18, Modified: at.Add(-time.Hour).Truncate(time.Second), State: ObjectConflict,
		Reason: "elf: .debug_info+0x1: corrupt input", Attempts: 2, Interrupted: 3, Owner: row.WorkerID{4}, Again: true, First: at, Last: at.Add(time.Minute),
		Seconds: 1.25, Run: "20261123T212705Z-KNHJQQ", By: row.WorkerID{5, 15: 6}, Standing: row.Standing{Owner: "team", Rank: -7}, App: "shop@1",
		Artifacts: []ObjectArtifact{{ID: symbol.NewID(symbol.ELF, "x"), Member: "m", Outcome: "kept", Error: "e"}, {Outcome: "rejected"}},
		Parsers:   map[string]int{"elf": 7, "other": 1}}
}

// local is an entry of a local file, as most are.
func local() *Object {
	at := time.Unix(1_700_000_000, 123_456_789).UTC()
	return &Object{URL: "file:/a/libm.sym", ETag: "661-1700000000123456789-9977971", Size: 661, Modified: at, State: ObjectLoaded, First: at.Add(time.Second), Last: at.Add(3 * time.Second),
		Seconds: 1.25, Run: "20231114T221320Z-KNHJQQ", By: row.WorkerID{5, 6, 7, 8}, Artifacts: []ObjectArtifact{{ID: symbol.NewID(symbol.ELF, "x"), Outcome: "loaded"}}, Parsers: map[string]int{"breakpad": 3}}
}

// The plain texts of today are read for ever: these bytes must not change.
func TestPlainTextsAreDurable(t *testing.T) {
	at := time.Unix(5, 6).UTC()
	forms := map[string]fields{
		"record": full(), "empty record": &Record{State: Forgotten}, "object": fullObject(), "local object": local(), "empty object": &Object{},
		"waiter": &refForm{Name: "dwo:a", Artifact: symbol.ID{1}.String(), Object: "s3://b/k", InVain: "v"},
		"wanted": &Wanted{Name: "lib.so", File: "f", Kind: "native", Asked: 300, First: at, Last: at.Add(time.Hour)},
		"asked":  &askedForm{Last: at}, "renewed": &renewedForm{1, true, []byte("o")},
	}
	const golden = "testdata/plain.txt"
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		plain, err := plainOf(forms[name])
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(name + " " + hex.EncodeToString(plain) + "\n")
	}
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text.String()); d != "" {
		t.Error(d)
	}
}

func TestObjectForms(t *testing.T) {
	for _, o := range []*Object{fullObject(), local(), {State: ObjectPending}, {ETag: "1-2-3", Size: 1, Modified: time.Unix(0, 3).UTC()}, {ETag: "x-y", Size: -1, Seconds: -1}} {
		plain, err := plainOf(o)
		if err != nil {
			t.Fatal(err)
		}
		got := &Object{URL: o.URL}
		if err := parse(plain, got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(o, got, opts); d != "" {
			t.Error(d)
		}
		head := &Object{URL: o.URL, rest: plain}
		if err := head.head(&parsersOf{}); err != nil {
			t.Fatal(err)
		}
		if head.ETag != o.ETag || head.State != o.State || head.Reason != o.Reason || head.Owner != o.Owner || !maps.Equal(head.Parsers, o.Parsers) {
			t.Errorf("%+v has the head %+v", o, head)
		}
	}
	if plain, _ := plainOf(local()); len(plain) > 75 {
		t.Errorf("an entry takes %d bytes", len(plain))
	}
}

// FuzzForms reads any bytes as each kind of record, writes the record and reads it again.
func FuzzForms(f *testing.F) {
	for _, form := range []fields{full(), &Record{}, fullObject(), local(), &refForm{Name: "n"}, &Wanted{Name: "n"}, &askedForm{}, &renewedForm{}} {
		plain, err := plainOf(form)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Add([]byte(`{"id":"00000000000000000000000000000000","state":"live","published":{"load":"0102030000000000","artifact":{"id":"00000000000000000000000000000000"},"digest":""}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []func() fields{
			func() fields { return &Record{} }, func() fields { return &Object{} }, func() fields { return &refForm{} },
			func() fields { return &Wanted{} }, func() fields { return &askedForm{} }, func() fields { return &renewedForm{} },
		} {
			one := kind()
			if err := parse(b, one); err != nil {
				continue
			}
			plain, err := plainOf(one)
			if err != nil {
				t.Fatal(err)
			}
			two := kind()
			if err := parse(plain, two); err != nil {
				t.Fatalf("%T %x, written as %x: %v", one, b, plain, err)
			}
			again, err := plainOf(two)
			if err != nil || !bytes.Equal(plain, again) {
				t.Fatalf("%T %x is written as %x, then as %x, %v", one, b, plain, again, err)
			}
		}
	})
}
