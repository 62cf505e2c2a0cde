package house

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/symlake/symlake/formats/formattest"
)

// The bounds of documents for people.
const (
	mostReadmeWords   = 900 // code and tables too
	longestSentence   = 45  // words
	averageSentence   = 20  // words, without tables
	mostPhrases       = 0.005
	documentSemicolon = ";"
)

// generated documents come from flags and settings, which have tests of their own. Only their links count here.
var generated = map[string]bool{"jobs/docs/cli.md": true, "jobs/docs/config.md": true}

// dense documents are for contributors that look up one cell. Their tables may have semicolons.
var dense = map[string]bool{"jobs/docs/dependencies.md": true, "testdata/README.md": true}

// prose is the text of a document as a reader reads it.
type prose struct {
	sentences []string // of paragraphs, headings and lists
	cells     []string // sentences of tables
	words     int      // of the file as it stands
}

var (
	image        = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	linkText     = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
	inlineCode   = regexp.MustCompile("``[^`]*``|`[^`]*`")
	htmlTag      = regexp.MustCompile(`(?s)<!--.*?-->|</?[a-z][^>]*>`)
	listItem     = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	sentenceEnds = regexp.MustCompile(`[.!?]["')*_]*(?:\s+|$)`)
)

// read returns the prose of a Markdown text. Code is one word, wherever it stands in a sentence; blocks of code are none.
func read(text string) prose {
	p := prose{words: len(strings.Fields(text))}
	text = htmlTag.ReplaceAllString(text, "")
	var paragraph []string
	end := func() {
		p.sentences = append(p.sentences, sentences(strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			end()
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(line, "    ") && len(paragraph) == 0:
		case strings.TrimSpace(line) == "":
			end()
		case strings.HasPrefix(line, "|"):
			end()
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, ""), "|") {
				p.cells = append(p.cells, sentences(cell)...)
			}
		case strings.HasPrefix(line, "#"):
			end()
		default:
			if listItem.MatchString(line) {
				end()
			}
			paragraph = append(paragraph, listItem.ReplaceAllString(line, ""))
		}
	}
	end()
	return p
}

// sentences splits a paragraph.
func sentences(text string) (all []string) {
	text = inlineCode.ReplaceAllString(linkText.ReplaceAllString(image.ReplaceAllString(text, ""), "$1"), "Code")
	for _, s := range sentenceEnds.Split(text, -1) {
		if words(s) > 0 {
			all = append(all, strings.TrimSpace(s))
		}
	}
	return all
}

// words counts words; a word has a letter or a digit.
func words(sentence string) (n int) {
	for _, w := range strings.Fields(sentence) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// faults returns sentences that say where a document breaks a rule.
func (p prose) faults(name string) (faults []string) {
	if name == "README.md" && p.words > mostReadmeWords {
		faults = append(faults, fmt.Sprintf("has %d words, at most %d", p.words, mostReadmeWords))
	}
	sum := 0
	for _, s := range p.sentences {
		sum += words(s)
	}
	if n := len(p.sentences); n > 0 && sum > averageSentence*n {
		faults = append(faults, fmt.Sprintf("has %.1f words a sentence, at most %d", float64(sum)/float64(n), averageSentence))
	}
	var phrases []string
	for i, s := range slices.Concat(p.sentences, p.cells) {
		if n := words(s); n > longestSentence {
			faults = append(faults, fmt.Sprintf("has a sentence of %d words, at most %d: %s", n, longestSentence, s))
		}
		if strings.Contains(s, documentSemicolon) && !(dense[name] && i >= len(p.sentences)) {
			faults = append(faults, "joins facts by a semicolon: "+s)
		}
		if avoided.MatchString(s) {
			phrases = append(phrases, s)
		}
	}
	if n := len(p.sentences) + len(p.cells); float64(len(phrases)) > mostPhrases*float64(n)+1 {
		faults = append(faults, fmt.Sprintf("has %d phrases to avoid in %d sentences:\n\t%s", len(phrases), n, strings.Join(phrases, "\n\t")))
	}
	return faults
}

// markdownFiles returns every document of the tree, with slashes.
func markdownFiles(t *testing.T) (names []string) {
	t.Helper()
	root := formattest.Root()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root && entry.Name() != ".github" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			rel, err := filepath.Rel(root, path)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}

// TestProse fails when a document is too long, its sentences are, or they join facts by semicolons. With -v it prints
// the figures of each.
func TestProse(t *testing.T) {
	t.Parallel()
	for _, name := range markdownFiles(t) {
		if generated[name] {
			continue
		}
		text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		p := read(string(text))
		sum, longest := 0, 0
		for _, s := range p.sentences {
			sum += words(s)
			longest = max(longest, words(s))
		}
		t.Logf("%s: %d words, %d sentences of %.1f words, the longest of %d", name, p.words, len(p.sentences), float64(sum)/float64(max(1, len(p.sentences))), longest)
		for _, fault := range p.faults(name) {
			t.Errorf("%s %s", name, fault)
		}
	}
}

// TestProseRefuses tries the rules on planted documents.
func TestProseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("word ", 901) + ".":                              "901 words",
		strings.Repeat("word ", 21) + "end.\n":                          "22.0 words a sentence",
		"One. " + strings.Repeat("word ", 46) + ". Two. Three. Four.\n": "sentence of 46 words",
		"| a |\n|---|\n| " + strings.Repeat("word ", 46) + " |\n":       "sentence of 46 words",
		"One; two.\n":                  "semicolon",
		strings.Repeat("What is. ", 3): "3 phrases",
		"```sh\na; b\n```\n\n    c; d\n\nA `a; b` [c](d;e.md).\n": "",
		"- one\n- two\n": "",
	} {
		got := strings.Join(read(text).faults("README.md"), "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%.40q: faults are %q, want %q", text, got, want)
		}
	}
}
