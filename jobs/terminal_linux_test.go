package jobs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/term/termtest"
)

// onTerminal runs the program with a terminal as its standard streams, and returns what it wrote there.
func onTerminal(t *testing.T, columns int, env []string, args ...string) (text string, code int) {
	t.Helper()
	p := termtest.Open(t, columns)
	cmd := symlake(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.End, p.End, p.End
	cmd.Env = append(append(cmd.Env, "TERM=xterm", "NO_COLOR=", "CLICOLOR=", "CLICOLOR_FORCE="), env...)
	p.Control(cmd)
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return p.Text(), cmd.ProcessState.ExitCode()
}

// stocked makes a store with something of each kind: loaded, skipped and rejected objects, wanted names.
func stocked(t *testing.T) (store, source string) {
	t.Helper()
	dir := t.TempDir()
	store, source = filepath.Join(dir, "store"), filepath.Join(dir, "source")
	for _, name := range []string{"elf/archive/game.apk", "r8/shop.map.txt"} {
		to := filepath.Join(source, filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(formattest.Testdata(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"notes.txt": "no symbols", "broken.so": "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\xb7\x00\x01", "crash.txt": "#00 pc 0000000000001234  /system/lib64/libmissing.so (BuildId: 00112233445566778899aabbccddeeff00112233)\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0, 3}, "--store", store, "ingest", source)
	mustRun(t, []int{0}, "--store", store, "symbolicate", filepath.Join(source, "crash.txt"))
	return store, source
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[a-zA-Z]")

// Listings are tables with headers on terminals of each width, and no line is broken.
func TestTablesOnTerminal(t *testing.T) {
	t.Parallel()
	store, source := stocked(t)
	if err := os.WriteFile(filepath.Join(source, "new.map.txt"), []byte("a.B -> c:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"artifacts", "ARTIFACT KIND FILE STORED"},
		{"artifacts --wanted", "ASKED LAST NAME FILE"},
		{"objects", "STATE SIZE URL"},
		{"plan " + source, "SIZE STATE URL"},
		{"audit", "WHEN WHAT WHO DETAIL"},
		{"keys list", "KEY AGE DATA RECORDS LAKE ROTATION"},
		{"status", "Store Artifacts Holds Backlog OBJECTS STATE RUN ENDED"},
	} {
		for _, width := range []int{60, 100, 180} {
			text, code := onTerminal(t, width, nil, append([]string{"--store", store}, strings.Fields(c.args)...)...)
			if code != 0 || !strings.Contains(text, "\x1b[1m") {
				t.Fatalf("%s: exit code %d: %q", c.args, code, text)
			}
			plain := escapes.ReplaceAllString(text, "")
			for _, line := range strings.Split(plain, "\n") {
				if n := term.Columns(strings.TrimRight(line, "\r")); n > width {
					t.Errorf("%s: %d columns on a terminal of %d: %q", c.args, n, width, line)
				}
			}
			words := strings.Fields(plain)
			for _, w := range strings.Fields(c.want) {
				if i := indexOf(words, w); i < 0 {
					t.Errorf("%s at %d columns lacks %s:\n%s", c.args, width, w, plain)
				} else {
					words = words[i:]
				}
			}
		}
		for _, env := range []string{"NO_COLOR=1", "CLICOLOR=0", "TERM=dumb"} {
			if text, _ := onTerminal(t, 100, []string{env}, append([]string{"--store", store}, strings.Fields(c.args)...)...); strings.Contains(text, "\x1b") {
				t.Errorf("%s %s: %q has escapes", env, c.args, text)
			}
		}
		if text, _ := onTerminal(t, 100, nil, append([]string{"--store", store, "--color", "never"}, strings.Fields(c.args)...)...); strings.Contains(text, "\x1b") {
			t.Errorf("--color never %s: %q has escapes", c.args, text)
		}
		if out, _ := mustRun(t, []int{0}, append([]string{"--store", store, "--color", "always"}, strings.Fields(c.args)...)...); !strings.Contains(out, "\x1b[1m") {
			t.Errorf("--color always %s: %q has no color", c.args, out)
		}
	}
}

func indexOf(list []string, s string) int {
	for i, l := range list {
		if l == s {
			return i
		}
	}
	return -1
}

// masks hide what differs between two runs.
var masks = []struct {
	find *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DAY"},
	{regexp.MustCompile(`\d{8}T\d{6}Z-[A-Z0-9]{6}`), "RUN"},
	{regexp.MustCompile(`keyset:[0-9a-f]+`), "KEYSET"},
	{regexp.MustCompile(`\d+\.\d %`), "N %"}, {regexp.MustCompile(`(classes  +)\d+`), "${1}N"}, {regexp.MustCompile(`(ranges +)\d+ in (\d+) rows, \d+`), "${1}N in ${2} rows, N"},
	{regexp.MustCompile(`\d+ data keys, \d+ records, \d+ files`), "N data keys, N records, N files"},
	{regexp.MustCompile(`file:\S*/source/`), "SOURCE/"},
	{regexp.MustCompile(`/\S*/store`), "STORE"},
	{regexp.MustCompile(`(?m)^(init     )\S+ +`), "${1}USER "},
	{regexp.MustCompile(`(TIME  init     )\S+ +`), "${1}USER "},
}

// Scripts get the lines that they always got: no variable and no terminal beside them changes that.
func TestScriptsGetTheSame(t *testing.T) {
	t.Parallel()
	store, _ := stocked(t)
	for _, c := range []struct{ args, want string }{
		{"artifacts", "4ccf1b58ac2786c441fa53c3d4a25d6c  elf  arm64   libgame.so    109 ranges  920 bytes   \n" +
			"64aa4c9752abd69f706af0a6cbebeffb  r8           shop.map.txt  6 classes   N bytes   \n" +
			"d76615269730c572153b7aa4a17f3bfc  elf  x86_64  libgame.so    97 ranges   1054 bytes  \n"},
		{"artifacts --wanted", "1  DAY  backtrace  00112233445566778899aabbccddeeff00112233  /system/lib64/libmissing.so\n"},
		{"objects --state skipped", "skipped  105  SOURCE/crash.txt  unknown-format\nskipped  10   SOURCE/notes.txt  unknown-format\n"},
		{"audit", "TIME  init     USER STORE\n"},
		{"keys list", "store key 1, made TIME, under KEYSET: N data keys, N records, N files of the lake\n"},
		{"status", "store      STORE\nartifacts  3 (0 loading, 0 loads for gc)\nranges     N in 3 rows, N bytes\n" +
			"coverage   N % of code has an answer, of that N % a line and N % inlined calls\nbacklog    0 objects, oldest 0s\n" +
			"objects         2 loaded\nobjects         1 rejected\nobjects         2 skipped\n"},
	} {
		args := append([]string{"--store", store}, strings.Fields(c.args)...)
		plain, _ := mustRun(t, []int{0}, args...)
		got := plain
		for _, m := range masks {
			got = m.find.ReplaceAllString(got, m.to)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s prints\n%s\nwant\n%s", c.args, got, c.want)
		}
		p := termtest.Open(t, 60)
		cmd := symlake(t, args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, p.End
		cmd.Env = append(cmd.Env, "TERM=xterm", "CLICOLOR_FORCE=1", "COLUMNS=40")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if ages.ReplaceAllString(out.String(), "") != ages.ReplaceAllString(plain, "") {
			t.Errorf("%s with a terminal beside it prints\n%s\nwant\n%s", c.args, &out, plain)
		}
		p.Text()
		// Records stay records on a terminal, and are all that is there.
		text, _ := onTerminal(t, 60, nil, append(args, "--json")...)
		for _, line := range strings.Split(strings.TrimSpace(text), "\r\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s --json prints %q on a terminal", c.args, line)
			}
		}
	}
}

// ages are facts that go on while the test runs.
var ages = regexp.MustCompile(`oldest \S+`)

// A terminal shows look-ups in colors. Without them it has the text that a pipe gets.
func TestLookupOnTerminal(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/archive/libengine.a"), formattest.Testdata(t, "elf/archive/game.apk"))
	args := []string{"--store", store, "lookup", "4ccf1b58ac2786c441fa53c3d4a25d6c", "0x47d4", "0x1", "+0x700"}
	want, _ := mustRun(t, []int{0}, args...)
	text, code := onTerminal(t, 80, nil, append(args, "--log-level", "error")...)
	got := strings.ReplaceAll(escapes.ReplaceAllString(text, ""), "\r\n", "\n")
	if code != 0 || !strings.HasSuffix(got, want) || !strings.Contains(text, "\x1b[") {
		t.Errorf("exit code %d\n%q\nwant\n%q", code, text, want)
	}
}
