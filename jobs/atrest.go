package jobs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/jobs/atrest"
	"github.com/symlake/symlake/jobs/garbage"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/lookup"
)

// restFlags are those of symbolicate --input: tables of frames or stacks.
type restFlags struct {
	Input         string   `help:"Tables of raw frames or stacks: a file, folder or s3://bucket/prefix of .parquet, .ndjson or .jsonl (.gz, .zst), * and ** in it; --output gets the same rows with columns added." placeholder:"URL"`
	Column        []string `help:"What a column or field is called: artifact, address, frame, stack, app, build, platform or frame0; repeatable (default: the same names; frames.artifact and frames.address of lists)." placeholder:"ROLE=NAME" sep:"none"`
	Prefix        string   `help:"Before the names of columns that --input adds." placeholder:"TEXT"`
	Platform      string   `help:"Platform of rows of --input that say none: android, ios, javascript …" placeholder:"NAME"`
	OutputProfile string   `help:"Parquet that --input writes: sealed or plain (default: as it was)." enum:"sealed,plain," default:""`
	Shard         string   `help:"Take files of --input whose key hashes to I of N, from 0." placeholder:"I/N"`
	Force         bool     `help:"Answer again files of --input that have an output."`
	RunID         string   `name:"run" help:"Identity of this run, for the report of --input." placeholder:"ID"`
	Report        string   `help:"Where the report of --input goes; - is standard output, as the very last line." placeholder:"FILE"`
	RejectedCode  int      `help:"Exit code when a file of --input was rejected." default:"3" placeholder:"N"`
	Endpoint      string   `help:"S3 endpoint of --input and --output." placeholder:"URL"`
	Region        string   `help:"S3 region of --input and --output."`
	Profile       string   `help:"AWS profile of --input and --output."`
	PathStyle     bool     `help:"Path-style S3 addresses for --input and --output."`
}

// restMemoryBytes is what --input may use where the configuration says nothing: half for the cache, half for rows.
const restMemoryBytes = 512 << 20

// rest symbolicates tables.
func (j symbolicateJob) rest(p *process) error {
	o, err := j.restOptions(p)
	if err != nil {
		return err
	}
	cache := o.MemoryBytes / 2
	o.MemoryBytes -= cache
	client, close, err := j.client(p, lookup.Options{CacheBytes: cache})
	if err != nil {
		return err
	}
	defer close()
	o.Client = client
	reading := wire.Reading{School: j.School, Regex: j.Regex, Verbose: true} // records tell alternatives apart
	if o.Stack.Managed, err = reading.Managed(p.ctx, client, j.Artifact, j.App); err != nil {
		return usage("--%w", err)
	}
	p.garbage.Limit(garbage.FirstHeapPercent, lookupGCPercent, 2*(o.MemoryBytes+cache))
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return fmt.Errorf("create scratch folder: %w", err)
	}
	w := p.watchJob("symbolicate")
	o.Progress = w.rest
	summary, err := atrest.Run(p.ctx, o)
	w.stop()
	if summary != nil {
		err = errors.Join(err, p.report(j.Report, "symbolicate-"+o.Run, summary))
	}
	switch {
	case err != nil:
		return err
	case summary.Files.Failed > 0:
		return fmt.Errorf("%d files could not be read or written: run it again", summary.Files.Failed)
	case summary.Files.Rejected > 0 && j.RejectedCode != 0:
		return &exitError{Code: j.RejectedCode}
	}
	return nil
}

// failed reports a run over tables that did not begin.
func (j symbolicateJob) failed(p *process, err error) error {
	if j.Input == "" {
		return err
	}
	run := runID(j.RunID)
	return p.reportFailure(err, j.Report, "symbolicate-"+run, p.failure("symbolicate", run, err))
}

// restOptions is what flags and configuration say.
func (j symbolicateJob) restOptions(p *process) (o atrest.Options, err error) {
	if len(j.Files) > 0 || j.Explain || p.in == nil {
		return o, usage("--input takes tables: give no FILE and no --explain")
	}
	if j.Output == "" {
		return o, usage("--input wants --output URL")
	}
	o = atrest.Options{Prefix: j.Prefix, App: j.App, Platform: j.Platform, Profile: j.OutputProfile, Force: j.Force,
		Run: runID(j.RunID), Scratch: p.scratch(), MemoryBytes: int64(p.config.Limits.Memory), DiskBytes: int64(p.config.Limits.Disk), Workers: p.config.Limits.Workers}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = restMemoryBytes
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	frame0, err := report.ParseFrame0(j.Frame0)
	if err != nil {
		return o, usage("--frame0: %w", err)
	}
	o.Stack = report.Options{Artifacts: j.Artifact, Frame0: frame0}
	if err := j.dartFlags.options(&o.Stack); err != nil {
		return o, err
	}
	if o.Columns, err = atrest.ParseColumns(j.Column); err != nil {
		return o, usage("--column: %w", err)
	}
	shard, shards, err := parseShard(j.Shard)
	if err != nil {
		return o, err
	}
	if shards > 1 {
		o.Shard = fmt.Sprintf("%d/%d", shard, shards)
	}
	var loaded *sinks.LakeKeys
	o.Keys = func() (sinks.LakeKeys, error) {
		if loaded == nil {
			k, err := p.lakeKeys()
			if err != nil {
				return k, err
			}
			loaded = &k
		}
		return *loaded, nil
	}
	b := bucketall.Options{Endpoint: j.Endpoint, Region: j.Region, Profile: j.Profile, PathStyle: j.PathStyle}
	url, pattern := splitGlob(j.Input)
	var match *regexp.Regexp
	if pattern != "" {
		if match, err = discover.Glob(pattern); err != nil {
			return o, usage("--input: %w", err)
		}
	}
	o.Take = func(key string) bool {
		return (match == nil || match.MatchString(key)) && discover.ShardOf(key, shards) == shard
	}
	if o.Input, o.Key, err = bucketall.Open(p.ctx, url, b); err != nil {
		return o, unfit(fmt.Errorf("input %s: %w", url, err))
	}
	out := j.Output
	if o.Key != "" && atrest.Known(path.Base(filepath.ToSlash(out))) {
		i := strings.LastIndexAny(out, `/`) + 1
		out, o.OutputKey = out[:i], out[i:]
		if out == "" {
			out = "."
		}
	}
	if !strings.Contains(out, "://") {
		if err := os.MkdirAll(strings.TrimPrefix(out, "file:"), 0o755); errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ENOTDIR) {
			return o, usage("--output %s is a file: want a folder", j.Output)
		} else if err != nil {
			return o, fmt.Errorf("create output folder: %w", err)
		}
	} else if !strings.HasSuffix(out, "/") {
		out += "/"
	}
	var key string
	if o.Output, key, err = bucketall.Open(p.ctx, out, b); err != nil {
		return o, unfit(fmt.Errorf("output %s: %w", j.Output, err))
	}
	if key != "" {
		return o, usage("--output %s is a file: want a folder", j.Output)
	}
	if o.Output.URL("") == o.Input.URL("") && (o.OutputKey == "" || o.OutputKey == o.Key) {
		return o, usage("--output is where --input is: the rows would be written over")
	}
	return o, nil
}

// splitGlob parts a URL before the first folder with a pattern in its name.
func splitGlob(url string) (base, pattern string) {
	i := strings.IndexAny(url, "*?")
	if i < 0 {
		return url, ""
	}
	i = strings.LastIndexByte(url[:i], '/') + 1
	if i == 0 {
		return ".", url
	}
	return url[:i], url[i:]
}

// rest is called as tables are read and written, one call at a time.
func (w *watching) rest(e atrest.Event) {
	if e.Err != nil {
		w.p.log.Log(w.p.ctx, slog.LevelWarn, "file", "url", e.URL, "error", e.Err)
	}
	if w.bar != nil {
		w.bar.Describe(e.Step + " " + e.URL)
		w.bar.Set64(int64(e.Rows))
		return
	}
	if now := time.Now(); now.Sub(w.last) >= logEvery {
		w.last = now
		w.p.log.Info("symbolicate", "step", e.Step, "rows", e.Rows, "files", e.Files, "of", e.Of, "url", e.URL)
	}
}
