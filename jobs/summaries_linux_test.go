package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/term/termtest"
)

// noPlace is the place of a frame without one. Times of the day have such digits too, between others.
var noPlace = regexp.MustCompile(`(^|[^0-9:])0:0([^0-9:]|$)`)

// Long commands end with one paragraph on a terminal, and leave no bar behind. --no-progress shows none.
func TestSummariesOnTerminal(t *testing.T) {
	t.Parallel()
	elf := formattest.Testdata(t, "elf/archive")
	for _, width := range []int{60, 100, 180} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		for _, c := range []struct {
			args, bar string
			want      []string
		}{
			{"ingest " + elf, "ingest  ", []string{"Loaded", "Published", "brought only artifacts"}},
			{"ingest " + elf, "", []string{"Nothing new:", "objects seen in"}},
			{"verify", "verify  ", []string{"Read back", "No problems."}},
			{"gc", "gc  ", []string{"Removed 0 loads"}},
			{"compact", "compact  ", []string{"Rewrote", "The lake has"}},
			{"keys rotate", "keys rotate  ", []string{"Store key 2 seals from now on"}},
			{"load --store " + at("other") + " --from " + at("store"), "load  ", []string{"Copied", "entries of the ledger came along"}},
			{"forget libgame.so --yes", "", []string{"Forgot", "symlake compact frees"}},
			{"report --pending", "", []string{"Nothing is pending"}},
		} {
			args := append([]string{"--store", at("store")}, strings.Fields(c.args)...)
			hidden, hiddenCode := "", 0
			if c.args == "verify" {
				hidden, hiddenCode = onTerminal(t, width, nil, append(args, "--no-progress")...)
			}
			text, code := onTerminal(t, width, nil, args...)
			shown := strings.Join(termtest.Show(text, width), " ")
			if c.args == "forget libgame.so --yes" && code == 2 { // several artifacts have that name
				continue
			}
			if code != 0 || strings.Contains(shown, "{") || noPlace.MatchString(shown) {
				t.Errorf("%s at %d columns: exit code %d, the screen ends as\n%s", c.args, width, code, shown)
			}
			for _, w := range c.want {
				if !strings.Contains(shown, w) {
					t.Errorf("%s at %d columns lacks %q:\n%s", c.args, width, w, shown)
				}
			}
			if !strings.Contains(text, c.bar) || c.bar != "" && !strings.Contains(text, "\r\x1b[J") {
				t.Errorf("%s at %d columns shows no bar: %q", c.args, width, text)
			}
			if hiddenCode != 0 || strings.Contains(hidden, "\x1b[J") || strings.Contains(hidden, c.bar) && hidden != "" {
				t.Errorf("%s --no-progress: exit code %d, %q", c.args, hiddenCode, hidden)
			}
			for _, line := range termtest.Show(text, 1000) {
				if n := term.Columns(line); n > width && !strings.Contains(line, "  info   ") {
					t.Errorf("%s: a line of %d columns on a terminal of %d: %q", c.args, n, width, line)
				}
			}
		}
	}
}

// Scripts get reports and lines without a paragraph, also where a terminal is at one end and where --report - asks for
// the report as the very last line of a terminal.
func TestReportsStayForScripts(t *testing.T) {
	t.Parallel()
	elf := formattest.Testdata(t, "elf/archive")
	dir := t.TempDir()
	store := filepath.Join(dir, "store")
	_, said := mustRun(t, []int{0}, "--store", store, "--log-level", "error", "ingest", elf)
	if lines := strings.Split(strings.TrimSpace(said), "\n"); len(lines) != 1 || !json.Valid([]byte(lines[0])) || !strings.HasPrefix(lines[0], `{"job":"ingest","run":"`) {
		t.Errorf("ingest says %q in a pipe", said)
	}
	for args, want := range map[string]string{
		"gc":      "removed 0 loads and 0 bytes of unfinished batches\n",
		"compact": "0 artifacts added, 0 dropped, 0 told anew; 0 files rewritten as 0, ",
		"verify":  " problems\n",
	} {
		p := termtest.Open(t, 60)
		cmd := symlake(t, append([]string{"--store", store}, strings.Fields(args)...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, p.End
		cmd.Env = append(cmd.Env, "TERM=xterm", "CLICOLOR_FORCE=1")
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		if args == "compact" && strings.Contains(out.String(), "rewritten as") {
			want = " artifacts added, "
		}
		if !strings.Contains(out.String(), want) || strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s prints %q beside a terminal, want %q", args, &out, want)
		}
	}
	text, code := onTerminal(t, 60, nil, "--store", store, "ingest", elf, "--report", "-")
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\r\n")
	if code != 0 || !json.Valid([]byte(lines[len(lines)-1])) || strings.Contains(text, "\x1b") {
		t.Errorf("--report - on a terminal: exit code %d, %q", code, text)
	}
	report := filepath.Join(dir, "report.json")
	text, _ = onTerminal(t, 60, nil, "--store", store, "ingest", elf, "--report", report)
	if file, err := os.ReadFile(report); err != nil || !json.Valid(file) || !strings.Contains(text, "Nothing new") {
		t.Errorf("the file has %q, %v; the terminal %q", file, err, text)
	}
	records, _ := onTerminal(t, 60, nil, "--store", store, "--json", "gc")
	if lines := strings.Split(strings.TrimSpace(escapes.ReplaceAllString(records, "")), "\n"); !json.Valid([]byte(lines[len(lines)-1][strings.IndexByte(lines[len(lines)-1], '{'):])) {
		t.Errorf("gc --json prints %q", records)
	}
}

// A key that interrupts a command takes its bar away, of a worker and of a command without one.
func TestInterruptedBar(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer silent.Close()
	defer close(release)
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	mustRun(t, []int{0}, "--store", empty, "--config", os.DevNull, "ingest", formattest.Testdata(t, "r8/shop.map.txt"))
	for name, args := range map[string][]string{
		"ingest, killed": {"--store", filepath.Join(dir, "other"), "ingest", "s3://bucket/", "--endpoint", silent.URL, "--path-style", "--anonymous", "--region", "us-east-1"},
		"ingest":         {"--store", filepath.Join(dir, "store"), "ingest", "s3://bucket/", "--endpoint", silent.URL, "--path-style", "--anonymous", "--region", "us-east-1"},
		"symbolicate":    {"--store", empty, "symbolicate", "--output", filepath.Join(dir, "out.txt")},
	} {
		p := termtest.Open(t, 80)
		cmd := symlake(t, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.End, p.End, p.End
		cmd.Env = append(cmd.Env, "TERM=xterm")
		p.Control(cmd)
		if name == "symbolicate" { // its input does not end
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			cmd.Stdin = r
			go w.WriteString(strings.Repeat("words\n", 40_000))
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		name, killed := strings.CutSuffix(name, ", killed")
		formattest.Await(t, name+" shows its bar", func() bool { return strings.Contains(p.SoFar(), name+"  ") })
		if killed { // its worker: the supervisor clears up
			lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
			ended := 0
			for _, list := range lists { // a thread has the worker
				text, _ := os.ReadFile(list) // the thread may have ended
				for _, child := range strings.Fields(string(text)) {
					worker, cerr := strconv.Atoi(child)
					err = errors.Join(err, cerr, syscall.Kill(worker, syscall.SIGKILL))
					ended++
				}
			}
			if err != nil || ended != 1 {
				t.Fatalf("%d workers ended, %v", ended, err)
			}
		} else {
			p.Type("\x03")
		}
		cmd.Wait()
		shown := strings.Join(termtest.Show(p.Text(), 80), "\n")
		if cmd.ProcessState.ExitCode() != 1 || strings.Contains(shown, name+"  ") || !strings.Contains(shown, "symlake: ") {
			t.Errorf("%s ends with %v, the screen as\n%s", name, cmd.ProcessState, shown)
		}
	}
}
