package ingest

import (
	"slices"
	"time"
)

// Report is what a run did: the last line that the job prints.
type Report struct {
	Job     string    `json:"job"`
	Run     string    `json:"run,omitempty"`
	Shard   string    `json:"shard,omitempty"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`

	// Account names what this process told, so that a reader recognizes what reaches it twice.
	Account  string   `json:"account,omitempty"`
	Accounts []string `json:"accounts,omitempty"` // that a sum is made of
	Runs     []string `json:"runs,omitempty"`     // that a sum is made of
	Attempts int      `json:"attempts,omitempty"` // of the run, that the counts sum; 0: one
	// Recounted is of how many processes that died the ledger told what they did.
	Recounted int      `json:"recounted,omitempty"`
	Error     string   `json:"error,omitempty"`  // why the run did not do its work
	Errors    []string `json:"errors,omitempty"` // of the runs that a sum is made of
	// Earlier is what runs before this one did and did not tell.
	Earlier *Report `json:"earlier,omitempty"`

	// Stages are the seconds spent by stage, of all workers together.
	Stages map[string]float64 `json:"stages,omitempty"`

	Objects   ObjectCounts `json:"objects"`
	Artifacts int          `json:"artifacts"` // published by this run
	IDs       []string     `json:"artifact_ids,omitempty"`
	Ranges    uint64       `json:"ranges"`
	Classes   uint64       `json:"classes,omitempty"` // of mappings
	Bytes     ByteCounts   `json:"bytes"`

	Rejected []Rejection `json:"rejected"` // newly rejected: objects, and members of objects
	Failed   []Rejection `json:"failed,omitempty"`
	// Sources are those that could not be opened, or not be listed to their end.
	Sources []Rejection `json:"sources,omitempty"`
	// Warnings are what parsers of objects that were loaded want known: bad lines of
	// mappings, by line, column and reason.
	Warnings []Rejection `json:"warnings,omitempty"`
	// Untold is how many more were rejected, failed or warned of than the lists name: the
	// report is one line.
	Untold int `json:"untold,omitempty"`
	// Held are artifacts whose load was much worse than the published one, which stays.
	Held []Rejection `json:"held,omitempty"`
	// Conflicts are artifacts of other owners that objects of this run may not replace, 1,000 at most; Conflicted counts them.
	Conflicts  []Conflict `json:"conflicts,omitempty"`
	Conflicted int        `json:"conflicted,omitempty"`
	// Wanted are names that had been asked for in vain and that this run brought: stacks that have them can be run again.
	Wanted  []WantedName `json:"wanted,omitempty"`
	Missing []string     `json:"missing_parts,omitempty"` // companions that loads of this run still wait for

	LakeFiles []string `json:"lake_files,omitempty"` // data files that this run put into the lake, 1,000 at most
}

// ObjectCounts counts objects by what became of them.
type ObjectCounts struct {
	Seen     int            `json:"seen"`    // listed, after include, exclude and shard
	New      int            `json:"new"`     // of these: never seen, changed, or left by an earlier run
	Pending  int            `json:"pending"` // new ones this run did not get to
	Loaded   int            `json:"loaded"`
	Kept     int            `json:"kept"`
	Conflict int            `json:"conflict,omitempty"` // another owner's load stays in place of all they hold
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

// ByteCounts counts what went through.
type ByteCounts struct {
	Read   int64  `json:"read"`   // sizes of the objects opened
	Stored uint64 `json:"stored"` // sealed rows
	Lake   int64  `json:"lake"`
}

// Rejection names an object or member and what is wrong with it.
type Rejection struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

// maxTold bounds each list of a report.
const maxTold = 1000

// unfail takes an object off those that failed.
func (r *Report) unfail(url string) {
	r.Failed = slices.DeleteFunc(r.Failed, func(f Rejection) bool { return f.URL == url })
}

func (r *Report) tell(list *[]Rejection, all ...Rejection) {
	n := min(len(all), maxTold-len(*list))
	*list = append(*list, all[:n]...)
	r.Untold += len(all) - n
}
