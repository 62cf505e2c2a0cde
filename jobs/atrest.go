package jobs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/jobs/internal/collector"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
	"github.com/symlake/symlake/jobs/internal/prose"
	"github.com/symlake/symlake/jobs/internal/query"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/tables"
)

// restMemoryBytes is what --input or --arrow may use where the configuration says nothing.
const restMemoryBytes = 512 << 20

// cacheShare is the share of the memory that is for the cache of a client, in quarters; the rest is for rows. Streams come in
// no order, so each of their record batches may ask any block again. A block that was let go is read and decoded again.
type cacheShare int64

const (
	ofFiles   cacheShare = 2
	ofStreams cacheShare = 3
)

// restTables are the tables that symbolicate --input names.
type restTables struct{}

// Symbolicate answers tables of frames or stacks.
func (restTables) Symbolicate(s *session.Session, j *query.SymbolicateJob) error {
	p := workspace.New(s)
	o, err := restOptions(p, j)
	if err != nil {
		return err
	}
	close, err := openRows(p, j, &o, ofFiles)
	if err != nil {
		return err
	}
	defer close()
	if err := restPlaces(p, j, &o); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return fmt.Errorf("create scratch folder: %w", err)
	}
	w := p.Watch("symbolicate")
	defer w.Stop()
	o.Progress = func(e tables.Event) { showTable(p, w, e) }
	done, err := tables.Run(p.Ctx, o)
	w.Stop()
	if done != nil {
		err = errors.Join(err, p.Sum(j.Report, "symbolicate-"+o.Run, done, prose.Tables(done)))
	}
	if err == nil && done.Files.Failed > 0 {
		err = fmt.Errorf("%d files could not be read or written: run it again", done.Files.Failed)
	}
	if err == nil {
		err = storeFailed(j, done)
	}
	switch {
	case err != nil:
		return err
	case done.Files.Rejected > 0 && j.RejectedCode != 0:
		return &exit.Error{Code: j.RejectedCode}
	case j.Strict && done.Files.Written > 0 && (done.Recognized < done.Rows || done.Recognized == 0 || done.Unread > 0):
		return &exit.Error{Code: exit.Rejected, Err: fmt.Errorf("--strict: not everything was recognized in %d of %d rows", done.Rows-done.Recognized, done.Rows)}
	}
	return nil
}

// storeFailed is the error of a job that wrote rows without their answers, since the store failed to give them.
func storeFailed(j *query.SymbolicateJob, done *tables.Report) error {
	for _, status := range []symbol.Status{symbol.Corrupt, symbol.Unavailable} {
		if n := done.Statuses[string(status)]; n > 0 && !j.KeepGoing {
			return fmt.Errorf("%s: %d of %d rows have no answer, since the store failed to give it: mend the store, then run again with --force (--keep-going exits 0 all the same)", status, n, done.Rows)
		}
	}
	return nil
}

// openRows opens the client that answers rows, within its share of the memory.
func openRows(p *workspace.Workspace, j *query.SymbolicateJob, o *tables.Options, share cacheShare) (close func() error, err error) {
	cache := o.MemoryBytes / 4 * int64(share)
	o.MemoryBytes -= cache
	client, close, err := j.Client(p.Session, lookup.Options{CacheBytes: cache})
	if err != nil {
		return nil, err
	}
	o.Client = client
	reading := wire.Reading{School: j.School, Regex: j.Regex, Verbose: true} // records tell alternatives apart
	if o.Stack.Managed, err = reading.Managed(p.Ctx, client, j.Artifact, j.App); err != nil {
		return nil, errors.Join(exit.Usage("--%w", err), close())
	}
	p.Collector.Use(collector.Lookup, 2*(o.MemoryBytes+cache))
	return close, nil
}

// CheckArrow finds faults in the words for streams of Arrow.
func (restTables) CheckArrow(s *session.Session, j *query.SymbolicateJob) error {
	if len(j.Files) > 0 || j.Input != "" || j.Output != "" && j.Output != "-" || j.Explain || j.Context > 0 {
		return exit.Usage("--arrow reads standard input and writes standard output: give no FILE, --input, --output, --explain or --context")
	}
	if err := session.CheckOutput("report", j.Report); err != nil {
		return err
	}
	if j.Report == "-" {
		return exit.Usage("--report - goes to standard output, where --arrow writes its stream: name a file")
	}
	for _, name := range j.Add {
		if !slices.Contains(tables.AddedNames(), name) {
			return exit.Usage("--add: %s", guess.Among(name, tables.AddedNames()))
		}
	}
	if _, err := rowOptions(workspace.New(s), j); err != nil {
		return err
	}
	return session.CheckCodes([]string{"rejected-code"}, []int{j.RejectedCode})
}

// Arrow answers the streams of standard input.
func (restTables) Arrow(s *session.Session, j *query.SymbolicateJob) error {
	p := workspace.New(s)
	o, err := rowOptions(p, j)
	if err != nil {
		return err
	}
	close, err := openRows(p, j, &o, ofStreams)
	if err != nil {
		return err
	}
	defer close()
	o.Added = j.Add
	done, err := tables.Stream(p.Ctx, o, p.In, p.Out)
	if j.Report != "" {
		err = errors.Join(err, p.Report(j.Report, "symbolicate-"+o.Run, done))
	}
	if err == nil {
		err = storeFailed(j, done)
	}
	switch {
	case errors.Is(err, tables.ErrInput) && j.RejectedCode != 0: // rows are missing, so it is never a success
		return &exit.Error{Code: j.RejectedCode, Err: err}
	case err == nil && j.Strict && (done.Recognized < done.Rows || done.Unread > 0):
		return &exit.Error{Code: exit.Rejected, Err: fmt.Errorf("--strict: not everything was recognized in %d of %d rows", done.Rows-done.Recognized, done.Rows)}
	}
	return err
}

// Check finds faults in the words for tables.
func (restTables) Check(s *session.Session, j *query.SymbolicateJob) error {
	if _, err := restOptions(workspace.New(s), j); err != nil {
		return err
	}
	if err := session.CheckPlace("--input", j.Input); err != nil {
		return err
	}
	if err := session.CheckPlace("--output", j.Output); err != nil {
		return err
	}
	if err := session.CheckHTTP("--endpoint", j.Endpoint); err != nil {
		return err
	}
	if err := session.CheckOutput("report", j.Report); err != nil {
		return err
	}
	return session.CheckCodes([]string{"rejected-code"}, []int{j.RejectedCode})
}

// Failed reports a run over tables that did not begin.
func (restTables) Failed(s *session.Session, j *query.SymbolicateJob, err error) error {
	p, run := workspace.New(s), workspace.RunID(j.RunID)
	return p.ReportFailure(err, j.Report, "symbolicate-"+run, p.Failure("symbolicate", run, err))
}

// restOptions is what flags and configuration say.
func restOptions(p *workspace.Workspace, j *query.SymbolicateJob) (o tables.Options, err error) {
	if len(j.Files) > 0 || j.Explain || p.In == nil {
		return o, exit.Usage("--input takes tables: give no FILE and no --explain")
	}
	if j.Output == "" {
		return o, exit.Usage("--input wants --output URL")
	}
	if o, err = rowOptions(p, j); err != nil {
		return o, err
	}
	o.Profile, o.Force, o.Scratch, o.DiskBytes, o.Workers = j.OutputProfile, j.Force, p.Scratch(), int64(p.Config.Limits.Disk), p.Config.Limits.Workers
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	shard, shards, err := workspace.ParseShard(j.Shard)
	if err != nil {
		return o, err
	}
	if shards > 1 {
		o.Shard = fmt.Sprintf("%d/%d", shard, shards)
	}
	var loaded *sinks.LakeKeys
	o.Keys = func() (sinks.LakeKeys, error) {
		if loaded == nil {
			k, err := p.LakeKeys()
			if err != nil {
				return k, err
			}
			loaded = &k
		}
		return *loaded, nil
	}
	_, pattern := splitGlob(j.Input)
	if o.OutputTable = j.OutputTable; o.OutputTable != "" {
		switch {
		case pattern != "":
			return o, exit.Usage("--output-table wants the folder of a table, and --input has a pattern")
		case shards > 1:
			return o, exit.Usage("--output-table adds all rows in one snapshot: give no --shard")
		case o.Profile == sinks.LakeSealed:
			return o, exit.Usage("--output-table is for every engine: give no --output-profile sealed")
		}
		o.Profile = sinks.LakePlain
	}
	o.Tables, o.Snapshot = pattern == "", j.Snapshot
	if pattern != "" && j.Snapshot != tables.Newest {
		return o, exit.Usage("--snapshot wants the folder of a table, and --input has a pattern")
	}
	var match *regexp.Regexp
	if pattern != "" {
		if match, err = discover.Glob(pattern); err != nil {
			return o, exit.Usage("--input: %w", err)
		}
	}
	o.Take = func(key string) bool {
		return (match == nil || match.MatchString(key)) && discover.ShardOf(key, shards) == shard
	}
	return o, nil
}

// rowOptions is what flags and configuration say of rows, wherever they stand.
func rowOptions(p *workspace.Workspace, j *query.SymbolicateJob) (o tables.Options, err error) {
	o = tables.Options{Prefix: j.Prefix, App: j.App, Platform: j.Platform, Run: workspace.RunID(j.RunID), MemoryBytes: int64(p.Config.Limits.Memory)}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = restMemoryBytes
	}
	frame0, err := report.ParseFrame0(j.Frame0)
	if err != nil {
		return o, exit.Usage("--frame0: %w", err)
	}
	o.Stack = report.Options{Artifacts: j.Artifact, Frame0: frame0}
	if err := j.DartFlags.Options(&o.Stack); err != nil {
		return o, err
	}
	if o.Columns, err = tables.ParseColumns(j.Column); err != nil {
		return o, exit.Usage("--column: %w", err)
	}
	if _, known := answer.PlatformKind(j.Platform); !known {
		return o, exit.Usage("--platform: %s", guess.Among(j.Platform, []string{"android", "linux", "ios", "macos", "java", "javascript", "react-native", "flutter"}))
	}
	return o, nil
}

// restPlaces opens the places of the tables, and makes the folder of the output.
func restPlaces(p *workspace.Workspace, j *query.SymbolicateJob, o *tables.Options) (err error) {
	b := bucketall.Options{Endpoint: j.Endpoint, Region: j.Region, Profile: j.Profile, PathStyle: j.PathStyle}
	url, _ := splitGlob(j.Input)
	if o.Input, o.Key, err = bucketall.Open(p.Ctx, url, b); err != nil {
		return session.Unfit(fmt.Errorf("input %s: %w", url, err))
	}
	out := j.Output
	if o.Key != "" && tables.Known(path.Base(filepath.ToSlash(out))) {
		i := strings.LastIndexAny(out, `/`) + 1
		out, o.OutputKey = out[:i], out[i:]
		if out == "" {
			out = "."
		}
	}
	if !strings.Contains(out, "://") {
		if err := os.MkdirAll(strings.TrimPrefix(out, "file:"), 0o755); errors.Is(err, syscall.EEXIST) || errors.Is(err, syscall.ENOTDIR) {
			return exit.Usage("--output %s is a file: want a folder", j.Output)
		} else if err != nil {
			return fmt.Errorf("create output folder: %w", err)
		}
	} else if !strings.HasSuffix(out, "/") {
		out += "/"
	}
	var key string
	if o.Output, key, err = bucketall.Open(p.Ctx, out, b); err != nil {
		return session.Unfit(fmt.Errorf("output %s: %w", j.Output, err))
	}
	if key != "" {
		return exit.Usage("--output %s is a file: want a folder", j.Output)
	}
	if o.Output.URL("") == o.Input.URL("") && (o.OutputKey == "" || o.OutputKey == o.Key) {
		return exit.Usage("--output is where --input is: the rows would be written over")
	}
	return nil
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

// showTable shows how far the tables are.
func showTable(p *workspace.Workspace, w *term.Progress, e tables.Event) {
	if e.Err != nil {
		p.Log.Warn("file", "url", e.URL, "error", e.Err)
	}
	total := int64(e.All)
	if e.Rows > e.All { // some files do not know their rows
		total = 0
	}
	text := e.Step + " " + e.URL
	if e.Of > 1 {
		text = fmt.Sprintf("%d/%d files  %s", e.Files, e.Of, text)
	}
	w.At(term.Step{Done: int64(e.Rows), Total: total, Unit: "row", Text: text}, "symbolicate", "step", e.Step, "rows", e.Rows, "files", e.Files, "of", e.Of, "url", e.URL)
}
