package hostfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, name, text string) *os.File {
	t.Helper()
	f, err := OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.WriteString(text)
	must(t, err)
	return f
}

// Of two descriptors one has a lock; shared ones stand beside each other; closing unlocks; none keeps others from reading.
func TestLock(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	a := create(t, name, "text")
	b, err := Open(name)
	must(t, err)
	defer b.Close()
	try := func(f *os.File, shared, want bool) {
		t.Helper()
		if ok, err := Lock(f, shared, false); ok != want || err != nil {
			t.Errorf("lock: %v %v", ok, err)
		}
	}
	try(a, false, true)
	try(b, false, false)
	try(b, true, false)
	if text, err := io.ReadAll(b); string(text) != "text" || err != nil {
		t.Errorf("read beside a lock: %q %v", text, err)
	}
	must(t, a.Close())
	try(b, true, true)
	c, err := Open(name)
	must(t, err)
	defer c.Close()
	try(c, true, true)
	try(c, false, false)
}

// One process after the other has the folder.
func TestLockFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := LockFolder(dir, "lock")
	must(t, err)
	had := make(chan error)
	go func() {
		unlock, err := LockFolder(dir, "lock")
		if err == nil {
			unlock()
		}
		had <- err
	}()
	select {
	case err := <-had:
		t.Errorf("taken twice: %v", err)
	default:
	}
	unlock()
	must(t, <-had)
	must(t, SyncFolder(dir))
}

// A file that is open may be renamed and removed, and its readers read on.
func TestOpenFileMoves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := create(t, filepath.Join(dir, "a"), "old")
	must(t, os.Rename(f.Name(), filepath.Join(dir, "c")))
	text := make([]byte, 3)
	if _, err := f.ReadAt(text, 0); string(text) != "old" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	open, err := Open(filepath.Join(dir, "c"))
	must(t, err)
	must(t, Unlink(filepath.Join(dir, "c")))
	must(t, errors.Join(open.Close(), f.Close())) // on Windows the name may stay until then
	if err := Unlink(filepath.Join(dir, "c")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if err := Unlink(dir); err == nil {
		t.Error("a folder was removed")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// One process at a time has the name of a file to replace it. The lock holds when the file is replaced.
func TestLockName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if _, err := LockName(name, ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock on a file that is missing: %v", err)
	}
	must(t, create(t, name, "0").Close())
	unlock, err := LockName(name, ".lock")
	must(t, err)
	had := make(chan error)
	go func() {
		unlock, err := LockName(name, ".lock")
		if err == nil {
			unlock()
		}
		had <- err
	}()
	must(t, create(t, name+".new", "1").Close())
	must(t, os.Rename(name+".new", name))
	unlock()
	if err := <-had; err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); string(text) != "1" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

// A file without a name can be written and read, and leaves nothing behind.
func TestNameless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := Nameless(dir)
	must(t, err)
	_, err = f.WriteAt([]byte("text"), 10)
	must(t, err)
	text := make([]byte, 4)
	if _, err := f.ReadAt(text, 10); string(text) != "text" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	must(t, f.Close())
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

// Only its owner reads a private file, and a mapping shows what the file holds.
func TestPrivateAndMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := CreatePrivate(filepath.Join(dir, "key"))
	must(t, err)
	defer f.Close()
	must(t, Private(f))
	if _, err := CreatePrivate(f.Name()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	_, err = f.WriteString("text")
	must(t, err)
	mapped, err := Map(f, 4)
	must(t, err)
	if mapped != nil && string(mapped) != "text" {
		t.Errorf("%q", mapped)
	}
	must(t, Unmap(mapped))
	info, err := f.Stat()
	must(t, err)
	if Identity(info) == 0 {
		t.Error("a file without identity")
	}
	must(t, Local(dir))
}

// Rights of Windows, as it writes them, that let other users read a file.
func TestReadableBy(t *testing.T) {
	t.Parallel()
	for sddl, want := range map[string]string{
		"D:P(A;;FA;;;OW)(A;;FA;;;SY)(A;;FA;;;BA)":      "",
		"D:PAI(A;;FA;;;S-1-5-21-1-2-3-1001)":           "",
		"D:AI(A;ID;FA;;;SY)(A;ID;0x1200a9;;;BU)":       "every user of this machine",
		"O:BAG:SYD:(A;;FR;;;WD)":                       "everyone",
		"D:(D;;FA;;;WD)(A;;FA;;;OW)":                   "",
		"D:(A;;0x1301bf;;;S-1-5-11)":                   "every user with a login",
		"D:(A;;0x0;;;WD)(A;;FA;;;S-1-5-21-1-2-3-1001)": "",
		"D:NO_ACCESS_CONTROL":                          "everyone",
		"":                                             "everyone",
	} {
		if got := readableBy(sddl); got != want {
			t.Errorf("%s: %q, want %q", sddl, got, want)
		}
	}
}

// StatusIn follows links, and says what StatusOf says of the file that os.Stat finds.
func TestStatusIn(t *testing.T) {
	dir := t.TempDir()
	create(t, filepath.Join(dir, "file"), "text").Close()
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	names := []string{"file", "folder"}
	if os.Symlink("file", filepath.Join(dir, "link")) == nil { // Windows may forbid it
		names = append(names, "link")
	}
	folder, err := os.Open(dir)
	must(t, err)
	defer folder.Close()
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		want := StatusOf(info)
		got, err := StatusIn(folder, name)
		if err != nil || !got.Modified.Equal(want.Modified) || got.Size != want.Size || got.Identity != want.Identity || got.Regular != (name != "folder") {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	if _, err := StatusIn(folder, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
