package file

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

// TestUnlinked: a reader of a file that is dropped reads it to its end.
func TestUnlinked(t *testing.T) {
	dir := t.TempDir()
	s, other := openStore(t, dir, Options{}), openStore(t, dir, Options{})
	if err := commit(s, 9); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := other.Blocks.Scan(ctx, sinks.Span{}, func(sinks.Row) error {
		if n == 0 {
			if err := s.Blocks.Drop(ctx, [][]byte{prefixOf(9)}); err != nil {
				return err
			}
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("a dropped load left %v", left)
			}
		}
		n++
		return nil
	})
	if err != nil || n != len(loadRows(9)) {
		t.Fatalf("%d rows of %d, %v", n, len(loadRows(9)), err)
	}
	// The other one, which may still know the file, finds the load gone, then where it is now.
	ask := func() (row sinks.Row) {
		if err := other.Blocks.First(ctx, []sinks.Span{{From: prefixOf(9), Stop: sinks.Prefix(prefixOf(9)).Next()}}, func(_ int, r sinks.Row, err error) {
			if row = r; err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Error(err)
		}
		return row
	}
	other.Blocks.(blocks).files.close() // not only open files answer
	if r := ask(); r.Key != nil {
		t.Fatal("a dropped load answers")
	}
	for range 2 { // the second time it moves to a new file
		if err := commit(s, 9); err != nil {
			t.Fatal(err)
		}
		other.Blocks.(blocks).files.close()
		if r := ask(); !bytes.Equal(r.Key, loadRows(9)[0].Key) {
			t.Fatalf("row %x", r.Key)
		}
		if left := files(t, dir); len(left) != 1 {
			t.Fatalf("files %v, want one", left)
		}
	}
}

func TestOpenFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{OpenFiles: 5})
	for n := range 40 {
		if err := commit(s, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Blocks.Scan(ctx, sinks.Span{}, func(sinks.Row) error { return nil }); err != nil {
		t.Fatal(err)
	}
	hs := s.Blocks.(blocks).files
	if len(hs.byN) != 5 || hs.order.Len() != 5 {
		t.Fatalf("%d files open, want 5", len(hs.byN))
	}
	descriptors, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, d := range descriptors {
		if target, err := os.Readlink(d); err == nil && strings.HasPrefix(target, filepath.Join(dir, blocksName)) {
			open++
		}
	}
	if len(descriptors) > 0 && open != 5 {
		t.Fatalf("%d descriptors of HFiles, want 5", open)
	}
}

// TestPacks: small loads share files, big ones do not, and a shared file goes with its last load.
func TestPacks(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	if err := commit(s, 5, 9, 1, 18, 4); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir)); n != 3 {
		t.Fatalf("%d files, want a pack and two of their own", n)
	}
	for i, n := range []int{9, 5, 1, 4, 18} {
		if err := s.Blocks.Drop(ctx, [][]byte{prefixOf(n)}); err != nil {
			t.Fatal(err)
		}
		if left, want := len(files(t, dir)), []int{2, 2, 2, 1, 0}[i]; left != want {
			t.Fatalf("%d files after load %d went, want %d", left, n, want)
		}
	}
}

func TestTidy(t *testing.T) {
	dir := t.TempDir()
	s, other := openStore(t, dir, Options{}), openStore(t, dir, Options{})
	if err := commit(s, 1, 9); err != nil {
		t.Fatal(err)
	}
	living, err := other.Blocks.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Abort()
	for _, n := range []int{18, 27} {
		for _, r := range loadRows(n) {
			if err := living.Write(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := len(files(t, dir))
	old := time.Now().Add(-time.Hour)
	leave := func(name string, when time.Time) {
		t.Helper()
		path := filepath.Join(dir, blocksName, "ab", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 1000), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	dead := "abcdef0123456789"
	leave(dead+"0000000000000000.tmp", old)
	leave(dead+"0000000000000001.hfile", old)
	leave(dead+"0000000000000002.tmp", time.Now())
	leave("notes.txt", old)
	leave("../../format.12.tmp", old)
	leave("../../format.13.tmp", time.Now())
	freed, err := s.Blocks.Tidy(ctx, time.Now().Add(-time.Minute))
	if err != nil || freed != 2000 {
		t.Fatalf("freed %d bytes, %v, want 2000", freed, err)
	}
	if n := len(files(t, dir)); n != kept+2 {
		t.Fatalf("%d files, want %d: what is young, and what is not ours", n, kept+2)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "format.*")); err != nil || len(left) != 1 {
		t.Fatalf("%v %v", left, err)
	}
	if freed, err = s.Blocks.Tidy(ctx, time.Now().Add(time.Hour)); err != nil || freed != 1000 {
		t.Fatalf("freed %d bytes, %v, want 1000", freed, err)
	}
	if err := living.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir)); n != kept+1 {
		t.Fatalf("%d files, want %d", n, kept+1)
	}
}
