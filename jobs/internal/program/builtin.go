package program

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/docs"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
	"github.com/symlake/symlake/jobs/internal/help"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
)

// ofItself is the group of the commands that tell of the program itself.
const ofItself = "Help"

// commands returns the program's commands, with help, version and their like.
func (g *Program) commands() []Command {
	return append(g.Commands(),
		Command{Name: "help", Group: ofItself, Job: &helpJob{g: g}, Help: "Explain a command or a topic."},
		Command{Name: "completion", Group: ofItself, Job: &completionJob{g: g}, Help: "Print the completion script of a shell."},
		Command{Name: "man", Group: ofItself, Job: &manJob{g: g}, Help: "Write man pages into a folder."},
	)
}

// manual returns the program's manual. It is made once.
func (g *Program) manual() *help.Manual {
	if g.made != nil {
		return g.made
	}
	parser, err := g.grammar(new(settings.Flags), g.commands())
	if err != nil { // the grammar is part of the program
		panic(err)
	}
	g.made = help.New(parser)
	g.made.Version = g.Version
	if g.Topics != nil {
		g.made.Topics = g.Topics()
	}
	return g.made
}

// Manual returns the manual of the program's command line.
func (g *Program) Manual() *help.Manual { return g.manual() }

// screen says how help is shown on a stream.
func screen(out io.Writer, color string) help.Screen {
	v := term.Look(out, color)
	return help.Screen{Width: v.Width(), Styled: v.Color}
}

// printHelp prints the help of the command that a command line selects.
func (g *Program) printHelp(l line, out io.Writer) error {
	var words []string
	for n := l.parsed.Selected(); n != nil && n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return g.explain(words, screen(out, term.ColorAuto), out)
}

// explain prints the help of a command, of a topic, or of the program.
func (g *Program) explain(words []string, s help.Screen, out io.Writer) error {
	m := g.manual()
	if c := m.Find(words...); c != nil {
		text := m.Command(c, s)
		if m.Topic(c.Name) != nil {
			text += fmt.Sprintf("There is a document: %s help topic %s.\n", g.Name, c.Name)
		}
		_, err := io.WriteString(out, text)
		return err
	}
	if len(words) == 2 && words[0] == "topic" {
		words = words[1:]
	}
	name := strings.Join(words, " ")
	var text string
	switch t := m.Topic(name); {
	case name == "":
		text = m.Root(s)
	case name == "flags":
		text = m.GlobalFlags(s)
	case t != nil:
		text = help.Markdown(docs.Terminal(*t, m.Topics), s)
	default:
		known := []string{"flags"}
		for _, c := range m.All() {
			known = append(known, c.Name)
		}
		for _, t := range m.Topics {
			known = append(known, t.Name)
		}
		return exit.Usage("there is no command or topic %q%s (%s help lists all)", name, guess.Hint(name, known), g.Name)
	}
	_, err := io.WriteString(out, text)
	return err
}

type helpJob struct {
	Words []string `arg:"" optional:"" name:"topic" help:"A command or a topic. Without one, help lists all."`
	All   bool     `help:"Explain each flag of a command."`

	g *Program
}

func (helpJob) Help() string {
	return "A document wraps at the width of the terminal.\n\nExample:\n  symlake help ingest\n  symlake help --all symbolicate\n  symlake help flags"
}

// WithoutConfig implements configless.
func (helpJob) WithoutConfig() {}

// Run prints the help of a command or a topic.
func (j *helpJob) Run(p *session.Session) error {
	s := screen(p.Out, p.Flags.Color)
	s.All = j.All
	return j.g.explain(j.Words, s, p.Out)
}

type completionJob struct {
	Shell string `arg:"" optional:"" help:"bash, zsh, fish or powershell."`

	g *Program
}

func (completionJob) Help() string {
	return "The script completes commands, flags, values of flags, topics and files.\n\n" +
		"Example:\n  source <(symlake completion bash)\n  symlake completion zsh > ~/.zfunc/_symlake\n  symlake completion fish > ~/.config/fish/completions/symlake.fish\n  symlake completion powershell | Out-String | Invoke-Expression"
}

// WithoutConfig implements configless.
func (completionJob) WithoutConfig() {}

// Run prints the script.
func (j *completionJob) Run(p *session.Session) error {
	if j.Shell == "" {
		return exit.Usage("completion needs the name of a shell: bash, zsh, fish or powershell (see %s completion --help)", j.g.Name)
	}
	if !slices.Contains(help.Shells, j.Shell) {
		return exit.Usage("shell %s (see %s completion --help)", guess.Among(j.Shell, help.Shells), j.g.Name)
	}
	_, err := io.WriteString(p.Out, j.g.manual().Completion(j.Shell))
	return err
}

type manJob struct {
	Dir string `arg:"" name:"dir" type:"path" help:"The folder. The command makes it."`

	g *Program
}

func (manJob) Help() string {
	return "The folder gets one page of the program and one of each command.\n\nExample:\n  symlake man /usr/local/share/man/man1\n  man symlake-symbolicate"
}

// WithoutConfig implements configless.
func (manJob) WithoutConfig() {}

// Run writes the pages.
func (j *manJob) Run(p *session.Session) error {
	if info, err := os.Stat(j.Dir); err == nil && !info.IsDir() {
		return exit.Usage("man: %s is a file: name a folder", j.Dir)
	}
	if err := os.MkdirAll(j.Dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of man pages: %w", err)
	}
	for name, text := range j.g.manual().Man(builtAt()) {
		if err := os.WriteFile(filepath.Join(j.Dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write man page: %w", err)
		}
	}
	return nil
}

// builtAt returns the day of the program's commit, so that two builds of it write the same pages.
func builtAt() time.Time {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil && s.Key == "vcs.time" {
				day = at
			}
		}
	}
	return day
}
