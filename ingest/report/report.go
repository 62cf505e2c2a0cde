// Package report is the report of a run: the JSON line that the job prints, and that accounts of the
// outbox keep.
package report

import (
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Report tells what a run did. The job prints it as its last line.
type Report struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	Shard   string    `json:"shard,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	// Account names this process's account, so that a reader recognizes a report that reaches it twice.
	Account  string   `json:"account,omitempty"`
	Accounts []string `json:"accounts,omitempty"` // of a sum
	Runs     []string `json:"runs,omitempty"`     // of a sum
	Attempts int      `json:"attempts,omitempty"` // of the run, in this sum; 0: one
	// Recounted is the number of dead processes. The ledger told their work.
	Recounted int      `json:"recounted,omitempty"`
	Error     string   `json:"error,omitempty"`  // why the run did not do its work
	Errors    []string `json:"errors,omitempty"` // of the runs of a sum
	// Earlier sums earlier runs that were not told.
	Earlier *Report `json:"earlier,omitempty"`

	// Stages are the seconds that all workers together spent in each stage.
	Stages map[string]float64 `json:"stages,omitempty"`

	Objects   ObjectCounts `json:"objects"`
	Artifacts int          `json:"artifacts"` // published by this run
	IDs       []string     `json:"artifact_ids,omitempty"`
	Ranges    uint64       `json:"ranges"`
	Classes   uint64       `json:"classes,omitempty"` // of mappings
	Bytes     ByteCounts   `json:"bytes"`

	Rejected []Rejection `json:"rejected"` // newly rejected: objects, and members of objects
	Failed   []Rejection `json:"failed,omitempty"`
	// Sources could not be opened, or not be listed to their end.
	Sources []Rejection `json:"sources,omitempty"`
	// Warnings come from the parsers of loaded objects: bad lines of mappings, by line, column and
	// reason.
	Warnings []Rejection `json:"warnings,omitempty"`
	// Untold counts rejections, failures and warnings beyond the lists, because the report is one line.
	Untold int `json:"untold,omitempty"`
	// Held are artifacts with a load that was much worse than the published load, which stays.
	Held []Rejection `json:"held,omitempty"`
	// Conflicts are artifacts of other owners that objects of this run may not replace, 1,000 at most.
	// Conflicted counts all of them.
	Conflicts  []Conflict `json:"conflicts,omitempty"`
	Conflicted int        `json:"conflicted,omitempty"`
	// Wanted are names that this run brought and that were asked for in vain before. Stacks with them can
	// be run again.
	Wanted  []WantedName `json:"wanted,omitempty"`
	Missing []string     `json:"missing_parts,omitempty"` // companions that loads of this run still wait for

	LakeFiles []string `json:"lake_files,omitempty"` // data files that this run put into the lake, 1,000 at most
	// TablesBehind are the Iceberg tables that do not show what the lake names, with the reason. The next run brings them up.
	TablesBehind []Rejection `json:"tables_behind,omitempty"`
}

// ObjectCounts counts objects by their outcome.
type ObjectCounts struct {
	Seen     int            `json:"seen"`    // listed, after include, exclude and shard
	New      int            `json:"new"`     // of these: never seen, changed, or left by an earlier run
	Pending  int            `json:"pending"` // new ones this run did not get to
	Loaded   int            `json:"loaded"`
	Kept     int            `json:"kept"`
	Conflict int            `json:"conflict,omitempty"` // loads of another owner keep all their artifacts out
	Skipped  map[string]int `json:"skipped"`            // by reason
	Rejected int            `json:"rejected"`
	Failed   int            `json:"failed"`
	Gone     int            `json:"gone"` // in the ledger, no longer listed
	Renamed  int            `json:"renamed,omitempty"`
	// Elsewhere are at work in other processes.
	Elsewhere int `json:"elsewhere,omitempty"`
}

// WantedName is a name that was asked for before it was there.
type WantedName struct {
	Name     string `json:"name"`
	Artifact string `json:"artifact"`
	Asked    uint64 `json:"asked"` // frames
}

// ByteCounts counts bytes.
type ByteCounts struct {
	Read   int64  `json:"read"`   // sizes of the objects opened
	Stored uint64 `json:"stored"` // sealed rows
	Lake   int64  `json:"lake"`
}

// Rejection names an object or member, and its error.
type Rejection struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

// MaxListed bounds each list of a report.
const MaxListed = 1000

// DropFailed removes an object from the list of failures.
func (r *Report) DropFailed(url string) {
	r.Failed = slices.DeleteFunc(r.Failed, func(f Rejection) bool { return f.URL == url })
}

// Append adds rejections to a list of the report, as far as it has room. Untold counts the others.
func (r *Report) Append(list *[]Rejection, all ...Rejection) {
	n := min(len(all), MaxListed-len(*list))
	*list = append(*list, all[:n]...)
	r.Untold += len(all) - n
}

// Conflict is a conflict in reports and listings.
type Conflict struct {
	Artifact string         `json:"artifact"`
	Kept     catalog.Origin `json:"kept"`     // the load that stays published, with its owner
	KeptOut  catalog.Origin `json:"kept_out"` // the load that may not replace it
	At       time.Time      `json:"at"`
	Accepted bool           `json:"accepted,omitempty"` // the next ingest of its source loads it
}

// NewConflict returns c for a report.
func NewConflict(c *catalog.Conflict) Conflict {
	return Conflict{Artifact: c.Artifact.String(), Kept: c.Kept, KeptOut: c.KeptOut, At: c.At, Accepted: !c.Accepted.IsZero()}
}

// AddConflicts adds conflicts that the report does not name yet.
func (r *Report) AddConflicts(list ...Conflict) {
	for _, told := range list {
		if slices.ContainsFunc(r.Conflicts, func(o Conflict) bool {
			return o.Artifact == told.Artifact && o.KeptOut.URL == told.KeptOut.URL && o.KeptOut.Member == told.KeptOut.Member
		}) {
			continue
		}
		r.Conflicted++
		if len(r.Conflicts) < MaxListed {
			r.Conflicts = append(r.Conflicts, told)
		}
	}
}

// CountObject counts an object that ended in a state.
func (r *Report) CountObject(url string, state catalog.ObjectState, reason string, rejected []Rejection) {
	n := &r.Objects
	switch state {
	case catalog.ObjectLoaded:
		n.Loaded++
	case catalog.ObjectKept:
		n.Kept++
	case catalog.ObjectConflict:
		n.Conflict++
	case catalog.ObjectSkipped:
		n.Skipped[ledger.ShortReason(reason)]++
	case catalog.ObjectRejected:
		n.Rejected++
	case catalog.ObjectPending:
		n.Pending++
	case catalog.ObjectGone:
		n.Gone++
	case catalog.ObjectFailed:
		n.Failed++
		r.Append(&r.Failed, Rejection{url, reason})
	}
	if state != catalog.ObjectFailed && state != catalog.ObjectPending {
		r.Append(&r.Rejected, rejected...)
	}
}

// AddChild adds the report of a process that this run started for one object. The rejections of the
// child are not added: see CountObject.
func (r *Report) AddChild(c *Report) {
	r.Artifacts += c.Artifacts
	r.IDs = UpTo(r.IDs, c.IDs, MaxListed)
	r.Wanted = UpTo(r.Wanted, c.Wanted, MaxListed)
	r.Ranges += c.Ranges
	r.Classes += c.Classes
	r.Bytes.Read += c.Bytes.Read
	r.Bytes.Stored += c.Bytes.Stored
	r.Bytes.Lake += c.Bytes.Lake
	r.Append(&r.Warnings, c.Warnings...)
	r.Append(&r.Held, c.Held...)
	r.AddConflicts(c.Conflicts...)
	r.LakeFiles = append(r.LakeFiles, c.LakeFiles...)
}

// CountLoad counts a load that was published.
func (r *Report) CountLoad(l *row.Loaded) {
	r.Artifacts++
	if l.Artifact.Kind.HasClasses() {
		r.Classes += l.Ranges
	} else {
		r.Ranges += l.Ranges
	}
	r.Bytes.Stored += l.Bytes
	r.AddArtifacts(l.Artifact.ID)
}

// AddArtifacts names published artifacts, as far as the report has room.
func (r *Report) AddArtifacts(ids ...symbol.ID) {
	for _, id := range ids[:min(len(ids), max(0, MaxListed-len(r.IDs)))] {
		r.IDs = append(r.IDs, id.String())
	}
}

// AddWanted adds a wanted name that came.
func (r *Report) AddWanted(w *catalog.Wanted, id symbol.ID) {
	if len(r.Wanted) < MaxListed {
		r.Wanted = append(r.Wanted, WantedName{Name: w.Name, Artifact: id.String(), Asked: w.Asked})
	}
}

// AddLakeFiles counts bytes of the lake, and names their files as far as the report has room.
func (r *Report) AddLakeFiles(files []string, bytes int64) {
	r.Bytes.Lake += bytes
	r.LakeFiles = UpTo(r.LakeFiles, files, MaxLakeFiles)
}

// Rejected lists the artifacts of an object that were rejected.
func Rejected(o *catalog.Object) (list []Rejection) {
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeRejected {
			list = append(list, Rejection{ledger.Place(o.URL, a.Member), a.Error})
		}
	}
	return list
}

// Add adds the counts and lists of another report.
func (r *Report) Add(o *Report) {
	n, m := &r.Objects, &o.Objects
	for _, c := range []struct {
		to   *int
		more int
	}{{&n.Seen, m.Seen}, {&n.New, m.New}, {&n.Pending, m.Pending}, {&n.Loaded, m.Loaded}, {&n.Kept, m.Kept}, {&n.Conflict, m.Conflict}, {&n.Rejected, m.Rejected}, {&n.Failed, m.Failed},
		{&n.Gone, m.Gone}, {&n.Renamed, m.Renamed}, {&n.Elsewhere, m.Elsewhere}, {&r.Artifacts, o.Artifacts}, {&r.Recounted, o.Recounted}, {&r.Untold, o.Untold}} {
		*c.to += c.more
	}
	for reason, count := range m.Skipped {
		n.Skipped[reason] += count
	}
	for stage, seconds := range o.Stages {
		if r.Stages == nil {
			r.Stages = map[string]float64{}
		}
		r.Stages[stage] += seconds
	}
	r.Seconds += o.Seconds
	r.Ranges += o.Ranges
	r.Classes += o.Classes
	r.Bytes.Read += o.Bytes.Read
	r.Bytes.Stored += o.Bytes.Stored
	r.Bytes.Lake += o.Bytes.Lake
	r.Append(&r.Rejected, o.Rejected...)
	r.Append(&r.Failed, o.Failed...)
	for _, s := range o.Sources { // shards find the same ones
		if !slices.ContainsFunc(r.Sources, func(x Rejection) bool { return x.URL == s.URL }) {
			r.Append(&r.Sources, s)
		}
	}
	for _, t := range o.TablesBehind { // shards find the same ones
		if !slices.ContainsFunc(r.TablesBehind, func(x Rejection) bool { return x.URL == t.URL }) {
			r.Append(&r.TablesBehind, t)
		}
	}
	r.Append(&r.Warnings, o.Warnings...)
	r.Append(&r.Held, o.Held...)
	r.AddConflicts(o.Conflicts...)
	r.Conflicted += max(0, o.Conflicted-len(o.Conflicts))
	r.Wanted = UpTo(r.Wanted, o.Wanted, MaxListed)
	r.IDs = UpTo(r.IDs, o.IDs, MaxListed)
	r.LakeFiles = UpTo(r.LakeFiles, o.LakeFiles, MaxLakeFiles)
	r.Missing = UpTo(r.Missing, o.Missing, MaxListed)
	if o.Error != "" {
		r.Errors = UpTo(r.Errors, []string{o.Error}, MaxListed)
	}
}

// UpTo appends as much of b as there is room for.
func UpTo[T any](a, b []T, most int) []T { return append(a, b[:min(len(b), max(0, most-len(a)))]...) }

// MaxLakeFiles bounds the list of the report.
const MaxLakeFiles = 1000
