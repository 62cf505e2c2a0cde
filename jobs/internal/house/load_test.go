package house

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

const module = "github.com/symlake/symlake"

// listed is a package as `go list` prints it. Export is the path of its compiled type information.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
}

// name returns the package's folder below the module's root.
func (l listed) name() string { return strings.TrimPrefix(l.ImportPath, module+"/") }

// ours reports whether the package belongs to this module.
func (l listed) ours() bool { return strings.HasPrefix(l.ImportPath, module+"/") }

// packages returns all packages of the module and those they import. The go command takes the
// compiled types from its build cache, so the list costs a second after a build.
var packages = sync.OnceValues(func() ([]listed, error) {
	list := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles",
		"./...", "./testdata/bench/...", "./testdata/steps", "./testdata/profile/raw")
	list.Dir = formattest.Root()
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}

	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
})

// allPackages is packages for a test.
func allPackages(t *testing.T) []listed {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checker parses packages and resolves their identifiers.
type checker struct {
	fset *token.FileSet
	imp  types.Importer
}

// newChecker returns a checker that reads imported packages from the compiled types of all.
func newChecker(all []listed) *checker {
	exports := map[string]string{}
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	fset := token.NewFileSet()
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s has no compiled types", path)
		}
		return os.Open(exports[path])
	}
	return &checker{fset: fset, imp: importer.ForCompiler(fset, "gc", lookup)}
}

// read parses the non-test files of l, with comments.
func (c *checker) read(l listed) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range l.GoFiles {
		file, err := parser.ParseFile(c.fset, filepath.Join(l.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
