package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// avoided matches phrases that hide the subject or the verb of a sentence: name the thing and give it
// an active verb.
var avoided = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`what (is|was|are|were)`,
	`those (of|that|who)`,
	`that of`,
	`ones? that`,
	`nobody`,
	`that (it is|they are)`,
	`hears of`,
	`who|whom|whose`,
	`of which`,
	`nothing is \w+ but`,
	`is not there`,
	`as is`,
	`whatever`,
}, "|") + `)\b`)

// mostAvoided is the share of comment lines that may have such a phrase: some mean a person.
const mostAvoided = 0.005

// comment is one line of a comment.
type comment struct {
	pos  token.Position
	text string
}

// comments returns the lines of file's comments. Directives such as //go:embed and empty lines are
// left out.
func comments(fset *token.FileSet, file *ast.File) []comment {
	var lines []comment
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "// ") && !strings.HasPrefix(c.Text, "/*") {
				continue
			}
			pos := fset.Position(c.Pos())
			for line := range strings.Lines(c.Text) {
				if text := strings.Trim(line, "/* \t\r\n"); text != "" {
					lines = append(lines, comment{pos, text})
				}
				pos.Line++
			}
		}
	}
	return lines
}

// TestWords fails when too many comment lines of a top folder, or of the tests, have a phrase to
// avoid. With -v it prints each of them.
func TestWords(t *testing.T) {
	root := formattest.Root()
	fset := token.NewFileSet()
	all := map[string]int{}
	found := map[string][]comment{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}

		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		part, _, _ := strings.Cut(filepath.ToSlash(below), "/")
		if strings.HasSuffix(path, "_test.go") {
			part = "tests"
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, line := range comments(fset, file) {
			all[part]++
			if avoided.MatchString(line.text) {
				line.pos.Filename = below
				found[part] = append(found[part], line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, part := range slices.Sorted(maps.Keys(all)) {
		most := int(mostAvoided * float64(all[part]))
		if len(found[part]) > most {
			t.Errorf("%s: more than %d comment lines have a phrase to avoid", part, most)
		}
		for _, line := range found[part] {
			t.Logf("%s:%d: %q in %q", line.pos.Filename, line.pos.Line, avoided.FindString(line.text), line.text)
		}
		t.Logf("%s: %d of %d comment lines (%.2f %%) have a phrase to avoid", part, len(found[part]), all[part],
			100*float64(len(found[part]))/float64(all[part]))
	}
	if len(all) == 0 {
		t.Fatal("the tree has no comments")
	}
}

// TestWordsRefuse tries the phrases on planted comments.
func TestWordsRefuse(t *testing.T) {
	const planted = `package p

// Open returns what was opened.
//
//go:noinline
func Open() int { return 1 } // nobody closes it

/* Those that
   wait, whatever it is. */
var a = "what is not a comment"

// Somebody whoever anyone thatof asis: plain.
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", planted, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	lines := comments(fset, file)
	for _, line := range lines {
		if phrase := avoided.FindString(line.text); phrase != "" {
			got = append(got, phrase)
		}
	}
	if want := []string{"what was", "nobody", "Those that", "whatever"}; !slices.Equal(got, want) || len(lines) != 5 {
		t.Errorf("%d lines have %q, want 5 with %q", len(lines), got, want)
	}
}
