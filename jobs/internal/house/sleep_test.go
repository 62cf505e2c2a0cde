package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// sleepers are the tests that sleep, with the reason. All others wait for a condition with
// formattest.Await, or in a bubble of testing/synctest.
var sleepers = map[string]string{
	"ingest/lakerun_test.go":   "a slow store, which commits while the run ends",
	"jobs/cron_test.go":        "a real cron looks at its tables once a minute",
	"jobs/hbasesecure_test.go": "the random pause between two kills",
	"jobs/storm_test.go":       "the random pause between two kills",
}

// TestSleep fails when a test sleeps that is not listed: a fixed time is too short on a busy host.
func TestSleep(t *testing.T) {
	root := formattest.Root()
	slept := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(below)
		for _, pos := range sleeps(file) {
			slept[name] = true
			if sleepers[name] == "" {
				t.Errorf("%s:%d: a test sleeps; wait for a condition with formattest.Await", name, fset.Position(pos).Line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range sleepers {
		if !slept[name] {
			t.Errorf("%s sleeps no more: take it from the list", name)
		}
	}
}

// sleeps returns the places where file calls time.Sleep.
func sleeps(file *ast.File) (at []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" {
				at = append(at, s.Pos())
			}
		}
		return true
	})
	return at
}

// TestSleepRefuses tries the rule on planted tests.
func TestSleepRefuses(t *testing.T) {
	for text, want := range map[string]int{
		"func f() { time.Sleep(1); go time.Sleep(2) }":                  2,
		"func f() { s.Sleep(1); time.After(1); Sleep := 1; _ = Sleep }": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sleeps(file)); got != want {
			t.Errorf("%d sleeps in %q, want %d", got, text, want)
		}
	}
}
