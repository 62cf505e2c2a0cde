package gc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// gc writes the records of earlier versions anew, once.
func TestRenewsOldRecords(t *testing.T) {
	ctx := t.Context()
	b, err := os.ReadFile("../../../sinks/catalog/testdata/records-json.json")
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
	size := func() (n int) {
		t.Helper()
		if err := s.Catalog.List(ctx, sinks.Span{}, func(r sinks.Row) error { n += len(r.Key) + len(r.Value); return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Nothing else is to be done: no lease is over. The rows were left behind, which gc tells.
	run := func(dry bool) *Report {
		t.Helper()
		r, err := Run(ctx, Options{Store: s, Keyring: ring, DryRun: dry, Now: func() time.Time { return time.Date(2026, 11, 23, 22, 10, 0, 0, time.UTC) }})
		if err != nil || r.Loads != 0 || r.Names != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	before := size()
	if r := run(true); r.Renewed != 49 || size() != before {
		t.Errorf("a dry run counts %d and leaves %d of %d bytes", r.Renewed, size(), before)
	}
	if r := run(false); r.Renewed != 49 || size()*2 > before {
		t.Errorf("%d records were renewed, %d bytes became %d", r.Renewed, before, size())
	}
	if next, done, err := catalog.New(s.Catalog, ring).Keys.RenewedTo(ctx); err != nil || !done || next != nil {
		t.Errorf("renewed to %x, %v, %v", next, done, err)
	}
	if r := run(false); r.Renewed != 0 {
		t.Errorf("%d records were renewed again", r.Renewed)
	}
}
