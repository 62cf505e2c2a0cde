package wire

import (
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Load is one load of an artifact as --json prints it.
type Load struct {
	Load      string     `json:"load"`
	Published bool       `json:"published"`
	At        *time.Time `json:"at,omitempty"`
	Parser    int        `json:"parser,omitempty"`
	Lease     *time.Time `json:"lease,omitempty"` // set while the load is in progress
	Owner     string     `json:"owner,omitempty"`
}

// Artifact is one artifact as --json prints it, stored or inspected.
type Artifact struct {
	Artifact  string      `json:"artifact"`
	Kind      symbol.Kind `json:"kind,omitempty"`
	Arch      string      `json:"arch,omitempty"`
	Names     []string    `json:"names"`
	Apps      []string    `json:"apps"`
	File      string      `json:"file,omitempty"` // its file name; of several, the last
	Object    string      `json:"object,omitempty"`
	Member    string      `json:"member"`
	Owner     string      `json:"owner,omitempty"` // its owner among the owners of sources
	Rank      int         `json:"rank,omitempty"`  // what a source of another owner must exceed to replace it
	ImageBase string      `json:"image_base"`
	State     string      `json:"state,omitempty"`
	Loads     []Load      `json:"loads,omitempty"`
	Ranges    uint64      `json:"ranges"`
	Classes   uint64      `json:"classes,omitempty"` // of a mapping, instead of ranges
	Members   uint64      `json:"members,omitempty"` // of its classes
	Rows      uint64      `json:"rows,omitempty"`
	Bytes     uint64      `json:"bytes,omitempty"`
	Unwind    *Unwind     `json:"unwind,omitempty"` // its call frame information, if it has any
	Quality   *Quality    `json:"quality,omitempty"`
}

// Unwind counts the call frame information of an artifact.
type Unwind struct {
	Ranges uint64 `json:"ranges"`
	Rows   uint64 `json:"rows,omitempty"`   // of a load, without the row of rules
	Bytes  uint64 `json:"bytes,omitempty"`  // of these rows, a part of the artifact's
	Broken uint32 `json:"broken,omitempty"` // functions and sections that were dropped as damaged
}

// Quality is symbol.Quality in the shares that people compare.
type Quality struct {
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

// NewQuality sums a load up.
func NewQuality(q symbol.Quality) *Quality {
	missing := q.Missing
	if missing == nil {
		missing = []string{}
	}
	return &Quality{q.Units, q.UnitsBroken, q.LinesBroken, Share(q.Covered, q.Text), Share(q.WithLine, q.Covered), Share(q.WithInline, q.Covered), missing,
		q.Lines, q.BadLines, q.Warnings}
}

// Coverage says how much of a store's code has an answer, by bytes over all published loads that know how many there are.
type Coverage struct {
	Text   float64 `json:"text"`   // share of code with an answer
	Line   float64 `json:"line"`   // of that, with a line
	Inline float64 `json:"inline"` // of that, with inlined calls
}

// NewCoverage returns the shares of a sum of qualities.
func NewCoverage(q symbol.Quality) Coverage {
	return Coverage{Share(q.Covered, q.Text), Share(q.WithLine, q.Covered), Share(q.WithInline, q.Covered)}
}

// Names parts the apps that an artifact belongs to from its other names.
func Names(names []symbol.Name) (other, apps []string) {
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

// NewArtifact is what a record says.
func NewArtifact(r *catalog.Record) Artifact {
	j := Artifact{Artifact: r.ID.String(), State: string(r.State), ImageBase: "0x0"}
	j.Names, j.Apps = Names(r.Names)
	for _, n := range r.Names {
		if n.Kind == symbol.NameFile {
			j.File = n.Text
		}
	}
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil {
			j.Loads = append(j.Loads, Load{Load: fmt.Sprintf("%x", l.Load), Published: l == r.Published, At: &l.At, Parser: l.Parser})
		}
	}
	for _, p := range r.Progress {
		j.Loads = append(j.Loads, Load{Load: fmt.Sprintf("%x", p.Load), Lease: &p.Lease, Owner: p.Owner})
	}
	if l := r.Published; l != nil {
		j.Kind, j.Arch, j.Object, j.Member = l.Artifact.Kind, l.Artifact.Arch, l.Source.URL, l.Source.Member
		c := l.Claimed()
		j.Owner, j.Rank = c.Owner, c.Rank
		j.ImageBase = fmt.Sprintf("%#x", l.Artifact.Base)
		j.Ranges, j.Rows, j.Bytes, j.Quality = l.Ranges, l.Rows, l.Bytes, NewQuality(l.Quality)
		if l.UnwindRanges > 0 || l.Quality.UnwindBroken > 0 {
			j.Unwind = &Unwind{l.UnwindRanges, l.UnwindRows(), l.UnwindBytes, l.Quality.UnwindBroken}
		}
		if j.Kind.HasClasses() {
			j.Ranges, j.Classes, j.Members = 0, l.Ranges, l.Members
		}
	}
	return j
}

// Share is part of whole to three digits; 0 of nothing.
func Share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part*1000/whole) / 1000
}
