package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// documents name commands, folders and files for people. All of them must exist.
var documents = []string{".github/CONTRIBUTING.md", "jobs/docs/architecture.md"}

var (
	makeCommand = regexp.MustCompile("(?m)(?:^    |`)make ([a-z]+)")
	testCommand = regexp.MustCompile(`(?m)^    go test ((?:\./\S+ ?)+)(?:-run '?(\w+))?`)
	quotedPath  = regexp.MustCompile("`([a-z.][\\w.-]*(?:/[\\w.-]+)+)`")
	markdown    = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z]+):`)
)

// coming are folders that documents name already and that are still being made.
var coming = map[string]bool{
	"formats/report/all": true,
}

// invented is the name of the parts that CONTRIBUTING adds as examples.
const invented = "toy"

// TestDocuments fails when a document names a make target, a test, a folder or a file that does not exist.
func TestDocuments(t *testing.T) {
	root := formattest.Root()
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, missing := range missingFrom(t, root, name, string(text)) {
			t.Errorf("%s names %s", name, missing)
		}
	}
}

// missingFrom returns the names in a document at a path below root that lead nowhere.
func missingFrom(t *testing.T, root, at, text string) (missing []string) {
	t.Helper()
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
		return err == nil || strings.Contains(path, invented) || coming[path] || strings.HasPrefix(path, "bin/") // made by builds
	}
	rules, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllSubmatch(rules, -1) {
		targets[string(m[1])] = true
	}

	for _, m := range makeCommand.FindAllStringSubmatch(text, -1) {
		if !targets[m[1]] {
			missing = append(missing, "make "+m[1])
		}
	}
	for _, m := range testCommand.FindAllStringSubmatch(text, -1) {
		for _, folder := range strings.Fields(m[1]) {
			folder = strings.TrimSuffix(folder, "/...")
			if !exists(folder) {
				missing = append(missing, "go test "+folder)
			} else if m[2] != "" && !hasTest(t, filepath.Join(root, folder), m[2]) {
				missing = append(missing, m[2]+" of "+folder)
			}
		}
	}
	for _, m := range quotedPath.FindAllStringSubmatch(text, -1) {
		if !exists(m[1]) {
			missing = append(missing, m[1])
		}
	}
	for _, m := range markdown.FindAllStringSubmatch(text, -1) {
		if link := filepath.Join(filepath.Dir(at), m[1]); !exists(link) {
			missing = append(missing, m[1])
		}
	}
	return missing
}

// hasTest reports whether a package has a test of a name that begins with prefix.
func hasTest(t *testing.T, folder, prefix string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+prefix) {
			return true
		}
	}
	return false
}

// TestDocumentsRefuse tries the rule on a planted document.
func TestDocumentsRefuse(t *testing.T) {
	const planted = "See [here](../LICENSE) and [there](../NOTHING).\n\n" +
		"    make test\n    make nothing\n    go test ./jobs/internal/house -run TestWords\n    go test ./jobs/internal/house -run TestNothing\n" +
		"    go test ./formats/nothing ./formats/elf\n\n`formats/elf`, `sinks/nothing`, `sinks/toy`, `http/1.1`\n"
	got := missingFrom(t, formattest.Root(), ".github/X.md", planted)
	want := "make nothing; TestNothing of ./jobs/internal/house; go test ./formats/nothing; sinks/nothing; http/1.1; ../NOTHING"
	if strings.Join(got, "; ") != want {
		t.Errorf("missing are %q, want %q", got, want)
	}
}
