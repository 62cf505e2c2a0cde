package newfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// With a name or without, a file appears whole, replaces nothing, and leaves nothing behind.
func TestFile(t *testing.T) {
	for name, create := range map[string]func(string, os.FileMode) (*File, error){"any": Create, "named": createNamed} {
		dir := t.TempDir()
		write := func(name string, link bool) (err error) {
			f, err := create(dir, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			if _, err := f.WriteString("text"); err != nil {
				return err
			}
			if link {
				return f.Link(name)
			}
			return nil
		}
		if err := errors.Join(write("a", true), write("b", false)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := write("a", true); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: replaced: %v", name, err)
		}
		left, err := os.ReadDir(dir)
		text, rerr := os.ReadFile(filepath.Join(dir, "a"))
		if err := errors.Join(err, rerr); err != nil || len(left) != 1 || string(text) != "text" {
			t.Errorf("%s: %v %q %v", name, left, text, err)
		}
		if i, err := os.Stat(filepath.Join(dir, "a")); err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, i, err)
		}
	}
}
