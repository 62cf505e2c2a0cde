package tables

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/bucket/file"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/sinktest"
)

// A run that dies at any file that it writes is ended by the next one: the same files as of an undisturbed run, and
// nothing beside them.
func TestEveryDeath(t *testing.T) {
	w := newWorld(t, 2, 50)
	in, clean := t.TempDir(), t.TempDir()
	const files = 5
	writeRows(t, in, files, 40, 2, 50)
	w.run(t, in, clean, 1<<20, Options{})
	for _, after := range []bool{false, true} {
		for at := 1; at <= files; at++ {
			out := t.TempDir()
			m := &sinktest.Mortal{At: at, After: after}
			source, err := file.Open(in)
			must(t, err)
			target, err := file.Open(out)
			must(t, err)
			o := Options{Client: answer.New(lookup.New(w.store, w.kek, lookup.Options{CacheBytes: 1 << 20})), Input: source, Output: m.Bucket(target), Scratch: t.TempDir()}
			if _, err := Run(t.Context(), o); !errors.Is(err, sinktest.ErrDead) {
				t.Fatalf("death at file %d: %v", at, err)
			}
			r := w.run(t, in, out, 1<<20, Options{})
			if r.Files.Written+r.Files.Done != files || r.Files.Done < at-1 {
				t.Errorf("death at file %d, after %t: %+v", at, after, r.Files)
			}
			want, err := os.ReadDir(clean)
			must(t, err)
			got, err := os.ReadDir(out)
			must(t, err)
			if len(got) != len(want) {
				t.Errorf("death at file %d: %d files, want %d", at, len(got), len(want))
			}
			for _, e := range want {
				a, err := os.ReadFile(filepath.Join(clean, e.Name()))
				must(t, err)
				b, err := os.ReadFile(filepath.Join(out, e.Name()))
				must(t, err)
				if string(a) != string(b) {
					t.Errorf("death at file %d: %s differs", at, e.Name())
				}
			}
		}
	}
}
