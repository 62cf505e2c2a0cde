// Package program runs the command line of a program: it parses the arguments, makes the session, starts the command,
// in a worker where deaths must be told, and turns its error into an exit code.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/jobs/docs"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/help"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek/kms"
	"github.com/symlake/symlake/sinks/stores"
)

// Command is one word of the command line.
type Command struct {
	Name string
	// Group is the title under which help lists the command.
	Group string
	// Job is a pointer to the flags and arguments of the command. It has a method Run that takes the session, or one that
	// Program.Run knows.
	Job  any
	Help string
}

// Program is a command line: its commands, and all that they share.
type Program struct {
	Name string // as errors and --help call it
	// Help is one line on the program.
	Help string
	// Version is the program's, without its name.
	Version string
	// Commands returns the commands in the order of --help, groups together. Each call makes new jobs.
	Commands func() []Command
	// Topics returns the documents of "help TOPIC"; nil: there are none.
	Topics func() []docs.Topic
	// Formats are the symbol formats that the commands read; none in a program that only looks up.
	Formats []*formats.Format
	// Stores opens the store at a URL, as stores.Open does, with what the program brings for it; nil: stores.Open.
	Stores func(ctx context.Context, url string, o stores.Options) (*sinks.Store, error)
	// Credentials finds credentials for a key of AWS KMS; nil: as package chain of sinks/kek/kms does.
	Credentials kms.Credentials
	// About returns the line that version prints, without its end; nil: the command version makes it.
	About func() string
	// Run runs a job that has no method Run for the session; nil: all have one.
	Run func(job any, s *session.Session) error

	made *help.Manual // by manual
}

// Main runs one command and returns the exit code of the process.
func (g *Program) Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	args, said, worker := host.AsWorker(args)
	if worker {
		errOut = said
		log.SetOutput(errOut) // libraries write in order, and before a report
	} else {
		dieLoudly()
	}
	if g.Stores == nil {
		g.Stores = stores.Open
	}
	err := g.run(ctx, args, worker, in, out, errOut)
	code := exit.Code(err)
	var silent *exit.Error
	if err != nil && !(errors.As(err, &silent) && silent.Err == nil) {
		text := sentence(err)
		if ctx.Err() != nil { // Go's own words for a signal tell a person nothing
			text = strings.ReplaceAll(text, context.Canceled.Error(), "ended by a signal")
		}
		fmt.Fprintf(errOut, "%s: %s\n", g.Name, text)
	}
	return code
}

// manyLines of an error are too many to print: every object at work meets a full disk.
const manyLines = 3

// sentence returns the text of an error that is printed. The log has the rest at the level debug.
func sentence(err error) string {
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	if n := strings.Count(text, "\n"); n >= manyLines && exit.Code(err) != exit.WrongUsage {
		return fmt.Sprintf("%s (and %d more errors: --log-level debug prints them)", first, n)
	}
	return text
}

// failing is a job that reports its failure, also a failure before it began: in its report or its metrics.
// Failed returns err joined with its own error.
type failing interface {
	Failed(p *session.Session, err error) error
}

// configless is a job that tells of the program itself. It reads no configuration, and so a broken one does not stop it.
type configless interface{ WithoutConfig() }

// checked is a job that finds faults in its words before anything is opened or made.
type checked interface {
	Check(p *session.Session) error
}

// configTeller is a job that tells itself what is wrong with the configuration.
type configTeller interface{ TellsConfig() }

// configMaker is a job that makes the configuration file that the command line names.
type configMaker interface{ MakesConfig() }

func (g *Program) run(ctx context.Context, args []string, worker bool, in io.Reader, out, errOut io.Writer) (err error) {
	if g.asksVersion(args) {
		_, err := fmt.Fprintln(out, g.About())
		return err
	}
	tuned := collector.New(settings.DefaultMemory)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	l, err := g.parse(args)
	switch {
	case errors.Is(err, errHelp):
		return g.printHelp(l, out)
	case errors.Is(err, errVersion):
		l, err = g.parse([]string{"version"})
	}
	if err != nil {
		return err
	}
	given, parsed := l.flags, l.parsed
	if !worker { // its supervisor has warned
		settings.WarnVariables(parsed, errOut)
	}
	p := &session.Session{Began: time.Now(), Worker: worker, Collector: tuned, Args: l.args, Formats: g.Formats, Stores: g.Stores, Credentials: g.Credentials, Ctx: ctx, In: in, Out: out, ErrOut: errOut, Flags: given}
	if in != nil && term.Waits(in) {
		p.In = term.NewInput(ctx, in)
	}
	p.Given = func(flag string) bool { return settings.OnCommandLine(parsed, flag) }
	p.FlagText = func(flag string) string { return settings.FlagText(parsed, flag) }
	job := parsed.Selected()
	wrong := configure(p, parsed) // told once there is a log
	if wrong != nil {
		given.LogLevel = "info" // it may be the wrong one
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(given.LogLevel)); err != nil {
		return exit.Usage("--log-level: %w", err)
	}
	show(p, parsed)
	p.Log = term.NewLogger(p.ErrOut, p.ErrView, level)
	if worker {
		log.SetOutput(p.ErrOut)
	}
	if _, ok := job.Target.Interface().(configTeller); ok {
		p.Wrong, wrong = wrong, nil
	}
	if err = wrong; err == nil {
		err = Guard(p, job.Name, func() error { return g.start(p, parsed, in, out, errOut) })
	}
	if err != nil {
		p.Log.Debug("failed", "job", job.Name, "error", err.Error())
	}
	if j, ok := job.Target.Interface().(failing); ok && err != nil && !p.Reported {
		err = j.Failed(p, err)
	}
	return err
}

// asksVersion reports whether the command line is the word for the version alone. Installers and health checks run it
// often, and the grammar takes a fifth of its time. Variables may have an effect or be wrong: then the grammar decides.
func (g *Program) asksVersion(args []string) bool {
	return g.About != nil && len(args) == 1 && (args[0] == "version" || args[0] == "--version") && !settings.HasVariables()
}

// show finds out how the streams of a command are read. A script asks for records, or for the report on standard
// output, also where a terminal is at its ends.
func show(p *session.Session, parsed *kong.Context) {
	p.OutView, p.ErrView = term.Look(p.Out, p.Flags.Color), term.Look(p.ErrOut, p.Flags.Color)
	if s := term.NewScreen(p.ErrOut); s != nil && !settings.Reports(parsed, "-") {
		p.ErrOut = s
	}
	if p.Flags.JSON || settings.Reports(parsed, "-") {
		p.OutView, p.ErrView = p.OutView.Script(), p.ErrView.Script()
	}
}

// configure reads the configuration that a job needs, and checks the words of both.
func configure(p *session.Session, parsed *kong.Context) (err error) {
	job := parsed.Selected().Target.Interface()
	if _, ok := job.(configless); ok {
		p.Config = settings.Default()
		return nil
	}
	if p.Config, err = readConfig(p, job); err != nil {
		return err
	}
	if err := p.Config.Override(p.Flags.Set); err != nil {
		return err
	}
	if err := p.Config.File.Apply(parsed); err != nil {
		return err
	}
	job = parsed.Selected().Target.Interface() // with the file's values
	if err := p.CheckWords(); err != nil {
		return err
	}
	if j, ok := job.(checked); ok {
		return j.Check(p)
	}
	return nil
}

// mostConfig bounds a configuration that comes from standard input, in bytes.
const mostConfig = 1 << 20

func readConfig(p *session.Session, job any) (settings.Config, error) {
	_, makes := job.(configMaker)
	switch path := p.Flags.Config; {
	case path == "-" && makes:
		return settings.Config{}, exit.Usage("--config -: init makes a file: name one")
	case path == "-":
		text, err := io.ReadAll(io.LimitReader(p.In, mostConfig))
		if err != nil {
			return settings.Config{}, fmt.Errorf("read the configuration from standard input: %w", err)
		}
		p.ConfigText, p.In = append([]byte{}, text...), spent{}
		return settings.Parse(text, "standard input", ".")
	case path != "" && makes:
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return settings.Default(), nil
		}
	}
	return settings.Read(p.Flags.Config)
}

// spent is standard input after the configuration came from there.
type spent struct{}

func (spent) Read([]byte) (int, error) {
	return 0, exit.Usage("--config - took standard input for the configuration: name a file for the rest")
}

// start runs the command: in a worker if it is a supervised one and the streams can be handed over, else here.
func (g *Program) start(p *session.Session, parsed *kong.Context, in io.Reader, out, errOut io.Writer) error {
	job := parsed.Selected()
	if j, ok := job.Target.Interface().(supervised); ok && j.Supervised() && !p.Worker {
		from, ok1 := in.(*os.File)
		to, ok2 := out.(*os.File)
		said, ok3 := errOut.(*os.File)
		if ok1 && ok2 && ok3 {
			return supervise(p, job.Name, from, to, said)
		}
	}
	target := job.Target.Addr().Interface()
	if j, ok := target.(interface{ Run(*session.Session) error }); ok {
		return j.Run(p)
	}
	return g.Run(target, p)
}
