// Package query has the commands that answer from a store: lookup, symbolicate, demangle, serve and version.
package query

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/unread"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// SymbolicateJob is the command symbolicate.
type SymbolicateJob struct {
	Files     []string `arg:"" optional:"" name:"file" help:"Raw stacks, crash reports, method traces or a profile. Without one, or with -: standard input."`
	Symbols   []string `help:"Use the symbols of this file or folder. No store is needed." placeholder:"PATH" group:"Symbols"`
	Artifact  []string `help:"Artifact of frames that name none." placeholder:"NAME" group:"Symbols"`
	App       string   `help:"Build that frames without an id belong to." placeholder:"APP@BUILD" group:"Symbols"`
	Frame0    string   `name:"frame0" help:"What the address of frame 0 is: exact, return or stepped (default: by the format)." enum:"exact,return,stepped," default:"" placeholder:"KIND" group:"Symbols"`
	Output    string   `help:"File for the result. Its ending says the form." detail:".ndjson: records. .perfetto-trace, .speedscope.json: method traces. Of a profile: its own form, or .svg, .html and the others of help profiles. With --input: a folder, file or s3://bucket/prefix. Else: text. - is standard output." placeholder:"FILE" group:"Output"`
	Explain   bool     `help:"Print the way from each frame's text to its row." group:"Output"`
	Strict    bool     `help:"Exit with 3 if an input has no frame that symlake recognizes." detail:"Also if a part looks like frames and is not read. With --json, each input ends with its counts." group:"Output"`
	KeepGoing bool     `help:"Exit with 0 although the store failed to answer: answers are corrupt or unavailable." group:"Output"`
	Context   uint32   `help:"Add up to N source lines around each frame's line to records." detail:"The map must be loaded with --sources-content." placeholder:"N" group:"Output"`
	School    string   `help:"How Java and Kotlin is retraced: r8 or list." detail:"r8 prints byte for byte as R8's retrace does. list prints synthesized frames, and alternatives without marks. Default: as R8, but for what it misses." enum:"r8,list," default:"" placeholder:"SCHOOL" group:"~Java and Kotlin"`
	Verbose   bool     `help:"Print results and arguments of Java and Kotlin methods." group:"~Java and Kotlin"`
	Regex     string   `help:"Expression for lines of Java and Kotlin, as R8's retrace takes it." detail:"%c class, %m method, %s file, %l line, %S both, %t type, %a types, %f field." placeholder:"EXPRESSION" group:"~Java and Kotlin"`
	DartFlags
	traceFlags
	restFlags

	explode Exploder // of --symbols; nil: this program has none
	tables  Tables   // of --input; nil: this program reads none
	asked   *demand  // nil: demand is not noted
}

// Exploder makes a client that looks up what symbol files hold, without a store. close gives its memory back.
type Exploder func(p *session.Session, files []string, o lookup.Options) (c *answer.Client, close func() error, err error)

// Tables answers the tables that --input names.
type Tables interface {
	// Check finds faults in the words before anything is opened.
	Check(p *session.Session, j *SymbolicateJob) error
	// Symbolicate reads the tables of --input and writes the tables of --output.
	Symbolicate(p *session.Session, j *SymbolicateJob) error
	// CheckArrow and Arrow are the same for the streams of --arrow, which standard input and standard output hold.
	CheckArrow(p *session.Session, j *SymbolicateJob) error
	Arrow(p *session.Session, j *SymbolicateJob) error
	// Failed reports a run that did not begin. It returns the run's error and its own.
	Failed(p *session.Session, j *SymbolicateJob, err error) error
}

// NewSymbolicate returns the command. A program that reads no symbol files and no tables passes nil for them.
func NewSymbolicate(e Exploder, t Tables) *SymbolicateJob {
	return &SymbolicateJob{explode: e, tables: t}
}

// Failed reports a run over tables that did not begin.
func (j SymbolicateJob) Failed(p *session.Session, err error) error {
	if j.Input == "" || j.tables == nil {
		return err
	}
	return j.tables.Failed(p, &j, err)
}

// Supervised reports whether the command runs in a worker: for tables it does.
func (j SymbolicateJob) Supervised() bool { return j.Input != "" }

// Help returns the text below the flags.
func (j SymbolicateJob) Help() string {
	if j.explode == nil {
		return "Lines without a frame pass through unchanged.\n\nExample:\n  symlake symbolicate crash.txt\n  adb logcat -d | symlake symbolicate\n  symlake symbolicate out.txt --artifact shop@1234 --output out.perfetto-trace\n  symlake symbolicate cpu.pb.gz --output cpu.html"
	}
	return "Lines without a frame pass through unchanged.\n\nExample:\n  symlake symbolicate --symbols ./libs crash.txt\n  adb logcat -d | symlake symbolicate\n  symlake symbolicate out.txt --artifact shop@1234 --output out.perfetto-trace\n  symlake symbolicate cpu.pb.gz --output cpu.html\n  symlake symbolicate --input 's3://raw/*.parquet' --output s3://out/"
}

// Check finds faults in the words before anything is opened.
func (j SymbolicateJob) Check(p *session.Session) error {
	if err := (wire.Reading{School: j.School, Regex: j.Regex}).Check(); err != nil {
		return exit.Usage("--%w", err)
	}
	if err := j.DartFlags.Options(new(report.Options)); err != nil {
		return err
	}
	if err := j.traceFlags.check(); err != nil {
		return err
	}
	switch {
	case len(j.Add) > 0 && !j.Arrow:
		return exit.Usage("--add goes with --arrow")
	case len(j.Symbols) > 0 && j.explode == nil:
		return exit.Usage("this program reads no symbol files: use symlake symbolicate --symbols")
	case j.Arrow && j.tables == nil:
		return exit.Usage("this program reads no streams of Arrow: use symlake symbolicate --arrow")
	case j.Arrow:
		return j.tables.CheckArrow(p, &j)
	case j.Input != "" && j.tables == nil:
		return exit.Usage("this program reads no tables: use symlake symbolicate --input")
	case j.Input != "":
		return j.tables.Check(p, &j)
	case j.Context > 0 && !j.json(p):
		return exit.Usage("--context goes with --json, or --output of .ndjson")
	}
	for _, name := range j.Symbols {
		if err := session.CheckPlace("--symbols", name); err != nil {
			return err
		}
	}
	if err := checkFiles(append(j.Files, j.symbolFiles()...)); err != nil {
		return err
	}
	return j.checkOutput()
}

// symbolFiles returns the names of --symbols that are standard input.
func (j SymbolicateJob) symbolFiles() []string {
	return slices.DeleteFunc(slices.Clone(j.Symbols), func(name string) bool { return name != "-" })
}

// checkFiles checks that inputs are files, and that standard input is read once.
func checkFiles(files []string) error {
	read := false
	for _, name := range files {
		if name == "-" {
			if read {
				return exit.Usage("- stands for standard input, which can be read once only")
			}
			read = true
			continue
		}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return exit.Usage("there is no file %s", name)
		case err != nil:
			return err
		case info.IsDir():
			return exit.Usage("%s is a folder: name the files in it, or the symbols of a folder with --symbols", name)
		}
	}
	return nil
}

// checkOutput checks that the file of the result can be made.
func (j SymbolicateJob) checkOutput() error {
	if err := session.CheckOutput("output", j.Output); err != nil || j.Output == "" || j.Output == "-" {
		return err
	}
	if info, err := os.Stat(j.Output); err == nil && info.IsDir() {
		return exit.Usage("--output %s is a folder: name a file", j.Output)
	}
	if _, err := os.Stat(filepath.Dir(j.Output)); errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("--output %s: there is no folder %s: make it first", j.Output, filepath.Dir(j.Output))
	}
	return nil
}

// Run reads stacks in order and prints each as soon as it is answered.
func (j SymbolicateJob) Run(p *session.Session) (err error) {
	switch {
	case j.Arrow:
		return j.tables.Arrow(p, &j)
	case j.Input != "":
		return j.tables.Symbolicate(p, &j)
	}
	from := newSources(p)
	if done, err := j.profiling(p).profile(p, from); done {
		return err
	}
	if done, err := j.conversion(p).traces(p, from); done {
		return err
	}
	if err := j.profiling(p).asked(); err != nil {
		return err
	}
	reply, close, err := j.answerer(p)
	if err != nil {
		return err
	}
	defer close()
	to := p.Out
	if j.Output != "" && j.Output != "-" {
		f, cerr := os.Create(j.Output)
		if cerr != nil {
			return fmt.Errorf("create output: %w", cerr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	w := bufio.NewWriter(to)
	meter := newMeter(p, j.Files, j.Output)
	defer meter.stop()
	said := notices{p: p, json: j.json(p), strict: j.Strict, going: j.KeepGoing}
	defer func() { err = cmp.Or(err, said.end()) }()
	one := func(name string, r io.Reader) error {
		sample := unread.NewSample(meter.reader(name, r))
		counts, err := reply(sample, w)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return said.input(w, name, counts, sample)
	}
	if len(j.Files) == 0 {
		in, _, oerr := from.open("-")
		if oerr != nil {
			return oerr
		}
		err = one("standard input", in)
	}
	for _, file := range j.Files {
		f, closeFile, oerr := from.open(file)
		if oerr != nil {
			return errors.Join(oerr, w.Flush())
		}
		err = one(file, f)
		closeFile()
		if err != nil {
			break
		}
	}
	return errors.Join(err, w.Flush())
}

// cached returns how to open a client, with a bound on its cache.
func (j SymbolicateJob) cached(p *session.Session) func(cacheBytes int64) (*answer.Client, func() error, error) {
	return func(cacheBytes int64) (*answer.Client, func() error, error) {
		if len(j.Symbols) > 0 { // a store in memory has no blocks to keep
			cacheBytes = 0
		}
		return j.Client(p, lookup.Options{CacheBytes: cacheBytes})
	}
}

// profiling is the command as far as it concerns profiles.
func (j SymbolicateJob) profiling(p *session.Session) *profiling {
	other := ""
	switch {
	case j.JankStack > 0:
		other = "--jank-stack"
	case j.Explain:
		other = "--explain"
	case j.Context > 0:
		other = "--context"
	case j.School != "":
		other = "--school"
	case j.Regex != "":
		other = "--regex"
	}
	return &profiling{files: j.Files, output: j.Output, artifacts: j.Artifact, app: j.App, frame0: j.Frame0, strict: j.Strict, going: j.KeepGoing, other: other, exploded: len(j.Symbols) > 0, client: j.cached(p)}
}

// conversion is the command as far as it concerns method traces.
func (j SymbolicateJob) conversion(p *session.Session) *conversion {
	return &conversion{traceFlags: j.traceFlags, files: j.Files, output: j.Output, json: j.json(p), strict: j.Strict, artifacts: j.Artifact, app: j.App, exploded: len(j.Symbols) > 0, client: j.cached(p)}
}

// replier answers the stacks of a text and counts their frames.
type replier func(io.Reader, *bufio.Writer) (*wire.Summary, error)

// answerer returns a replier: a server, or the store.
func (j SymbolicateJob) answerer(p *session.Session) (reply replier, close func() error, err error) {
	frame0, err := report.ParseFrame0(j.Frame0)
	if err != nil {
		return nil, nil, exit.Usage("--frame0: %w", err)
	}
	o := report.Options{Artifacts: j.Artifact, Frame0: frame0}
	if err := j.DartFlags.Options(&o); err != nil {
		return nil, nil, err
	}
	server, err := p.Remote()
	if err != nil {
		return nil, nil, err
	}
	if server != nil && len(j.Symbols) == 0 {
		if j.Context > 0 {
			return nil, nil, exit.Usage("--context wants a store, or --symbols")
		}
		return func(r io.Reader, w *bufio.Writer) (*wire.Summary, error) {
			return sendStacks(p, server, j.question(p), o, r, w)
		}, func() error { return nil }, nil
	}
	client, close, err := j.Client(p, lookup.Options{})
	if err != nil {
		return nil, nil, err
	}
	reading := wire.Reading{School: j.School, Regex: j.Regex, Verbose: j.Verbose || j.json(p)} // records tell alternatives apart
	if o.Managed, err = reading.Managed(p.Ctx, client, j.Artifact, j.App); err != nil {
		return nil, nil, errors.Join(exit.Usage("--%w", err), close())
	}
	if len(j.Symbols) == 0 {
		asked := &demand{}
		j.asked = asked
		closeStore := close
		close = func() error { asked.note(p); return closeStore() }
	}
	return func(r io.Reader, w *bufio.Writer) (*wire.Summary, error) {
		counts := new(wire.Summary)
		f := stackFlow{client: client, reading: o, options: answer.Options{Artifacts: j.Artifact, App: j.App}}
		f.print = func(s *report.Report, answers [][]symbol.Answer) error {
			counts.Add(s, answers)
			return j.print(p, client, w, s, f.options, answers)
		}
		return counts, f.run(p.Ctx, r, w)
	}, close, nil
}

// question is the query string by which a server answers as the flags say.
func (j SymbolicateJob) question(p *session.Session) url.Values {
	q := url.Values{"artifact": j.Artifact, "unit": j.Unit, "verbose": {strconv.FormatBool(j.Verbose || j.json(p))}}
	for name, value := range map[string]string{"app": j.App, "frame0": j.Frame0, "isolate_start": j.IsolateStart, "vm_start": j.VMStart, "school": j.School, "regex": j.Regex} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if j.json(p) {
		q.Set("output", "records")
	} else if j.Explain {
		q.Set("explain", "true")
	}
	return q
}

// json: records are wanted, no text.
func (j SymbolicateJob) json(p *session.Session) bool {
	return p.Flags.JSON || filepath.Ext(j.Output) == ".ndjson"
}

// Client looks things up in the store, or in what --symbols names.
func (j SymbolicateJob) Client(p *session.Session, o lookup.Options) (*answer.Client, func() error, error) {
	if len(j.Symbols) == 0 {
		return p.OpenClient(o)
	}
	if j.explode == nil {
		return nil, nil, exit.Usage("this program reads no symbol files: use symlake symbolicate --symbols")
	}
	return j.explode(p, j.Symbols, o)
}

// print prints one stack.
func (j SymbolicateJob) print(p *session.Session, client *answer.Client, w *bufio.Writer, s *report.Report, o answer.Options, answers [][]symbol.Answer) error {
	if j.asked != nil {
		j.asked.stack(p, client, s, answers)
	}
	if j.json(p) {
		record := wire.NewStack(s, answers)
		if record == nil {
			return nil
		}
		if j.Context > 0 {
			if err := record.Excerpts(p.Ctx, client, s, answers, o, j.Context); err != nil {
				return err
			}
		}
		return term.WriteJSON(w, record)
	}
	if err := report.Print(w, s, answers); err != nil {
		return err
	}
	if j.Explain {
		return wire.Explain(p.Ctx, w, client, s, o)
	}
	return nil
}

// restFlags are the flags of symbolicate --input and --arrow: tables of frames or stacks.
type restFlags struct {
	Input         string   `help:"Tables of raw frames or stacks. --output gets the same rows with columns added." detail:"A file, folder or s3://bucket/prefix of .parquet, .ndjson or .jsonl (.gz, .zst), with * and ** in it. Or the folder of a Delta or Iceberg table." placeholder:"URL" group:"~Tables"`
	Arrow         bool     `help:"Answer Arrow IPC streams: standard input to standard output." detail:"Each record batch of raw frames or stacks comes out with columns added. Exits with 3 if the input is no whole stream. Takes --column, --prefix and --platform." group:"~Tables"`
	Add           []string `help:"Columns that --arrow adds." detail:"function, file, line, col, status, reason, group, and inlines of frames or chain of stacks. Default: all." placeholder:"NAME,…" group:"~Tables"`
	Snapshot      int64    `help:"Snapshot of an Iceberg table, or version of a Delta table, to read." detail:"Without it, --input reads the newest one." default:"-1" placeholder:"N" group:"~Tables"`
	Column        []string `help:"Name of a column or field with this role." detail:"Roles: artifact, address, frame, stack, app, build, platform, frame0. Default: the same names, and frames.artifact and frames.address of lists." placeholder:"ROLE=NAME" sep:"none" group:"~Tables"`
	Prefix        string   `help:"Text before the names of columns that --input adds." placeholder:"TEXT" group:"~Tables"`
	Platform      string   `help:"Platform of rows that name none: android, ios, javascript …" placeholder:"NAME" group:"~Tables"`
	OutputTable   string   `help:"Make --output a table of the form of --input: iceberg or delta." detail:"A new table, or a new snapshot of the one that is there. Default: files." enum:"iceberg,delta," default:"" placeholder:"FORM" group:"~Tables"`
	OutputProfile string   `help:"Parquet that --input writes: sealed or plain (default: as the input)." enum:"sealed,plain," default:"" placeholder:"PROFILE" group:"~Tables"`
	Shard         string   `help:"Take part I of N of the files, from 0." placeholder:"I/N" group:"~Tables"`
	Force         bool     `help:"Answer again files that have an output." group:"~Tables"`
	RunID         string   `name:"run" help:"Name of this run, for the report." placeholder:"ID" group:"~Tables"`
	Report        string   `help:"Where the report goes: a file, or - as the last line of standard output." placeholder:"FILE" group:"~Tables"`
	RejectedCode  int      `help:"Exit code when a file was rejected." default:"3" placeholder:"N" group:"~Tables"`
	Endpoint      string   `help:"S3 endpoint of --input and --output." placeholder:"URL" group:"~S3"`
	Region        string   `help:"S3 region of --input and --output." placeholder:"REGION" group:"~S3"`
	Profile       string   `help:"AWS profile of --input and --output." placeholder:"PROFILE" group:"~S3"`
	PathStyle     bool     `help:"Use path-style S3 addresses for --input and --output." group:"~S3"`
}
