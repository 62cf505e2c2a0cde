package house

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A package fits in a head: it has at most so many lines and files without its tests.
const (
	mostLines = 3500
	mostFiles = 20
)

// oversized are the packages above mostLines or mostFiles, with the reason.
var oversized = map[string]string{
	"formats/demangle/swift": "the grammar of a mangling is one recursive whole",
	"formats/internal/dwarf": "units, attributes and lines of DWARF share one reader",
}

// TestSize fails when a package has more than 3,500 lines or 20 files.
func TestSize(t *testing.T) {
	tooLarge := map[string]bool{}
	for _, l := range allPackages(t) {
		if !l.ours() {
			continue
		}
		lines := 0
		for _, name := range l.GoFiles {
			text, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}

		if !above(lines, len(l.GoFiles)) {
			continue
		}
		tooLarge[l.name()] = true
		if _, listed := oversized[l.name()]; !listed {
			t.Errorf("%s has %d lines in %d files, at most %d in %d fit in a head", l.name(), lines, len(l.GoFiles), mostLines, mostFiles)
		}
	}

	for name := range oversized {
		if !tooLarge[name] {
			t.Logf("%s is not too large: take it from the list", name)
		}
	}
}

// above reports whether a package of so many lines and files is too large.
func above(lines, files int) bool { return lines > mostLines || files > mostFiles }

// TestSizeRefuses tries the rule on sizes at its limits.
func TestSizeRefuses(t *testing.T) {
	for _, planted := range []struct {
		lines, files int
		above        bool
	}{{3500, 20, false}, {3501, 1, true}, {21, 21, true}} {
		if above(planted.lines, planted.files) != planted.above {
			t.Errorf("%d lines in %d files: too large is %t", planted.lines, planted.files, !planted.above)
		}
	}
}
