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
	"golang.org/x/term"

	"github.com/symlake/symlake/formats"
	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/jobs/garbage"
)

// flags are those of every command. With the commands they are the whole command line, with its help; the list of
// variables says which of them the environment sets, too.
type flags struct {
	Config      string   `help:"Configuration file." type:"path" placeholder:"FILE"`
	Store       string   `help:"Where rows live: file:PATH, a plain path, hbase://HOST:PORT,…/NAMESPACE, or https://HOST of a symlake serve." placeholder:"URL"`
	LoadMode    string   `help:"How rows reach HBase: hfiles (default) or puts." enum:",hfiles,puts" default:"" placeholder:"MODE"`
	Lake        lakeFlag `help:"Where the Parquet tables are: a folder, s3://bucket/prefix, or off." placeholder:"URL|off"`
	LakeProfile string   `help:"sealed (default) or plain: Parquet encryption, or none." enum:",sealed,plain" default:"" placeholder:"PROFILE"`
	Keyset      string   `help:"Local keyset file." type:"path" placeholder:"FILE" xor:"kek"`
	KeysetKMS   string   `help:"Key of AWS KMS that seals the keyset file." name:"keyset-kms" placeholder:"ARN"`
	KMS         string   `help:"Key of AWS KMS, instead of a keyset." name:"kms" placeholder:"ARN" xor:"kek"`
	KMSEndpoint string   `help:"Where KMS is (default: AWS, or AWS_ENDPOINT_URL_KMS)." name:"kms-endpoint" placeholder:"URL"`
	Metrics     string   `help:"Folder for Prometheus metrics as text files, one a job: that of node_exporter's textfile collector." type:"path" placeholder:"DIR"`
	Pushgateway string   `help:"Prometheus Pushgateway to push metrics to." placeholder:"URL"`
	LogLevel    string   `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	JSON        bool     `help:"Print NDJSON, one record a line." name:"json"`
	Token       string   `help:"Shown to a symlake serve that --store names, and asked for by one." placeholder:"TOKEN"`
	Redis       string   `help:"Cache of sealed rows that many processes share: redis://[user:password@]host:port[/db]." placeholder:"URL"`
	NoProgress  bool     `help:"No progress bar on a terminal."`
}

// command is one word of the command line: the job that it runs.
type command struct {
	name string
	job  any
	help string
}

// commands are all of them, in the order of --help.
func commands() []command {
	return []command{
		{"init", new(initJob), "Create what is missing: symlake.yaml, keyset, folders."},
		{"ingest", new(ingestJob), "Find new objects, explode, load, publish."},
		{"report", new(reportJob), "Print what runs did and could not tell."},
		{"load", new(loadJob), "Copy published loads of one store to another."},
		{"lookup", new(lookupJob), "Print the frames at positions of an artifact."},
		{"symbolicate", new(symbolicateJob), "Turn raw stacks into source-level ones."},
		{"artifacts", new(artifactsJob), "List what is stored."},
		{"objects", new(objectsJob), "Print the ledger: what was seen, loaded, kept, skipped, rejected and why."},
		{"status", new(statusJob), "Print what an operator asks first."},
		{"serve", new(serveJob), "Answer over HTTP."},
		{"inspect", new(inspectJob), "Print what symlake sees in a file."},
		{"plan", new(planJob), "Print the pending objects, big ones first."},
		{"rollback", new(rollbackJob), "Publish the previous load of an artifact again, and pin it."},
		{"forget", new(forgetJob), "Remove artifacts from store, lake and names."},
		{"verify", new(verifyJob), "Read everything back and check it."},
		{"gc", new(gcJob), "Remove abandoned loads and those older than the previous one."},
		{"compact", new(compactJob), "Merge small files of the lake."},
		{"keys", new(keysJob), "List, rotate, shred and export keys."},
		{"audit", new(auditJob), "Print who rotated, shredded, exported, copied, forced, and when."},
		{"demangle", new(demangleJob), "Print the readable form of C++ and Rust names."},
		{"version", new(versionJob), "Print version, commit and Go version."},
	}
}

// process is what a job has of the outside world.
type process struct {
	ctx      context.Context
	began    time.Time
	in       io.Reader
	out      io.Writer // machine output
	err      io.Writer // everything else
	log      *slog.Logger
	flags    *flags
	config   Config
	garbage  *garbage.Collections
	args     []string               // of the command line
	said     func(flag string) bool // whether the command line itself has a flag, not the environment
	known    []*formats.Format      // that ingest reads
	heard    *notices               // for a job that reports them; nil: nobody does
	worker   bool                   // a supervisor waits for this process
	reported bool                   // the job wrote its report, or its metrics where it has none
}

// Main runs one command and returns the exit code of the process.
func Main(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	return mainWith(ctx, formatsall.Formats(), args, in, out, errOut)
}

// mainWith is Main with the formats that are to be known.
func mainWith(ctx context.Context, known []*formats.Format, args []string, in io.Reader, out, errOut io.Writer) int {
	worker := len(args) > 0 && args[0] == supervisedFlag
	if worker {
		args, errOut = args[1:], os.NewFile(workerError, "/dev/stderr")
		log.SetOutput(errOut) // libraries speak in order, and before a report
	} else {
		dieLoudly()
	}
	err := run(ctx, known, args, worker, in, out, errOut)
	code := exitCode(err)
	var silent *exitError
	if err != nil && !(errors.As(err, &silent) && silent.Err == nil) {
		fmt.Fprintln(errOut, "symlake:", sentence(err))
	}
	return code
}

// manyLines of an error are too many to print: a full disk is met in every object at work.
const manyLines = 3

// sentence is what an error prints. The log has the rest at the level debug.
func sentence(err error) string {
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	if n := strings.Count(text, "\n"); n >= manyLines && exitCode(err) != exitUsage {
		return fmt.Sprintf("%s (and %d more errors: --log-level debug prints them)", first, n)
	}
	return text
}

// failing is a job that tells somebody when it failed, also when it did not begin: in its report or its
// metrics. failed returns the error that it is given, with what went wrong while it was told.
type failing interface {
	failed(p *process, err error) error
}

// helped is the panic by which kong's exit hook unwinds after --help.
type helped struct{ code int }

func run(ctx context.Context, known []*formats.Format, args []string, worker bool, in io.Reader, out, errOut io.Writer) (err error) {
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
	given, parsed, err := parse(args, out, errOut)
	if err != nil {
		return err
	}
	if !worker { // its supervisor has warned
		warnVariables(parsed, errOut)
	}
	p := &process{began: time.Now(), worker: worker, garbage: collections, args: args, known: known, ctx: ctx, in: in, out: out, err: errOut, flags: given}
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
		err = p.guard(job.Name, func() error { return p.run(parsed, in, out, errOut) })
	}
	if err != nil {
		p.log.Debug("failed", "job", job.Name, "error", err.Error())
	}
	if j, ok := job.Target.Interface().(failing); ok && err != nil && !p.reported {
		err = j.failed(p, err)
	}
	return err
}

// run runs the command, in a worker if it is a long one and the streams can be handed over.
func (p *process) run(parsed *kong.Context, in io.Reader, out, errOut io.Writer) error {
	job := parsed.Selected()
	if l, ok := job.Target.Interface().(long); ok && l.long() && !p.worker {
		from, ok1 := in.(*os.File)
		to, ok2 := out.(*os.File)
		said, ok3 := errOut.(*os.File)
		if ok1 && ok2 && ok3 {
			return p.supervise(job.Name, from, to, said)
		}
	}
	return parsed.Run(p)
}

// parse reads the command line. Most processes look up one thing, and the grammar of all commands takes longer than
// that: first only those are known that args name, and all of them if that was not enough.
func parse(args []string, out, errOut io.Writer) (*flags, *kong.Context, error) {
	all := commands()
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

// isTerminal reports whether a stream is a terminal, where a person watches or types.
func isTerminal(stream any) bool {
	if i, ok := stream.(*input); ok {
		stream = i.from
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
