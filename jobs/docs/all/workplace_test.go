package all_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/settings"
)

// workplace is where the examples of a document run.
type workplace struct {
	document string
	dir      string
	env      []string
	// A server of the examples: they name one address, and it listens on the other.
	named, listens string
}

// newWorkplace makes a folder that has links to the program, to testdata and to jobs.
func newWorkplace(t *testing.T, document string) *workplace {
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
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SYMLAKE_") || strings.HasPrefix(v, "AWS_") })
	path := strings.Join([]string{filepath.Join(dir, "bin"), bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	return &workplace{document: document, dir: dir, env: append(env, "PATH="+path, "AWS_EC2_METADATA_DISABLED=true", "LC_ALL=C.UTF-8", "COLUMNS=100")}
}

// serve starts "symlake serve --listen ADDRESS … &" on a free port until the test ends. Later examples mean that port by ADDRESS.
func (w *workplace) serve(t *testing.T, c command) {
	t.Helper()
	words := strings.Fields(strings.TrimSuffix(c.text, " &"))
	i := slices.Index(words, "--listen") + 1
	w.named, words[i] = words[i], "127.0.0.1:0"
	cmd := exec.Command("bash", "-c", "exec "+strings.Join(words, " "))
	cmd.Dir, cmd.Env = w.dir, w.env
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for w.listens == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			w.listens = m[1]
		}
	}
	ended := make(chan struct{})
	go func() { // a full pipe would stop the server
		defer close(ended)
		for lines.Scan() {
			continue
		}
		cmd.Wait()
	}()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	if w.listens == "" {
		t.Fatalf("%s: the server does not listen", c.text)
	}
}

// run runs a command and compares.
func (w *workplace) run(t *testing.T, c command) {
	t.Helper()
	if c.isServer() {
		w.serve(t, c)
		return
	}
	if w.named != "" {
		c.text, c.want = strings.ReplaceAll(c.text, w.named, w.listens), strings.ReplaceAll(c.want, w.named, w.listens)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail\nif [ -f .env ]; then . ./.env; fi\n"+c.text)
	cmd.Dir, cmd.Env = w.dir, w.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Run()
	at := fmt.Sprintf("%s:%d: %s", w.document, c.line, c.text)
	if got := cmd.ProcessState.ExitCode(); got != c.code {
		t.Fatalf("%s: exit code %d, want %d\n%s", at, got, c.code, &out)
	}
	c.compare(t, at, out.String())
}

// runOnTerminal runs a command on a terminal; nil where tests cannot make one.
var runOnTerminal func(t *testing.T, w *workplace, c command)

// try runs an example.
func (w *workplace) try(t *testing.T, b block) {
	t.Helper()
	at := fmt.Sprintf("%s:%d", w.document, b.line)
	switch b.language {
	case "console":
		if b.needs {
			b.needs = false
			t.Run("pyarrow", func(t *testing.T) {
				python := *w
				python.env = append(w.env, "PATH="+filepath.Join(readers(t), "py", "bin")+string(os.PathListSeparator)+pathOf(w.env))
				python.try(t, b)
			})
			return
		}
		commands := b.commands()
		if len(commands) == 0 {
			t.Errorf("%s: a block of console begins with a command, after \"$ \"", at)
		}
		for _, c := range commands {
			if !b.terminal {
				w.run(t, c)
			} else if runOnTerminal != nil {
				runOnTerminal(t, w, c)
			}
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
		t.Run("sql", func(t *testing.T) { w.query(t, b, at) })
	case "sh", "set-up":
		w.run(t, command{text: "set -eu\n" + b.text + ":", want: "…\n", line: b.line})
	case "python", "java", "go":
		if !slices.Contains(programs, w.document) {
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
func (w *workplace) query(t *testing.T, b block, at string) {
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
		query, err := os.ReadFile(filepath.Join(w.dir, readCommand.FindStringSubmatch(line)[1]))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		return string(query)
	})
	cmd := exec.CommandContext(t.Context(), python, "-c", program)
	cmd.Dir, cmd.Stdin = w.dir, strings.NewReader(text)
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
