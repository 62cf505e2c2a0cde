package workspace

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/discover/hints"
	"github.com/symlake/symlake/ingest/discover/inventory"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/bucket"
	bucketall "github.com/symlake/symlake/sinks/bucket/all"
)

// SourceFlags say where objects come from.
type SourceFlags struct {
	Sources        []string      `arg:"" optional:"" name:"source" help:"File, folder, s3://bucket/prefix or debuginfod://HOST. Without one: the sources of the configuration."`
	NamesPattern   string        `name:"names" help:"Where the names APP@BUILD of objects stand in their paths." placeholder:"PATTERN" detail:"For example: android/{app}/{build}/**" group:"Sources"`
	Include        []string      `help:"Take only paths like this." placeholder:"GLOB" group:"Sources"`
	Exclude        []string      `help:"Leave out paths like this." placeholder:"GLOB" group:"Sources"`
	SourcesContent bool          `help:"Keep the source texts that source maps carry, for lookup --context." detail:"They are sealed as rows are." group:"~Source maps"`
	Endpoint       string        `help:"S3 endpoint of SOURCE arguments." placeholder:"URL" group:"~S3"`
	Region         string        `help:"S3 region of SOURCE arguments." placeholder:"REGION" group:"~S3"`
	Profile        string        `help:"AWS profile of SOURCE arguments." placeholder:"PROFILE" group:"~S3"`
	PathStyle      bool          `help:"Use path-style S3 addresses for SOURCE arguments." group:"~S3"`
	Anonymous      bool          `help:"Send unsigned S3 requests for SOURCE arguments." group:"~S3"`
	Checksums      string        `help:"Sums that the S3 server of SOURCE must check: auto (default) or required." enum:",auto,required" default:"" placeholder:"WHEN" group:"~Discovery"`
	Dates          string        `help:"Keys begin with a day: list the last days, and everything once a day." placeholder:"%Y/%m/%d/" group:"~Discovery"`
	LookBack       int           `help:"How many days --dates lists (default: 3)." placeholder:"DAYS" group:"~Discovery"`
	Full           time.Duration `help:"How often everything is listed in spite of --dates (default: 24h)." placeholder:"TIME" group:"~Discovery"`
	Hints          string        `help:"Where notifications of new objects are." detail:"An SQS queue by its URL, or a file with one event a line." placeholder:"URL|FILE" group:"~Discovery"`
	Inventory      string        `help:"Take the objects that an S3 Inventory lists: the URL of its manifest.json." placeholder:"URL" group:"~Discovery"`
	Owner          string        `help:"Owner of SOURCE arguments." detail:"Artifacts that another owner published stay, unless --rank is higher." placeholder:"NAME" group:"~Trust"`
	Rank           *int          `help:"Rank of SOURCE arguments beside sources of other owners. The higher one wins." placeholder:"N" group:"~Trust"`
}

// places returns the places that objects come from: the arguments, else the sources of the configuration. from says where
// each was named. The servers of DEBUGINFOD_URLS stand in the place of debuginfod: alone.
func (j SourceFlags) places(p *Workspace) (list []settings.SourceConfig, from []string) {
	named, where := j.named(p)
	for i, c := range named {
		servers := []string{c.URL}
		if c.URL == "debuginfod:" || c.URL == "debuginfod://" {
			if all := bucketall.BuildServers(os.Getenv("DEBUGINFOD_URLS")); len(all) > 0 {
				servers = all
			}
		}
		for _, server := range servers {
			c.URL = server
			list, from = append(list, c), append(from, where[i])
		}
	}
	return list, from
}

// named returns the places as they are named.
func (j SourceFlags) named(p *Workspace) (list []settings.SourceConfig, from []string) {
	given, what := j.Sources, "source"
	if len(given) == 0 {
		given, what = strings.Fields(os.Getenv("SYMLAKE_SOURCE")), "SYMLAKE_SOURCE"
	}
	if len(given) == 0 {
		for i := range p.Config.Sources {
			from = append(from, fmt.Sprintf("sources[%d] in %s:", i, p.ConfigFile()))
		}
		return p.Config.Sources, from
	}
	for _, url := range given {
		owner, rank := j.standing(p, url)
		from = append(from, what)
		list = append(list, settings.SourceConfig{URL: url, Owner: owner, Rank: rank, Endpoint: j.Endpoint, Region: j.Region, Profile: j.Profile, PathStyle: j.PathStyle,
			Anonymous: j.Anonymous, Names: j.NamesPattern, SourcesContent: j.SourcesContent, Include: j.Include, Exclude: j.Exclude, Checksums: j.Checksums, Dates: j.Dates, LookBack: j.LookBack, Full: j.Full, Hints: j.Hints})
	}
	return list, from
}

// CheckSources finds faults in the words for sources. It opens none.
func (j SourceFlags) CheckSources(p *Workspace) error {
	list, from := j.places(p)
	if len(list) == 0 {
		return exit.Usage("no SOURCE given and none configured: name a file, a folder, s3://bucket/prefix or debuginfod://HOST")
	}
	for i, c := range list {
		if is, err := bucketall.CheckBuildServer(c.URL); err != nil {
			return exit.Usage("%s %w", from[i], err)
		} else if !is {
			if err := session.CheckSource(from[i], c.URL); err != nil {
				return err
			}
		}
		if err := session.CheckHTTP(strings.TrimSuffix(from[i]+" "+c.URL, ":")+": endpoint", c.Endpoint); err != nil {
			return err
		}
		if err := (discover.Source{Include: c.Include, Exclude: c.Exclude, Names: c.Names, Dates: c.Dates}).CheckPatterns(); err != nil {
			return exit.Usage("%s %s: %w", from[i], c.URL, err)
		}
		if err := checkHints(c); err != nil {
			return err
		}
	}
	return session.CheckPlace("--inventory", j.Inventory)
}

// checkHints checks where hints come from: a queue or a file.
func checkHints(c settings.SourceConfig) error {
	u, err := url.Parse(c.Hints)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	if !strings.HasPrefix(c.Hints, "file:") && strings.Contains(c.Hints, "://") {
		return exit.Usage("source %s: hints %s: want the https URL of a queue, or a file", c.URL, c.Hints)
	}
	return nil
}

// Open opens the places that objects come from. A place out of reach stops no other: it is among
// unopened. What makes no sense is an error of usage.
func (j SourceFlags) Open(p *Workspace) (sources []discover.Source, unopened []report.Rejection, err error) {
	list, _ := j.places(p)
	for _, c := range list {
		s, err := p.OpenSource(c)
		if err == nil && j.Inventory != "" {
			s.Inventory, err = p.openInventory(j.Inventory, c)
		}
		switch {
		case err == nil:
			if s.Key == "" {
				s.Bucket = p.withoutOwn(s.Bucket)
			}
			sources = append(sources, s)
		case exit.Code(err) == exit.WrongUsage || p.Ctx.Err() != nil:
			return nil, nil, err
		default:
			unopened = append(unopened, report.Rejection{URL: c.URL, Error: strings.TrimPrefix(err.Error(), "source "+c.URL+": ")})
		}
	}
	return sources, unopened, nil
}

// standing returns the owner and rank of a SOURCE argument: from the flags, else from the
// innermost configured source that contains it.
func (j SourceFlags) standing(p *Workspace, url string) (owner string, rank int) {
	if j.Owner != "" || j.Rank != nil {
		if j.Rank != nil {
			rank = *j.Rank
		}
		return j.Owner, rank
	}
	most, at := -1, whereIs(url)
	for _, c := range p.Config.Sources {
		in := strings.TrimSuffix(whereIs(c.URL), "/")
		switch {
		case len(in) < most || strings.TrimSuffix(at, "/") != in && !strings.HasPrefix(at, in+"/"):
		case len(in) == most && (c.Owner != owner || c.Rank != rank):
			owner, rank = "", 0 // the globs of each decide, and an argument has its own
		default:
			most, owner, rank = len(in), c.Owner, c.Rank
		}
	}
	return owner, rank
}

// whereIs makes the paths that name one place equal.
func whereIs(url string) string {
	if strings.Contains(url, "://") && !strings.HasPrefix(url, "file://") {
		return url
	}
	path := strings.TrimPrefix(strings.TrimPrefix(url, "file:"), "//")
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func bucketOptions(c settings.SourceConfig) bucketall.Options {
	return bucketall.Options{Endpoint: c.Endpoint, Region: c.Region, Profile: c.Profile, PathStyle: c.PathStyle, Anonymous: c.Anonymous, Checksums: c.Checksums}
}

// OpenSource opens a place that objects come from.
func (p *Workspace) OpenSource(c settings.SourceConfig) (discover.Source, error) {
	b, key, err := bucketall.Open(p.Ctx, c.URL, bucketOptions(c))
	if err != nil {
		return discover.Source{}, session.Unfit(fmt.Errorf("source %s: %w", c.URL, err))
	}
	s := discover.Source{Bucket: b, Key: key, Include: c.Include, Exclude: c.Exclude, Names: c.Names, Texts: c.SourcesContent, Owner: c.Owner, Rank: c.Rank, Dates: c.Dates, LookBack: c.LookBack, Full: c.Full}
	switch u, err := url.Parse(c.Hints); {
	case c.Hints == "":
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		if s.Hints, err = hints.OpenQueue(p.Ctx, c.Hints, hints.Options{Region: c.Region, Profile: c.Profile}); err != nil {
			return s, exit.Usage("source %s: %w", c.URL, err)
		}
	default:
		s.Hints = hints.OpenFile(strings.TrimPrefix(c.Hints, "file:"))
	}
	return s, nil
}

// openInventory reads the manifest of an inventory of a source, with the source's server and account.
func (p *Workspace) openInventory(manifest string, c settings.SourceConfig) (func(ctx context.Context, emit func(bucket.Entry) error) error, error) {
	root, key, err := inventoryRoot(manifest)
	if err != nil {
		return nil, err
	}
	b, _, err := bucketall.Open(p.Ctx, root, bucketOptions(c))
	if err != nil {
		return nil, session.Unfit(fmt.Errorf("inventory %s: %w", manifest, err))
	}
	m, err := inventory.ReadManifest(p.Ctx, b, key)
	if err != nil {
		return nil, fmt.Errorf("inventory %s: %w", manifest, err)
	}
	return func(ctx context.Context, emit func(bucket.Entry) error) error { return m.Read(ctx, b, emit) }, nil
}

// inventoryRoot parts the URL of a manifest into the URL of the bucket, from which the manifest's keys count, and a key. A local copy
// of such a bucket is known by the folders that S3 makes: SOURCE/CONFIGURATION/TIME/manifest.json below any prefix.
func inventoryRoot(manifest string) (root, key string, err error) {
	if rest, ok := strings.CutPrefix(manifest, "s3://"); ok {
		name, key, ok := strings.Cut(rest, "/")
		if !ok || key == "" {
			return "", "", exit.Usage("inventory %s: want the URL of a manifest.json", manifest)
		}
		return "s3://" + name + "/", key, nil
	}
	path, err := filepath.Abs(strings.TrimPrefix(manifest, "file:"))
	if err != nil {
		return "", "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", "", err
	}
	dir := path
	for range 4 {
		dir = filepath.Dir(dir)
	}
	key, err = filepath.Rel(dir, path)
	return dir, filepath.ToSlash(key), err
}
