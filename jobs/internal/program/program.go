// Package program runs the command line of a program: it parses the arguments, makes the session, starts the command,
// in a worker where deaths must be told, and turns its error into an exit code.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/stores"
)

// Command is one word of the command line.
type Command struct {
	Name string
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
	// Commands returns the commands in the order of --help. Each call makes new jobs.
	Commands func() []Command
	// Formats are the symbol formats that the commands read; none in a program that only looks up.
	Formats []*formats.Format
	// Stores opens the store at a URL, as stores.Open does, with what the program brings for it; nil: stores.Open.
	Stores func(ctx context.Context, url string, o stores.Options) (*sinks.Store, error)
	// Run runs a job that has no method Run for the session; nil: all have one.
	Run func(job any, s *session.Session) error
}

// Main runs one command and returns the exit code of the process.
func (g *Program) Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	worker := len(args) > 0 && args[0] == supervisedFlag
	if worker {
		args, errOut = args[1:], os.NewFile(workerError, "/dev/stderr")
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
		fmt.Fprintf(errOut, "%s: %s\n", g.Name, sentence(err))
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

// errHelped: the command line asked for help, and got it.
var errHelped = errors.New("help was printed")

func (g *Program) run(ctx context.Context, args []string, worker bool, in io.Reader, out, errOut io.Writer) (err error) {
	tuned := collector.New(settings.DefaultMemory)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	given, parsed, err := g.parse(args, out, errOut)
	if errors.Is(err, errHelped) {
		return nil
	} else if err != nil {
		return err
	}
	if !worker { // its supervisor has warned
		settings.WarnVariables(parsed, errOut)
	}
	p := &session.Session{Began: time.Now(), Worker: worker, Collector: tuned, Args: args, Formats: g.Formats, Stores: g.Stores, Ctx: ctx, In: in, Out: out, ErrOut: errOut, Flags: given}
	if in != nil && term.Waits(in) {
		p.In = term.NewInput(ctx, in)
	}
	p.Given = func(flag string) bool { return settings.OnCommandLine(parsed, flag) }
	var level slog.Level
	if err := level.UnmarshalText([]byte(given.LogLevel)); err != nil {
		return exit.Usage("--log-level: %w", err)
	}
	show(p, parsed)
	p.Log = term.NewLogger(p.ErrOut, p.ErrView, level)
	if worker {
		log.SetOutput(p.ErrOut)
	}
	job := parsed.Selected()
	if p.Config, err = settings.Read(given.Config); err == nil {
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

// parse reads the command line. Most processes look up one thing, and the grammar of all commands takes longer than
// that. So parse first knows only the commands that args name, and all of them if that was not enough.
func (g *Program) parse(args []string, out, errOut io.Writer) (*settings.Flags, *kong.Context, error) {
	all := g.Commands()
	named := slices.DeleteFunc(slices.Clone(all), func(c Command) bool { return !slices.Contains(args, c.Name) })
	if len(named) > 0 {
		if given, parsed, err := g.parseWith(named, args, out, errOut); err == nil || errors.Is(err, errHelped) {
			return given, parsed, err
		}
	}
	given, parsed, err := g.parseWith(all, args, out, errOut)
	if err != nil && !errors.Is(err, errHelped) {
		return nil, nil, exit.Usage("%w (see %s --help)", err, g.Name)
	}
	return given, parsed, err
}

// parseWith reads a command line that has these commands.
func (g *Program) parseWith(known []Command, args []string, out, errOut io.Writer) (*settings.Flags, *kong.Context, error) {
	given := new(settings.Flags)
	options := []kong.Option{
		kong.Name(g.Name),
		kong.Description(g.Help),
		kong.PostBuild(settings.Configure),
		kong.Writers(out, errOut),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}
	for _, c := range known {
		options = append(options, kong.DynamicCommand(c.Name, c.Help, "", c.Job))
	}
	parser, err := kong.New(given, options...)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := trace(parser, args)
	return given, parsed, err
}

// trace does what kong's Parse does, but for its hooks. Those call methods by name, and so keep the linker from leaving
// out any exported method of the program: 13 MB of 55. Run methods are called by Program.Run for the same reason.
func trace(parser *kong.Kong, args []string) (*kong.Context, error) {
	parsed, err := kong.Trace(parser, args)
	if err != nil {
		return nil, err
	}
	if parsed.Error != nil {
		return nil, parsed.Error
	}
	if settings.OnCommandLine(parsed, "help") {
		if err := parsed.PrintUsage(false); err != nil {
			return nil, err
		}
		return nil, errHelped
	}
	if err := parsed.Reset(); err != nil {
		return nil, err
	}
	if err := parsed.Resolve(); err != nil {
		return nil, err
	}
	if _, err := parsed.Apply(); err != nil {
		return nil, err
	}
	return parsed, parsed.Validate()
}
