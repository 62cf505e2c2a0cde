package file

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Several processes may make a store at once: a late one finds it.
func TestCreateTogether(t *testing.T) {
	for range 100 {
		dir := filepath.Join(t.TempDir(), "store")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := Create(dir); err != nil {
					t.Error(err)
					return
				}
				if s, err := Open(dir, Options{}); err != nil {
					t.Error(err)
				} else if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// The rest of a killed Create is no hindrance: a database under its other name, or one without its format file.
func TestCreateAfterKill(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".tmp", ".tmp-wal", ".tmp-shm"} {
		if err := os.WriteFile(filepath.Join(dir, catalogName+name), []byte("half of a page"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	write := func(key string) {
		t.Helper()
		if err := Create(dir); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Catalog.Swap(ctx, []byte(key), nil, []byte("value")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	if err := os.Remove(filepath.Join(dir, formatName)); err != nil {
		t.Fatal(err)
	}
	write("two")
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if value, err := s.Catalog.Get(ctx, []byte("one")); err != nil || string(value) != "value" {
		t.Errorf("one is %q, %v", value, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, catalogName+".tmp*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}
