package jobs

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/help"
)

var update = flag.Bool("update", false, "write jobs/docs/cli.md")

// manual is the manual of symlake.
func manual() *help.Manual { return commandLine(formatsall.Formats()).Manual() }

// The document of the command line has the words of the grammar. To make it:
//
//	go test ./jobs -run TestReference -update
func TestReference(t *testing.T) {
	const path = "docs/cli.md"
	text := manual().Reference()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(was) != text {
		t.Errorf("jobs/%s differs from the grammar: run go test ./jobs -run TestReference -update", path)
	}
}

// mostLines is a screen: the help of a command fits into it at 80 columns.
const mostLines = 46

// The help of each command fits on a screen, has an example, and explains each flag and argument in a sentence.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	m := manual()
	for _, c := range m.All() {
		text := m.Command(c, help.Screen{Width: 80})
		if n := strings.Count(text, "\n"); n > mostLines {
			t.Errorf("symlake help %s has %d lines, want at most %d", c.Name, n, mostLines)
		}
		if len(c.Commands) == 0 && !strings.Contains(c.Example, "symlake "+c.Name) {
			t.Errorf("symlake help %s has no example of it", c.Name)
		}
		for line := range strings.Lines(c.Example) {
			if n := len([]rune(line)); n > 79 {
				t.Errorf("symlake help %s: an example has %d columns: %s", c.Name, n, line)
			}
		}
		for _, f := range append(c.Flags, m.Flags...) {
			if n := len(strings.Fields(f.Help)); n == 0 || n > 20 || !strings.HasSuffix(strings.TrimSuffix(f.Help, ")"), ".") && !strings.HasSuffix(f.Help, "…") {
				t.Errorf("%s --%s: %q: want a sentence of at most 20 words", c.Name, f.Name, f.Help)
			}
		}
		if c.Group == "" && !strings.Contains(c.Name, " ") {
			t.Errorf("%s has no group", c.Name)
		}
	}
	seen := map[string]bool{}
	last := ""
	for _, c := range m.Commands {
		if c.Group != last && seen[c.Group] {
			t.Errorf("%s stands apart from its group %s", c.Name, c.Group)
		}
		seen[c.Group], last = true, c.Group
	}
}

// The program explains itself without a configuration, also where one is broken.
func TestHelpCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "broken.yaml")
	if err := os.WriteFile(config, []byte("store: [\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"":                            "First steps\n  init ",
		"--help":                      "First steps\n  init ",
		"-h":                          "First steps\n  init ",
		"help":                        "First steps\n  init ",
		"help ingest":                 "Usage: symlake ingest [flags] [SOURCE …]\n",
		"ingest --help":               "Usage: symlake ingest [flags] [SOURCE …]\n",
		"ingest -h":                   "Usage: symlake ingest [flags] [SOURCE …]\n",
		"--help ingest":               "Usage: symlake ingest [flags] [SOURCE …]\n",
		"help keys rotate":            "Usage: symlake keys rotate [flags] [ARTIFACT …]\n",
		"keys rotate -h":              "Usage: symlake keys rotate [flags] [ARTIFACT …]\n",
		"help keys":                   "  keys rotate  ",
		"help --all ingest":           "Flags: S3\n",
		"help flags":                  "Variable: SYMLAKE_STORE.",
		"help glossary":               "innermost first",
		"help topic encryption":       "Keys\n",
		"--version":                   "symlake ",
		"-V":                          "symlake ",
		"--version ingest":            "symlake ",
		"version":                     "symlake ",
		"completion bash":             "complete -F _symlake symlake\n",
		"completion zsh":              "#compdef symlake\n",
		"completion fish":             "complete -c symlake ",
		"completion powershell":       "Register-ArgumentCompleter ",
		"demangle _ZN4game4stepEv":    "game::step()\n",
		"--json=yes version":          `"version":`,
		"version --json":              `"version":`,
		"--log-level=debug version":   "symlake ",
		"ingest --help --no-such":     "Usage: symlake ingest ",
		"ingest --deadline 2x --help": "",
	} {
		codes := []int{0}
		if want == "" {
			codes = []int{2}
		}
		if out, _ := mustRun(t, codes, append([]string{"--config", config}, strings.Fields(words)...)[2*b2i(words == ""):]...); !strings.Contains(out, want) {
			t.Errorf("symlake %s says\n%s\nwant %q", words, out, want)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Scripts and pages of the program itself are taken by shells and mandoc.
func TestHelpForms(t *testing.T) {
	t.Parallel()
	m := manual()
	dir := t.TempDir()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		program, err := exec.LookPath(shell)
		if err != nil {
			formattest.Missing(t, shell, "apt-get install "+shell)
		}
		path := filepath.Join(dir, shell)
		if err := os.WriteFile(path, []byte(m.Completion(shell)), 0o644); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(program, "-n", path).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		formattest.Missing(t, "mandoc", "apt-get install mandoc")
	}
	pages := m.Man(time.Now())
	if len(pages) != len(m.All())+1 {
		t.Errorf("%d pages of %d commands", len(pages), len(m.All()))
	}
	mustRun(t, []int{0}, "man", filepath.Join(dir, "man", "man1"))
	for name := range pages {
		path := filepath.Join(dir, "man", "man1", name)
		if said, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", path).CombinedOutput(); err != nil || len(bytes.TrimSpace(said)) > 0 {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}
