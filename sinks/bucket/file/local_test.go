package file_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/bucket/file"
)

func folder(t *testing.T) (*file.Bucket, string) {
	t.Helper()
	dir := t.TempDir()
	b, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b, dir
}

func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What cannot be read shows, and hides nothing else.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root every file can be read; the folder case uses a name that is none")
	}
	b, dir := folder(t)
	write(t, filepath.Join(dir, "a"), "1")
	write(t, filepath.Join(dir, "locked"), "1")
	write(t, filepath.Join(dir, "z"), "1")
	must(t, os.Chmod(filepath.Join(dir, "locked"), 0))
	n := 0
	must(t, b.List(t.Context(), "", "", func(e bucket.Entry) error {
		n++
		r, err := b.Open(t.Context(), e)
		if e.Key == "locked" && os.Getuid() != 0 {
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%v", err)
			}
			return nil
		}
		if err != nil {
			return err
		}
		return r.Close()
	}))
	if n != 3 {
		t.Errorf("%d entries", n)
	}
	none, err := file.Open(filepath.Join(dir, "none"))
	must(t, err)
	if err := none.List(t.Context(), "", "", nil); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
	if os.Getuid() == 0 {
		return
	}
	write(t, filepath.Join(dir, "closed", "x"), "1")
	must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	defer os.Chmod(filepath.Join(dir, "closed"), 0o777)
	n = 0
	if err := b.List(t.Context(), "", "", func(bucket.Entry) error { n++; return nil }); !errors.Is(err, fs.ErrPermission) || !errors.Is(err, bucket.ErrPartial) || n != 3 {
		t.Errorf("%v after %d entries", err, n)
	}
}

func open(t *testing.T, b *file.Bucket, key string) bucket.Reader {
	t.Helper()
	e, _, err := b.Stat(t.Context(), key)
	must(t, err)
	r, err := b.Open(t.Context(), e)
	must(t, err)
	return r
}

// A file replaced under its name stays readable; one overwritten in place, or
// cut short, is noticed by ReadAt and by Close. Reading the mapping of one cut
// short is a fault, which Guard makes an error.
func TestChangedWhileOpen(t *testing.T) {
	b, dir := folder(t)
	old := strings.Repeat("old!", 20_000)
	path := filepath.Join(dir, "k")
	write(t, path, old)
	r := open(t, b, "k")
	e, _, err := b.Stat(t.Context(), "k")
	must(t, err)
	must(t, b.Create(t.Context(), "k", e.ETag, strings.NewReader("new")))
	got := make([]byte, len(old))
	if n, err := r.ReadAt(got, 0); n != len(old) || err != nil || string(got) != old || string(r.Mapped()) != old {
		t.Errorf("replaced: %d bytes, %v", n, err)
	}
	must(t, r.Close())

	write(t, path, old)
	r = open(t, b, "k")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("NEW longer")
	must(t, err)
	must(t, f.Close())
	if _, err := r.ReadAt(got[:3], 0); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("overwritten: %v", err)
	}
	if err := r.Close(); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("close of overwritten: %v", err)
	}

	write(t, path, old)
	r = open(t, b, "k")
	must(t, os.Truncate(path, 0))
	if _, err := r.ReadAt(got, 0); !errors.Is(err, bucket.ErrChanged) {
		t.Errorf("cut short: %v", err)
	}
	lim := formats.Limits{}.WithDefaults()
	_, _, err = formats.Open(t.Context(), []*formats.Format{&archive.Tar}, &formats.Input{
		Name: "k", Size: int64(len(old)), Limits: &lim, Bytes: r, Mapped: r.Mapped(),
	})
	if !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("fault: %v", err)
	}
	r.Close()
}

// A small file is read whole when it is opened: what happens to it later changes nothing.
func TestSmallIsWhole(t *testing.T) {
	b, dir := folder(t)
	path := filepath.Join(dir, "k")
	write(t, path, "small")
	r := open(t, b, "k")
	write(t, path, "other")
	must(t, os.Truncate(path, 0))
	got := make([]byte, 9)
	if n, err := r.ReadAt(got, 2); n != 3 || err != io.EOF || string(got[:n]) != "all" || string(r.Mapped()) != "small" {
		t.Errorf("%d bytes %q, %v; mapped %q", n, got[:n], err, r.Mapped())
	}
	must(t, r.Close())
}

// Keys are labels of files below the folder, one spelling each.
func TestKeysStayInside(t *testing.T) {
	b, dir := folder(t)
	write(t, filepath.Join(filepath.Dir(dir), "secret"), "1")
	write(t, filepath.Join(dir, "d", "x"), "1")
	for _, key := range []string{"../secret", "/etc/passwd", "d/../d/x", "./d/x", "d//x", "d/x/", "d/../../secret", ".", "..", "d/.symlake-x"} {
		if _, _, err := b.Stat(t.Context(), key); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("stat %q: %v", key, err)
		}
		if err := b.Create(t.Context(), key, "", strings.NewReader("x")); err == nil {
			t.Errorf("created %q", key)
		}
		if err := b.Delete(t.Context(), []string{key}); err != nil {
			t.Errorf("delete %q: %v", key, err)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "secret")); err != nil {
		t.Error(err)
	}
	if _, _, err := b.Stat(t.Context(), "d/x"); err != nil {
		t.Error(err)
	}
	if err := b.Delete(t.Context(), []string{"d"}); err == nil {
		t.Error("a folder was deleted")
	}
}

// Writers that died leave a name that is no object; a folder appears with its
// first object.
func TestCreateInNewFolder(t *testing.T) {
	_, dir := folder(t)
	b, err := file.Open(filepath.Join(dir, "not", "yet"))
	must(t, err)
	must(t, b.Create(t.Context(), "a/b/c", "", strings.NewReader("x")))
	r := open(t, b, "a/b/c")
	defer r.Close()
	got, err := io.ReadAll(io.NewSectionReader(r, 0, 10))
	if err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
	if err := b.Create(t.Context(), "a/b/c/d", "", strings.NewReader("x")); err == nil {
		t.Error("a file below a file")
	}
}
