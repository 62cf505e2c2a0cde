package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats"
	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/ingest"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
)

type ingestJob struct {
	Sources        []string      `arg:"" optional:"" name:"source" help:"File, folder or s3://bucket/prefix; the sources of the configuration without one."`
	Workers        int           `help:"Units exploded at once (default: limits.workers, else the processors)."`
	Shard          string        `help:"Take objects whose key hashes to I of N, from 0." placeholder:"I/N"`
	DryRun         bool          `help:"Print what would be done; change nothing."`
	Force          bool          `help:"Load again what is loaded, rejected or pinned."`
	Rename         bool          `help:"Load nothing: name what is loaded after the APP@BUILD that metadata, sidecars and patterns give now."`
	Limit          int           `help:"Take at most N new objects." placeholder:"N"`
	Deadline       time.Duration `help:"Take no new object after this time." placeholder:"25m"`
	IfLocked       string        `help:"When another ingest writes this store: wait, skip (exit 0) or fail." enum:"wait,skip,fail" default:"wait"`
	RunID          string        `name:"run" help:"Identity of this run; the report sums all attempts of it." placeholder:"ID"`
	Report         string        `help:"Where the report goes; - is standard output, as the very last line." placeholder:"FILE"`
	NothingNewCode int           `help:"Exit code when no attempt of this run loaded anything." default:"0" placeholder:"N"`
	RejectedCode   int           `help:"Exit code when something was newly rejected." default:"3" placeholder:"N"`
	Endpoint       string        `help:"S3 endpoint of SOURCE arguments." placeholder:"URL"`
	Region         string        `help:"S3 region of SOURCE arguments."`
	Profile        string        `help:"AWS profile of SOURCE arguments."`
	PathStyle      bool          `help:"Path-style S3 addresses for SOURCE arguments."`
	Anonymous      bool          `help:"Unsigned S3 requests for SOURCE arguments."`
	NamesPattern   string        `name:"names" help:"Where APP@BUILD of SOURCE arguments comes from." placeholder:"{app}/{build}/**"`
	SourcesContent bool          `help:"Keep the texts of sources that source maps of SOURCE arguments carry, sealed as rows are, for lookup --context."`
	Include        []string      `help:"Glob of keys to take; repeatable." placeholder:"GLOB"`
	Exclude        []string      `help:"Glob of keys to leave; repeatable." placeholder:"GLOB"`
}

// ingestGCPercent lets garbage grow to a multiple of what lives: little does,
// and the collector would cost a fifteenth of the run.
const ingestGCPercent = 400

func (ingestJob) Help() string {
	return "Without a configuration everything is kept in ./symlake-data.\n\n" +
		"Exit codes: 0 done; 1 run it again; 2 wrong usage or configuration; 3 something was newly rejected.\n\n" +
		"Example:\n  symlake ingest s3://mobile-symbols/android/ --report -"
}

// garbageBytes is what a run may hold beside its budget before it is collected at every turn, which would
// cost more than the run itself.
const garbageBytes = 40 << 20

// Run finds new objects, loads and publishes them, and reports.
func (j ingestJob) Run(p *process) error {
	o, err := j.options(p)
	if err != nil {
		return err
	}
	sources, err := j.sources(p)
	if err != nil {
		return err
	}
	s, unlock, err := p.createLocked(j.IfLocked)
	if errors.Is(err, errSkipLocked) {
		return p.report(j.Report, map[string]any{"job": "ingest", "run": o.Run, "started": time.Now().UTC(), "locked": true})
	}
	if err != nil {
		return err
	}
	defer unlock()
	defer s.Close()
	o.Store, o.Keyring = s.Store, s.ring
	limitGarbage(ingestGCPercent, o.MemoryBytes+garbageBytes)
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return fmt.Errorf("create scratch folder: %w", err)
	}
	if !j.DryRun {
		if o.Lake, err = p.createLake(s); err != nil {
			return err
		}
	}
	if j.Force && !j.DryRun {
		if err := s.audit(p, "force", strings.Join(j.Sources, " ")); err != nil {
			return err
		}
	}
	watch := p.watch()
	o.Progress = watch.event
	work := ingest.Run
	if j.Rename {
		work = ingest.Rename
	}
	report, err := work(p.ctx, sources, o)
	watch.stop()
	if report != nil && j.RunID != "" {
		err = errors.Join(err, report.AddAttempts(p.ctx, s.Catalog))
	}
	if report != nil {
		if rerr := p.report(j.Report, report); rerr != nil && err == nil {
			err = rerr
		}
	}
	switch {
	case err != nil:
		return err
	case report.Objects.Failed > 0:
		return fmt.Errorf("%d objects could not be read or published: run it again", report.Objects.Failed)
	case len(report.Rejected) > 0 && j.RejectedCode != 0:
		return &exitError{Code: j.RejectedCode}
	case report.Objects.Loaded+report.Objects.Renamed == 0 && j.NothingNewCode != 0:
		return &exitError{Code: j.NothingNewCode}
	}
	return nil
}

// pipeline is what the configuration says of every job that opens objects.
func (p *process) pipeline() ingest.Options {
	l := p.config.Limits
	return ingest.Options{Formats: formatsall.Formats(), Workers: l.Workers, MemoryBytes: int64(l.Memory), Limits: formats.Limits{ObjectBytes: int64(l.Object)}}
}

// options is what flags and configuration say of the pipeline.
func (j ingestJob) options(p *process) (ingest.Options, error) {
	o := p.pipeline()
	o.Force, o.DryRun, o.Limit, o.Run, o.Scratch = j.Force, j.DryRun, j.Limit, runID(j.RunID), p.scratch()
	if j.Workers != 0 {
		o.Workers = j.Workers
	}
	o.Owner = owner(o.Run)
	if j.Deadline > 0 {
		o.Deadline = time.Now().Add(j.Deadline)
	}
	if j.Shard != "" {
		i, n, ok := strings.Cut(j.Shard, "/")
		shard, err1 := strconv.Atoi(i)
		shards, err2 := strconv.Atoi(n)
		if !ok || err1 != nil || err2 != nil || shard < 0 || shard >= shards {
			return o, usage("--shard %q: want I/N with I from 0", j.Shard)
		}
		o.Shard, o.Shards = shard, shards
	}
	return o, nil
}

// sources opens the places that objects come from.
func (j ingestJob) sources(p *process) ([]ingest.Source, error) {
	list := p.config.Sources
	if len(j.Sources) > 0 {
		list = nil
		for _, url := range j.Sources {
			list = append(list, SourceConfig{URL: url, Endpoint: j.Endpoint, Region: j.Region, Profile: j.Profile,
				PathStyle: j.PathStyle, Anonymous: j.Anonymous, Names: j.NamesPattern, SourcesContent: j.SourcesContent, Include: j.Include, Exclude: j.Exclude})
		}
	}
	if len(list) == 0 {
		return nil, usage("no SOURCE given and none configured")
	}
	var sources []ingest.Source
	for _, c := range list {
		s, err := p.openSource(c)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func (p *process) openSource(c SourceConfig) (ingest.Source, error) {
	b, key, err := bucketall.Open(p.ctx, c.URL, bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile,
		PathStyle: c.PathStyle, Anonymous: c.Anonymous, Checksums: c.Checksums})
	if err != nil {
		return ingest.Source{}, fmt.Errorf("source %s: %w", c.URL, err)
	}
	return ingest.Source{Bucket: b, Key: key, Include: c.Include, Exclude: c.Exclude, Names: c.Names, Texts: c.SourcesContent}, nil
}

// scratch is where sealed scratch files go.
func (p *process) scratch() string {
	switch {
	case p.config.Scratch != "":
		return p.config.Scratch
	case p.storeDir() != "":
		return filepath.Join(p.storeDir(), "scratch")
	}
	return os.TempDir()
}
