package all_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs"
)

// The test binary is also the programs that examples call.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "symlake":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := jobs.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	case "aws":
		if err := awsCopy(context.Background(), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "aws:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Examples in documents are fenced blocks. Their language says how TestExamples tries them:
//
//	console    commands after "$ ", with the output that they print on both streams. Lines that follow a backslash belong to
//	           the command. The commands of a document run in one folder, in order; testdata and jobs are links there.
//	           "…" in a line of output stands for any text, such as an id or a time; alone in a line for any lines. A command
//	           must succeed, unless it ends with "# exit code N". "symlake serve … &" runs until the document ends.
//	yaml       a configuration that symlake reads
//	sql        a query for DuckDB; the block of text that follows is its answer
//	sh         a script, which must succeed; where it calls "aws s3 cp", a small program uploads to a server of the test
//	python, java, go    a program, which another test runs
//	text       no example: a form, a drawing, an excerpt
//
// A comment <!-- terminal --> before a block of console makes its commands print to a terminal of 100 columns, where progress has
// gone when they end, and to be compared word by word. A comment <!-- needs: pyarrow --> before a block of console says that it calls a Python that has it.
// A comment <!-- not run: REASON --> before a block keeps it from being run; bash must be able to parse it still. A comment that
// begins with a line "<!-- set up" holds a script that makes what the next examples find on a reader's machine. It may
// write variables to .env, which each command reads.
var languages = []string{"set-up", "console", "yaml", "sql", "sh", "python", "java", "go", "text"}

// mostNotRun bounds the blocks that no test runs, in all documents.
const mostNotRun = 8

// programs are the documents with programs. TestDocumentedClients, TestAirflowProvider and TestSpark of jobs run these.
var programs = []string{"jobs/serve/README.md", "sinks/lookup/README.md", "jobs/airflow/README.md", "jobs/spark/README.md"}

// untried is an example outside a fenced block.
var untried = regexp.MustCompile(`(?m)^    (?:\$ |symlake |SELECT )`)

// documents returns every document for people, with slashes.
func documents(t *testing.T) (names []string) {
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
	if err != nil || !slices.Contains(names, "README.md") {
		t.Fatal(names, err)
	}
	return names
}

// TestExamples runs the examples of all documents and compares what they print.
func TestExamples(t *testing.T) {
	for _, name := range documents(t) {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			if at := untried.FindIndex(text); at != nil && name != "jobs/docs/cli.md" { // TestHelpExamples runs those
				t.Errorf("%s:%d: an indented example is not run: put it into a block of console or sql", name, 1+strings.Count(string(text[:at[0]]), "\n"))
			}
			blocks := blocksOf(string(text))
			if len(blocks) == 0 {
				return
			}
			for call, tool := range map[string]string{"zip -qr": "zip", "$ curl ": "curl"} {
				if strings.Contains(string(text), call) {
					formattest.Tool(t, tool, "apt-get install "+tool)
				}
			}
			var cloud []string
			if strings.Contains(string(text), "aws s3 cp") {
				cloud = s3Server(t)
			} else {
				t.Parallel()
			}
			place := newWorkplace(t, name)
			place.env = append(place.env, cloud...)
			for _, b := range blocks {
				switch {
				case !slices.Contains(languages, b.language):
					t.Errorf("%s:%d: the language of the block is %q, want one of %v", name, b.line, b.language, languages)
				case b.notRun == "":
					place.try(t, b)
				default:
					if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", b.text).CombinedOutput(); err != nil {
						t.Errorf("%s:%d: %v: %s", name, b.line, err, out)
					}
				}
			}
		})
	}
}

// TestNotRun counts the examples that no test runs.
func TestNotRun(t *testing.T) {
	t.Parallel()
	var all []string
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(formattest.Root(), filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocksOf(string(text)) {
			if b.notRun != "" {
				all = append(all, fmt.Sprintf("%s:%d: %s", name, b.line, b.notRun))
			}
		}
	}
	t.Logf("%d examples are not run:\n%s", len(all), strings.Join(all, "\n"))
	if len(all) > mostNotRun {
		t.Errorf("%d examples are not run, at most %d may be", len(all), mostNotRun)
	}
}
