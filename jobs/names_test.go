package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/formattest/names"
)

// Programs of the corpus that this test asks; make names bundles them all, and bench asks them all.
var namedPrograms = []string{"immer", "pqueue", "preact", "semver"}

// Functions of real packages that nine tools have bundled have the names that V8 gives them in the unbundled program.
func TestTrueNames(t *testing.T) {
	t.Parallel()
	cache := os.Getenv("CACHE") // where the corpus is kept, outside the tree
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "symlake")
	}
	all, err := names.Load(filepath.Join(cache, "names"))
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(b names.Bundle) bool { return !slices.Contains(namedPrograms, b.Name) })
	if len(all) < 9*len(namedPrograms) {
		formattest.Missing(t, "bundles with known names", "make names")
	}
	dir := t.TempDir()
	store, stacks := filepath.Join(dir, "store"), filepath.Join(dir, "stacks.txt")
	ingest := []string{"--store", store, "--lake", "off", "ingest"}
	for i := range all {
		script := filepath.Join(cache, "names", "out", all[i].Script())
		ingest = append(ingest, script, script+".map")
	}
	mustRun(t, []int{0}, ingest...)
	if err := os.WriteFile(stacks, []byte(names.Text(all)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", stacks)
	answers, err := names.Answers(all, strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	right, of := 0, 0
	for i := range all {
		for _, s := range all[i].Stacks {
			for n := range s.Frames {
				f := &s.Frames[n]
				if f.Name == "" {
					continue
				}
				of++
				if got := answers[f].Function(); names.Bare(got) == f.Name {
					right++
				} else {
					t.Logf("%s on %s: %q, truly %q at %s:%d: %s", all[i].Script(), s.Engine, got, f.Name, f.Source, f.To[0], s.Lines[f.At])
				}
			}
		}
	}
	t.Logf("%d of %d functions have their true name", right, of)
	if of < 3000 || 100*right < 95*of {
		t.Errorf("%d of %d functions have their true name, fewer than 95 %%", right, of)
	}
}
