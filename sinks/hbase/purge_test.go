package hbase

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// After a purge the files of the catalog's table hold no replaced and no deleted record, and all others.
func TestPurge(t *testing.T) {
	server := hbasetest.Shared(t)
	rest := "//" + server.Master + "/" + namespace()
	if err := Create(t.Context(), rest, Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), rest, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	secret := func() []byte { return []byte(rand.Text() + rand.Text()) }
	key, gone, first, second, third := []byte("w1"), []byte("w2"), secret(), secret(), secret()
	swap := func(key, old, new []byte) {
		t.Helper()
		if err := s.Catalog.Swap(t.Context(), key, old, new); err != nil {
			t.Fatal(err)
		}
	}
	a, err := parse(rest, false)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Options{Servers: []string{server.Master}})
	defer c.Close()
	table := a.schemas()[1].Table
	flush := func() {
		t.Helper()
		regions, err := c.Regions(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range regions {
			if err := c.Flush(t.Context(), table, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	stands := func(value []byte) bool {
		t.Helper()
		found := false
		root := filepath.Join(strings.TrimPrefix(server.Root, "file:"), "data", a.namespace)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // a file that a compaction takes away meanwhile
			}
			text, _ := os.ReadFile(path)
			found = found || bytes.Contains(text, value)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	swap(key, nil, first)
	swap(gone, nil, second)
	flush()
	if !stands(first) || !stands(second) {
		t.Fatal("values do not stand in the files in clear: this test sees nothing")
	}
	swap(key, first, third)
	swap(gone, second, nil)
	beyond, err := s.Purge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(beyond) != 2 || !strings.Contains(beyond[0], "snapshots") {
		t.Errorf("out of reach: %q", beyond)
	}
	formattest.Await(t, "the region server archives the old files", func() bool { return !stands(first) && !stands(second) })
	if !stands(third) {
		t.Error("after the purge the value that counts is gone")
	}
	if got, err := s.Catalog.Get(t.Context(), key); err != nil || !bytes.Equal(got, third) {
		t.Errorf("%q, %v", got, err)
	}
}
