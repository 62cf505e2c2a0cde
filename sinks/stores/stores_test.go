package stores

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/sinks"
)

func TestURLs(t *testing.T) {
	ctx := context.Background()
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for i, url := range []string{"file:data", "file:./data/", "data", "./data", "FILE:data", filepath.Join(here, "data"), "file:" + filepath.Join(here, "data"), "file://" + filepath.Join(here, "data")} {
		if i == 0 {
			if _, err := Open(ctx, url, Options{}); !errors.Is(err, sinks.ErrMissing) {
				t.Fatalf("%s: %v, want ErrMissing", url, err)
			}
			if left, _ := filepath.Glob("*"); len(left) > 0 {
				t.Fatalf("Open made %v", left)
			}
		}
		if err := Create(ctx, url, Options{}); err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		s, err := Open(ctx, url, Options{ReadOnly: i%2 == 1})
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		if i == 0 {
			if err := s.Catalog.Swap(ctx, []byte("key"), nil, []byte("value")); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := s.Catalog.Get(ctx, []byte("key")); err != nil || string(v) != "value" {
			t.Errorf("%s: %q, %v: another store", url, v, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if made, _ := filepath.Glob("*"); len(made) != 1 {
		t.Errorf("made %v", made)
	}
	for _, url := range []string{"", "file:", "gopher:data", "gopher://host/data", "hbase:", "hbase://", "hbase://host:x/ns", "hbase://host/a-b", "hbase://host/ns?what=1", "hbase+zk://a,,b/ns"} {
		if _, err := Open(ctx, url, Options{ReadOnly: true}); err == nil || errors.Is(err, sinks.ErrMissing) {
			t.Errorf("open %q: %v", url, err)
		}
		if err := Create(ctx, url, Options{}); err == nil {
			t.Errorf("create %q: taken", url)
		}
	}
	if err := Create(ctx, "a:b", Options{}); err != nil { // a drive, or a folder called so
		t.Error(err)
	}
}
