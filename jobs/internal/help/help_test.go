package help_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/docs"
	"github.com/symlake/symlake/jobs/internal/help"
)

type toyJob struct {
	Files []string `arg:"" optional:"" name:"file" help:"Files with 'quotes' and [brackets]: read in order."`
	Style string   `help:"Form of the output." enum:"llvm,addr2line" default:"llvm" placeholder:"STYLE"`
	Out   string   `help:"Where it goes." placeholder:"FILE" group:"Output"`
	Limit int      `help:"At most N of them." placeholder:"N" detail:"0 is no limit."`
	Rare  bool     `help:"Do something that few callers need." group:"~Rare"`
}

func (toyJob) Help() string {
	return "The first paragraph of this help is long enough to need a second line on a terminal that is as narrow as 60 columns.\n\nExample:\n  toy run a.txt\n  .hidden -\\n"
}

type toyKeys struct {
	List   toyLeaf `cmd:"" help:"List keys."`
	Rotate toyLeaf `cmd:"" help:"Make a new key."`
}

type toyLeaf struct {
	Force bool `help:"Do not ask." negatable:""`
}

// toy returns the manual of a small program.
func toy(t *testing.T) *help.Manual {
	t.Helper()
	flags := new(struct {
		Config string `help:"Configuration file." type:"path" placeholder:"FILE" group:"Places"`
		JSON   bool   `help:"Print records." name:"json" group:"Output"`
	})
	k, err := kong.New(flags, kong.Name("toy"), kong.Description("a program for tests"), kong.NoDefaultHelp(),
		kong.DynamicCommand("run", "Run it.", "First steps", new(toyJob)), kong.DynamicCommand("keys", "List and rotate keys.", "Keys", new(toyKeys)))
	if err != nil {
		t.Fatal(err)
	}
	m := help.New(k)
	m.Topics = []docs.Topic{{Name: "lake", Summary: "tables and columns", Text: "# Lake\n"}}
	return m
}

// No line but an example is wider than the terminal, and a screen of a command leaves rare flags to --all.
func TestScreens(t *testing.T) {
	t.Parallel()
	m := toy(t)
	for _, width := range []int{60, 80, 100, 180} {
		s := help.Screen{Width: width}
		for _, text := range []string{m.Root(s), m.Command(m.Find("run"), s), m.Command(m.Find("keys", "list"), s), m.GlobalFlags(s)} {
			for line := range strings.Lines(text) {
				if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > width {
					t.Errorf("at %d columns: %q", width, line)
				}
			}
		}
	}
	run := m.Command(m.Find("run"), help.Screen{Width: 80})
	for _, want := range []string{"Usage: toy run [flags] [FILE …]", "  .hidden -\\n\n", "--style STYLE  Form of the output (llvm, addr2line; default llvm)\n", "Flags: Output\n", "More flags: toy help --all run\n  Rare    --rare\n"} {
		if !strings.Contains(run, want) {
			t.Errorf("no %q in:\n%s", want, run)
		}
	}
	if all := m.Command(m.Find("run"), help.Screen{Width: 80, All: true}); !strings.Contains(all, "Flags: Rare\n  --rare") || !strings.Contains(all, "At most N of them. 0 is no limit.") {
		t.Errorf("--all leaves flags out:\n%s", all)
	}
	if strings.Contains(run, "\x1b") || !strings.Contains(m.Root(help.Screen{Width: 80, Styled: true}), "\x1b[1mFirst steps\x1b[0m") {
		t.Error("styles are not as asked")
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const text = "# Lake\n\n<!-- one -->\n\n<!-- two\n\n# three\n-->\n\nA *lake* of `tables` has **two words**, see [the store](x.md) and\n[the web](https://example.org).\n\n- one\n  goes on\n- two\n\n" +
		"1. first\n\n```sh\n# a comment\nsymlake   keys\n```\n\n    indented   code\n\n| name | meaning |\n|---|---|\n| `a\\|b` | a text that is too long for one line of a table |\n| c | d |\n"
	const want = "Lake\n\nA *lake* of tables has two words, see\nthe store and the web\n(https://example.org).\n\n- one goes on\n- two\n\n1. first\n\n    # a comment\n    symlake   keys\n\n    indented   code\n\n" +
		"name  meaning\na|b   a text that is too long for one\n      line of a table\nc     d\n"
	if got := strings.TrimRight(help.Markdown(text, help.Screen{Width: 40}), "\n") + "\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// mandoc finds no fault with a page, and prints its text unchanged.
func TestMan(t *testing.T) {
	t.Parallel()
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		formattest.Missing(t, "mandoc", "apt-get install mandoc")
	}
	dir := t.TempDir()
	pages := toy(t).Man(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if len(pages) != 5 {
		t.Errorf("%d pages, want 5", len(pages))
	}
	for name, text := range pages {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", path).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	shown, err := exec.Command(mandoc, "-T", "ascii", filepath.Join(dir, "toy-run.1")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".hidden -\\n", "'quotes' and [brackets]", "llvm, addr2line; default llvm"} {
		if plain := bytes.ReplaceAll(shown, []byte("\b"), nil); !strings.Contains(string(plain), want) {
			t.Errorf("no %q in:\n%s", want, plain)
		}
	}
}

// completions are words up to the cursor, and some offers.
var completions = []struct {
	words []string
	want  string
}{
	{[]string{""}, "run keys"},
	{[]string{"ke"}, "keys"},
	{[]string{"keys", "r"}, "rotate"},
	{[]string{"--config", "run", "keys", "l"}, "list"},
	{[]string{"run", "--st"}, "--style"},
	{[]string{"run", "--style", "a"}, "addr2line"},
	{[]string{"keys", "rotate", "--no"}, "--no-force"},
	{[]string{"run", "no"}, "note.txt"},
	{[]string{"run", "--out", "no"}, "note.txt"},
	{[]string{"run", "--js"}, "--json"},
	{[]string{"run", "--limit", "no"}, ""},
}

// Each shell takes its script, and offers what the grammar has.
func TestCompletion(t *testing.T) {
	t.Parallel()
	m := toy(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for shell, ask := range map[string]func(words []string) string{
		"bash": func(words []string) string {
			return "source ./script; COMP_WORDS=(toy " + quoted(words) + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _toy; printf '%s\\n' \"${COMPREPLY[@]}\""
		},
		"fish": func(words []string) string {
			return "source ./script; complete -C 'toy " + strings.Join(words, " ") + "' | string replace -r '\\t.*' ''; true"
		},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				formattest.Missing(t, shell, "apt-get install "+shell)
			}
			in := t.TempDir()
			for name, text := range map[string]string{"script": m.Completion(shell), "note.txt": ""} {
				if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range completions {
				cmd := exec.Command(program, "-c", ask(c.words))
				cmd.Dir, cmd.Env = in, append(os.Environ(), "HOME="+in, "XDG_CONFIG_HOME="+in)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%q: %v\n%s", c.words, err, out)
				}
				offers := strings.Fields(string(out))
				for _, want := range strings.Fields(c.want) {
					if !strings.Contains(" "+strings.Join(offers, " ")+" ", " "+want+" ") {
						t.Errorf("%q offers %q, want %s", c.words, offers, want)
					}
				}
				if c.want == "" && len(offers) > 0 {
					t.Errorf("%q offers %q", c.words, offers)
				}
			}
		})
	}
	t.Run("zsh", func(t *testing.T) {
		zsh, err := exec.LookPath("zsh")
		if err != nil {
			formattest.Missing(t, "zsh", "apt-get install zsh")
		}
		script := filepath.Join(t.TempDir(), "_toy")
		if err := os.WriteFile(script, []byte(m.Completion("zsh")), 0o666); err != nil {
			t.Fatal(err)
		}
		// A function in place of zsh's own shows what it is told.
		ask := func(words ...string) string {
			text := "compdef() { : }; _arguments() { print -rl -- \"$@\"; [[ \"$*\" == *'->command'* ]] && state=$want }; _describe() { print -rl -- ${(P)2} }; source " + script +
				"; want=" + map[bool]string{true: "command", false: "rest"}[len(words) == 0] + "; words=(" + quoted(words) + "); _toy; true"
			out, err := exec.Command(zsh, "-f", "-c", text).CombinedOutput()
			if err != nil {
				t.Errorf("%q: %v\n%s", words, err, out)
			}
			return string(out)
		}
		if out := ask(); !strings.Contains(out, "keys:List and rotate keys\n") {
			t.Errorf("no commands:\n%s", out)
		}
		if out := ask("run"); !strings.Contains(out, "--style=[Form of the output]:value:(llvm addr2line)\n") || !strings.Contains(out, "*:file:_files\n") {
			t.Errorf("no flags of run:\n%s", out)
		}
	})
	// No PowerShell is at hand: quotes and brackets of the script must pair.
	text := m.Completion("powershell")
	if strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "(") != strings.Count(text, ")") || strings.Count(text, "'")%2 != 0 || !strings.Contains(text, "'run --style' = @('llvm', 'addr2line')\n") {
		t.Errorf("powershell:\n%s", text)
	}
}

// quoted returns words for a shell.
func quoted(words []string) string {
	var list []string
	for _, w := range words {
		list = append(list, "'"+w+"'")
	}
	return strings.Join(list, " ")
}
