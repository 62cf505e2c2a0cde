package jobs

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
	"github.com/symlake/symlake/jobs/garbage"
)

// command is one word of the command line.
type command struct {
	name string
	// job is a pointer to the flags and arguments of the command. Its method Run takes the session, or the value that
	// program.bind makes of it.
	job  any
	help string
}

// program is a command line: its commands, and all that they share.
type program struct {
	// commands returns the commands in the order of --help. Each call makes new jobs.
	commands func() []command
	// formats are the symbol formats that the commands read; none in a program that only looks up.
	formats []*formats.Format
	// bind makes the second type that Run methods may take; nil: they take the session alone.
	bind func(*process) any
}

// main runs one command and returns the exit code of the process.
func (g *program) main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	worker := len(args) > 0 && args[0] == supervisedFlag
	if worker {
		args, errOut = args[1:], os.NewFile(workerError, "/dev/stderr")
		log.SetOutput(errOut) // libraries write in order, and before a report
	} else {
		dieLoudly()
	}
	err := g.run(ctx, args, worker, in, out, errOut)
	code := exitCode(err)
	var silent *exitError
	if err != nil && !(errors.As(err, &silent) && silent.Err == nil) {
		fmt.Fprintln(errOut, "symlake:", sentence(err))
	}
	return code
}

// manyLines of an error are too many to print: every object at work meets a full disk.
const manyLines = 3

// sentence returns the text of an error that is printed. The log has the rest at the level debug.
func sentence(err error) string {
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	if n := strings.Count(text, "\n"); n >= manyLines && exitCode(err) != exitUsage {
		return fmt.Sprintf("%s (and %d more errors: --log-level debug prints them)", first, n)
	}
	return text
}

// failing is a job that reports its failure, also a failure before it began: in its report or its metrics.
// failed returns the error that it is given, joined with its own.
type failing interface {
	failed(p *process, err error) error
}

// helped is the panic by which kong's exit hook unwinds after --help.
type helped struct{ code int }

func (g *program) run(ctx context.Context, args []string, worker bool, in io.Reader, out, errOut io.Writer) (err error) {
	collections := garbage.Collect()
	defer func() {
		if v := recover(); v != nil {
			h, ok := v.(helped)
			if !ok {
				panic(v)
			}
			err = nil
			if h.code != 0 {
				err = &exitError{Code: h.code}
			}
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	given, parsed, err := g.parse(args, out, errOut)
	if err != nil {
		return err
	}
	if !worker { // its supervisor has warned
		warnVariables(parsed, errOut)
	}
	p := &process{began: time.Now(), worker: worker, garbage: collections, args: args, known: g.formats, ctx: ctx, in: in, out: out, err: errOut, flags: given}
	if in != nil && waits(in) {
		p.in = newInput(ctx, in)
	}
	p.said = func(flag string) bool { return onCommandLine(parsed, flag) }
	var level slog.Level
	if err := level.UnmarshalText([]byte(given.LogLevel)); err != nil {
		return usage("--log-level: %w", err)
	}
	p.log = slog.New(slog.NewJSONHandler(errOut, &slog.HandlerOptions{Level: level}))
	job := parsed.Selected()
	if p.config, err = readConfig(given.Config); err == nil {
		err = guard(p, job.Name, func() error { return g.start(p, parsed, in, out, errOut) })
	}
	if err != nil {
		p.log.Debug("failed", "job", job.Name, "error", err.Error())
	}
	if j, ok := job.Target.Interface().(failing); ok && err != nil && !p.reported {
		err = j.failed(p, err)
	}
	return err
}

// start runs the command: in a worker if it is a supervised one and the streams can be handed over, else here.
func (g *program) start(p *process, parsed *kong.Context, in io.Reader, out, errOut io.Writer) error {
	job := parsed.Selected()
	if j, ok := job.Target.Interface().(supervised); ok && j.supervised() && !p.worker {
		from, ok1 := in.(*os.File)
		to, ok2 := out.(*os.File)
		said, ok3 := errOut.(*os.File)
		if ok1 && ok2 && ok3 {
			return supervise(p, job.Name, from, to, said)
		}
	}
	binds := []any{p}
	if g.bind != nil {
		binds = append(binds, g.bind(p))
	}
	return parsed.Run(binds...)
}

// parse reads the command line. Most processes look up one thing, and the grammar of all commands takes longer than
// that. So parse first knows only the commands that args name, and all of them if that was not enough.
func (g *program) parse(args []string, out, errOut io.Writer) (*flags, *kong.Context, error) {
	all := g.commands()
	named := slices.DeleteFunc(slices.Clone(all), func(c command) bool { return !slices.Contains(args, c.name) })
	if len(named) > 0 {
		if given, parsed, err := parseWith(named, args, out, errOut); err == nil {
			return given, parsed, nil
		}
	}
	given, parsed, err := parseWith(all, args, out, errOut)
	if err != nil {
		return nil, nil, usage("%w (see symlake --help)", err)
	}
	return given, parsed, nil
}

// parseWith reads a command line that has these commands.
func parseWith(known []command, args []string, out, errOut io.Writer) (*flags, *kong.Context, error) {
	given := new(flags)
	options := []kong.Option{
		kong.Name("symlake"),
		kong.Description("The symbol lake: symbol files in, source-level stacks out."),
		kong.PostBuild(configure),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { panic(helped{code}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}
	for _, c := range known {
		options = append(options, kong.DynamicCommand(c.name, c.help, "", c.job))
	}
	parser, err := kong.New(given, options...)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse(args)
	return given, parsed, err
}
