package all_test

import (
	"bytes"
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
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs"
	"github.com/symlake/symlake/jobs/internal/settings"
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
//	           must succeed, unless it ends with "# exit code N".
//	yaml       a configuration that symlake reads
//	sql        a query for DuckDB; the block of text that follows is its answer
//	sh         a script, which must succeed; where it calls "aws s3 cp", a small program uploads to a server of the test
//	python, java, go    a program, which another test runs
//	text       no example: a form, a drawing, an excerpt
//
// A comment <!-- needs: pyarrow --> before a block of console says that it calls a Python that has it.
// A comment <!-- not run: REASON --> before a block keeps it from being run; bash must be able to parse it still. A comment whose
// first line is "<!-- set up" holds a script that makes what the next examples find on a reader's machine. It may
// write variables to .env, which each command reads.
var languages = []string{"set-up", "console", "yaml", "sql", "sh", "python", "java", "go", "text"}

// mostNotRun bounds the blocks that no test runs, in all documents.
const mostNotRun = 12

// programs are the documents whose programs TestDocumentedClients of jobs runs.
var programs = []string{"jobs/serve/README.md", "sinks/lookup/README.md"}

// block is an example of a document.
type block struct {
	language, text string
	line           int    // of its fence, from 1
	notRun         string // why
	needs          bool   // pyarrow
	answer         string // the block of text behind it
}

var (
	setUp   = regexp.MustCompile(`(?s)<!-- set up\n(.*?)-->`)
	fence   = regexp.MustCompile("^```(.*)$")
	needing = regexp.MustCompile(`^<!-- needs: pyarrow -->$`)
	skipped = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	exits   = regexp.MustCompile(`# exit code (\d+)$`)

	// readCommand of DuckDB's shell runs a file.
	readCommand = regexp.MustCompile(`(?m)^\.read (\S+)$`)
)

// blocksOf returns the examples of a document.
func blocksOf(text string) (all []block) {
	var open *block
	reason, needs, last := "", false, -1 // last is the line where the last block ended
	text = setUp.ReplaceAllString(text, "```set-up\n$1```")
	for i, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open != nil && line == "```":
			if n := len(all); open.language == "text" && n > 0 && last == open.line-2 {
				all[n-1].answer = open.text
			}
			all, open, last = append(all, *open), nil, i+1
		case open != nil:
			open.text += line + "\n"
		case m != nil:
			open, reason = &block{language: m[1], line: i + 1, notRun: reason, needs: needs}, ""
			needs = false
		case strings.TrimSpace(line) != "":
			reason, needs = "", needing.MatchString(line)
			if s := skipped.FindStringSubmatch(line); s != nil {
				reason = s[1]
			}
		}
	}
	return all
}

// command is one of a block of console.
type command struct {
	text string
	code int
	want string
	line int
}

// commands returns those of a block.
func (b block) commands() (all []command) {
	continued := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		text, begins := strings.CutPrefix(line, "$ ")
		switch {
		case begins:
			all = append(all, command{text: text, line: b.line + 1 + i})
		case continued:
			all[len(all)-1].text += "\n" + line
		case len(all) == 0:
			return nil
		default:
			all[len(all)-1].want += line + "\n"
		}
		continued = (begins || continued) && strings.HasSuffix(line, `\`)
	}
	for i, c := range all {
		if m := exits.FindStringSubmatch(c.text); m != nil {
			fmt.Sscan(m[1], &all[i].code)
		}
	}
	return all
}

// pattern makes an expression of an output that has parts which vary.
func pattern(want string) *regexp.Regexp {
	var all strings.Builder
	for line := range strings.Lines(want) {
		if line == "…\n" {
			all.WriteString(`(?:.*\n)*?`)
		} else {
			all.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
		}
	}
	return regexp.MustCompile(`\A` + all.String() + `\z`)
}

// workplace is a folder in which the examples of a document run.
func workplace(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{filepath.Join(bin, "symlake"): exe, filepath.Join(bin, "aws"): exe, filepath.Join(dir, "testdata"): formattest.Testdata(t, "."), filepath.Join(dir, "jobs"): filepath.Join(formattest.Root(), "jobs")} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SYMLAKE_") || strings.HasPrefix(v, "AWS_") })
	path := strings.Join([]string{filepath.Join(dir, "bin"), bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	return dir, append(env, "PATH="+path, "AWS_EC2_METADATA_DISABLED=true", "LC_ALL=C.UTF-8", "COLUMNS=100")
}

// run runs a command in a workplace and compares.
func (c command) run(t *testing.T, document, dir string, env []string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail\nif [ -f .env ]; then . ./.env; fi\n"+c.text)
	cmd.Dir, cmd.Env = dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Run()
	at := fmt.Sprintf("%s:%d: %s", document, c.line, c.text)
	if got := cmd.ProcessState.ExitCode(); got != c.code {
		t.Fatalf("%s: exit code %d, want %d\n%s", at, got, c.code, &out)
	}
	text := strings.TrimRight(out.String(), "\n") + "\n"
	if want := strings.TrimRight(c.want, "\n") + "\n"; !pattern(want).MatchString(text) {
		t.Errorf("%s prints\n%s\nthe document says\n%s", at, text, want)
	}
}

// try runs an example.
func (b block) try(t *testing.T, document, dir string, env []string) {
	t.Helper()
	at := fmt.Sprintf("%s:%d", document, b.line)
	switch b.language {
	case "console":
		if b.needs {
			b.needs = false
			t.Run("pyarrow", func(t *testing.T) {
				b.try(t, document, dir, append(env, "PATH="+filepath.Join(readers(t), "py", "bin")+string(os.PathListSeparator)+pathOf(env)))
			})
			return
		}
		commands := b.commands()
		if len(commands) == 0 {
			t.Errorf("%s: a block of console begins with a command, after \"$ \"", at)
		}
		for _, c := range commands {
			c.run(t, document, dir, env)
		}
	case "yaml":
		file := filepath.Join(t.TempDir(), "symlake.yaml")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := settings.Read(file); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	case "sql":
		t.Run("sql", func(t *testing.T) { b.query(t, at, dir) })
	case "sh", "set-up":
		command{text: "set -eu\n" + b.text + ":", want: "…\n", line: b.line}.run(t, document, dir, env)
	case "python", "java", "go":
		if !slices.Contains(programs, document) {
			t.Errorf("%s: no test runs this program", at)
		}
	}
}

// readers returns the folder of DuckDB and pyarrow.
func readers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SYMLAKE_READERS")
	if _, err := os.Stat(filepath.Join(dir, "py", "bin", "python3")); dir == "" || err != nil {
		formattest.Missing(t, "DuckDB and pyarrow for Python", "make readers installs them; then set SYMLAKE_READERS to their folder, as make test does")
	}
	return dir
}

// pathOf returns the search path of an environment.
func pathOf(env []string) (path string) {
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	return path
}

// query asks DuckDB, which prints its answers as its shell does.
func (b block) query(t *testing.T, at, dir string) {
	python := filepath.Join(readers(t), "py", "bin", "python3")
	const program = `
import duckdb, sys
for s in duckdb.extract_statements(sys.stdin.read()):
    if s.type == duckdb.StatementType.SELECT:
        duckdb.sql(s.query).show(max_width=200)
    else:
        duckdb.execute(s.query)
`
	text := readCommand.ReplaceAllStringFunc(b.text, func(line string) string {
		query, err := os.ReadFile(filepath.Join(dir, readCommand.FindStringSubmatch(line)[1]))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		return string(query)
	})
	cmd := exec.CommandContext(t.Context(), python, "-c", program)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", at, err, out)
	}
	if b.answer == "" {
		t.Errorf("%s: a block of text behind the query shows its answer", at)
	}
	if got := strings.TrimRight(string(out), "\n") + "\n"; !pattern(b.answer).MatchString(got) {
		t.Errorf("%s answers\n%s\nthe document says\n%s", at, got, b.answer)
	}
}

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
			blocks := blocksOf(string(text))
			if len(blocks) == 0 {
				return
			}
			var cloud []string
			if strings.Contains(string(text), "aws s3 cp") {
				cloud = s3Server(t)
			} else {
				t.Parallel()
			}
			dir, env := workplace(t)
			env = append(env, cloud...)
			for _, b := range blocks {
				switch {
				case !slices.Contains(languages, b.language):
					t.Errorf("%s:%d: the language of the block is %q, want one of %v", name, b.line, b.language, languages)
				case b.notRun == "":
					b.try(t, name, dir, env)
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

// Blocks, commands and their outputs are read as the comment on languages says.
func TestBlocks(t *testing.T) {
	t.Parallel()
	got := blocksOf("a\n\n```console\n$ one \\\n    two # exit code 3\nsaid …\n…\nend\n```\n\n<!-- not run: no cloud -->\n\n```sh\nx\n```\n\n```sql\nSELECT 1\n```\n\n```text\n1\n```\n")
	if len(got) != 4 || got[1].notRun != "no cloud" || got[2].notRun != "" || got[2].answer != "1\n" || got[0].answer != "" {
		t.Fatalf("blocks are %+v", got)
	}
	c := got[0].commands()
	if len(c) != 1 || c[0].text != "one \\\n    two # exit code 3" || c[0].code != 3 || c[0].want != "said …\n…\nend\n" || c[0].line != 4 {
		t.Fatalf("commands are %+v", c)
	}
	for text, matches := range map[string]bool{"said 1\nend\n": true, "said 1\nx\ny\nend\n": true, "said\nend\n": false, "said 1\nend\nmore\n": false, "Xsaid 1\nend\n": false} {
		if pattern(c[0].want).MatchString(text) != matches {
			t.Errorf("%q matches is not %v", text, matches)
		}
	}
}
