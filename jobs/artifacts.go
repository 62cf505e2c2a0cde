package jobs

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/row"
)

type artifactsJob struct {
	Artifact string `arg:"" optional:"" help:"Any name of it; all artifacts without."`
	App      string `help:"Only those of this APP@BUILD." placeholder:"APP@BUILD"`
}

func (artifactsJob) Help() string { return "Example:\n  symlake artifacts libcart.so --json" }

// loadJSON is one load of an artifact as --json prints it.
type loadJSON struct {
	Load      string     `json:"load"`
	Published bool       `json:"published"`
	At        *time.Time `json:"at,omitempty"`
	Parser    int        `json:"parser,omitempty"`
	Lease     *time.Time `json:"lease,omitempty"` // set while the load is in progress
	Owner     string     `json:"owner,omitempty"`
}

// artifactJSON is one artifact as --json prints it, stored or inspected.
type artifactJSON struct {
	Artifact  string          `json:"artifact"`
	Kind      symbol.Kind     `json:"kind,omitempty"`
	Arch      string          `json:"arch,omitempty"`
	Names     []string        `json:"names"`
	Apps      []string        `json:"apps"`
	Object    string          `json:"object,omitempty"`
	Member    string          `json:"member"`
	ImageBase string          `json:"image_base"`
	State     string          `json:"state,omitempty"`
	Loads     []loadJSON      `json:"loads,omitempty"`
	Ranges    uint64          `json:"ranges"`
	Classes   uint64          `json:"classes,omitempty"` // of a mapping, instead of ranges
	Members   uint64          `json:"members,omitempty"` // of its classes
	Rows      uint64          `json:"rows,omitempty"`
	Bytes     uint64          `json:"bytes,omitempty"`
	Quality   *qualitySummary `json:"quality,omitempty"`
}

// qualitySummary is symbol.Quality in the shares that people compare.
type qualitySummary struct {
	Units       uint32   `json:"units"`
	UnitsBroken uint32   `json:"units_broken"`
	LinesBroken uint32   `json:"lines_broken"`
	TextCovered float64  `json:"text_covered"`
	WithLine    float64  `json:"with_line"`
	WithInline  float64  `json:"with_inline"`
	Missing     []string `json:"missing_parts"`
	Lines       uint64   `json:"lines,omitempty"` // of a mapping
	BadLines    uint64   `json:"bad_lines,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

func summary(q symbol.Quality) *qualitySummary {
	share := func(part, whole uint64) float64 {
		if whole == 0 {
			return 0
		}
		return float64(part*1000/whole) / 1000
	}
	missing := q.Missing
	if missing == nil {
		missing = []string{}
	}
	return &qualitySummary{q.Units, q.UnitsBroken, q.LinesBroken, share(q.Covered, q.Text), share(q.WithLine, q.Covered), share(q.WithInline, q.Covered), missing,
		q.Lines, q.BadLines, q.Warnings}
}

func namesJSON(names []symbol.Name) (other, apps []string) {
	other, apps = []string{}, []string{}
	for _, n := range names {
		if n.Kind == symbol.NameApp {
			apps = append(apps, n.Text)
		} else {
			other = append(other, n.Text)
		}
	}
	return other, apps
}

func newArtifactJSON(r *row.Record) artifactJSON {
	j := artifactJSON{Artifact: r.ID.String(), State: string(r.State), ImageBase: "0x0"}
	j.Names, j.Apps = namesJSON(r.Names)
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil {
			j.Loads = append(j.Loads, loadJSON{Load: fmt.Sprintf("%x", l.Load), Published: l == r.Published, At: &l.At, Parser: l.Parser})
		}
	}
	for _, p := range r.Progress {
		j.Loads = append(j.Loads, loadJSON{Load: fmt.Sprintf("%x", p.Load), Lease: &p.Lease, Owner: p.Owner})
	}
	if l := r.Published; l != nil {
		j.Kind, j.Arch, j.Object, j.Member = l.Artifact.Kind, l.Artifact.Arch, l.Source.URL, l.Source.Member
		j.ImageBase = fmt.Sprintf("%#x", l.Artifact.Base)
		j.Ranges, j.Rows, j.Bytes, j.Quality = l.Ranges, l.Rows, l.Bytes, summary(l.Quality)
		if j.Kind == symbol.R8 {
			j.Ranges, j.Classes, j.Members = 0, l.Ranges, l.Members
		}
	}
	return j
}

// Run lists artifacts in the order of their ids.
func (j artifactsJob) Run(p *process) error {
	s, err := p.openRecords(true)
	if err != nil {
		return err
	}
	defer s.Close()
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	show := func(r *row.Record) error {
		a := newArtifactJSON(r)
		if j.App != "" && !containsFold(a.Apps, j.App) {
			return nil
		}
		if p.flags.JSON {
			return p.printJSON(a)
		}
		file := ""
		for _, n := range r.Names {
			if n.Kind == symbol.NameFile {
				file = n.Text
			}
		}
		count, of := a.Ranges, "ranges"
		if a.Kind == symbol.R8 {
			count, of = a.Classes, "classes"
		}
		_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d %s\t%d bytes\t%s\n", a.Artifact, a.Kind, a.Arch, file, count, of, a.Bytes, strings.Join(a.Apps, ","))
		return err
	}
	if j.Artifact != "" {
		err = j.one(p, s, show)
	} else {
		err = s.Artifacts(p.ctx, show)
	}
	if err != nil {
		return err
	}
	return table.Flush()
}

// one shows the artifacts that a name leads to; several are no error here.
func (j artifactsJob) one(p *process, s *records, show func(*row.Record) error) error {
	r := lookup.New(s.Store, s.kek, lookup.Options{}).Resolve(p.ctx, j.Artifact, lookup.Narrow{App: j.App})
	if r.Record != nil {
		return show(r.Record)
	}
	for _, id := range r.Candidates {
		rec, err := s.Artifact(p.ctx, id)
		if err != nil {
			return err
		}
		if rec != nil {
			if err := show(rec); err != nil {
				return err
			}
		}
	}
	if len(r.Candidates) == 0 {
		return fmt.Errorf("%s: %s: %s", j.Artifact, r.Status, reason(symbol.Answer{Status: r.Status, Err: r.Err}))
	}
	return nil
}

func containsFold(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}
