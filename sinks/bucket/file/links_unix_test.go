//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/symlake/symlake/sinks/bucket"
)

func TestListLinksAndDevices(t *testing.T) {
	b, dir := folder(t)
	outside := filepath.Join(t.TempDir(), "real")
	write(t, outside, "12345")
	write(t, filepath.Join(dir, "d", "file"), "1")
	write(t, filepath.Join(dir, "d", ".symlake-unfinished"), "1")
	write(t, filepath.Join(dir, ".hidden"), "1")
	must(t, os.Symlink(outside, filepath.Join(dir, "to-file")))
	must(t, os.Symlink("..", filepath.Join(dir, "d", "loop")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	var keys []string
	must(t, b.List(t.Context(), "", "", func(e bucket.Entry) error {
		keys = append(keys, e.Key)
		r, err := b.Open(t.Context(), e)
		switch e.Key {
		case "dangling": // it is not passed over in silence
			if !errors.Is(err, bucket.ErrNotFound) {
				t.Errorf("%s: %v", e.Key, err)
			}
			return nil
		case "to-file":
			if e.Size != 5 || err != nil || string(r.Mapped()) != "12345" {
				t.Errorf("%+v: %v", e, err)
			}
		}
		if err != nil {
			return err
		}
		return r.Close()
	}))
	if want := []string{".hidden", "d/file", "dangling", "to-file"}; !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	// A pipe in a file's place does not hang.
	if _, err := b.Open(t.Context(), bucket.Entry{Key: "pipe", ETag: "x"}); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("pipe: %v", err)
	}
}
