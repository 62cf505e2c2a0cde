package wire

import (
	"encoding/json"
	"time"

	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/sinks/catalog"
)

// Status is what an operator asks first, by the last survey of the store.
type Status struct {
	Taken     time.Time      `json:"taken"` // when the survey began: what changed since is not in it
	Seconds   float64        `json:"seconds"`
	Records   int            `json:"records"` // that it read
	Artifacts int            `json:"artifacts"`
	Kinds     map[string]int `json:"kinds"`    // artifacts by kind
	Loading   int            `json:"loading"`  // loads in progress, abandoned ones too until gc
	Obsolete  int            `json:"obsolete"` // loads that were replaced or never published: gc removes their rows
	Ranges    uint64         `json:"ranges"`
	Rows      uint64         `json:"rows"`
	Bytes     uint64         `json:"bytes"` // sealed rows of published loads
	Coverage  Coverage       `json:"coverage"`
	Objects   map[string]int `json:"objects"` // by state
	Backlog   int            `json:"backlog"`
	// LagSeconds is the age of the oldest object that is listed and not done.
	LagSeconds float64        `json:"lag_seconds"`
	Rejects    map[string]int `json:"rejects"`   // rejected objects by kind of reason
	Conflicts  int            `json:"conflicts"` // between owners of sources, not settled
	Untold     int            `json:"untold"`    // processes that ended without telling their report
	Runs       int            `json:"runs"`
}

// NewStatus returns the form of a survey.
func NewStatus(s *survey.Survey, now time.Time) Status {
	return Status{Taken: s.Taken, Seconds: s.Took.Seconds(), Records: s.Read, Artifacts: s.Artifacts, Kinds: s.Kinds, Loading: s.Loading,
		Obsolete: s.Obsolete, Ranges: s.Ranges, Rows: s.Rows, Bytes: s.Bytes, Coverage: NewCoverage(s.Quality), Objects: s.Objects,
		Backlog: s.Backlog, LagSeconds: s.Lag(now).Seconds(), Rejects: s.Rejects, Conflicts: s.Conflicts, Untold: s.Untold, Runs: len(s.Runs)}
}

// Run is one run as the ledger tells of it: by the objects that no later run touched.
type Run struct {
	Run     string         `json:"run"`
	First   time.Time      `json:"first"` // an object was tried first, and last
	Last    time.Time      `json:"last"`
	Objects map[string]int `json:"objects"` // by state
	Rejects map[string]int `json:"rejects"` // rejected objects by kind of reason
	Bytes   int64          `json:"bytes"`   // sizes of the objects
	Seconds float64        `json:"seconds"` // of work on the objects; several may be at work side by side
	// LagSeconds is the median time from an object's upload until it was done.
	LagSeconds float64 `json:"lag_seconds"`
	Working    int     `json:"working"` // processes that work, or died
	Untold     int     `json:"untold"`  // processes with a report that was not told yet
	// FirstObject and LastObject are the ends of its objects in the order of their URLs.
	FirstObject string `json:"first_object,omitempty"`
	LastObject  string `json:"last_object,omitempty"`
}

// NewRun returns the form of a run.
func NewRun(r *survey.Run) Run {
	return Run{Run: r.Run, First: r.First, Last: r.Last, Objects: r.Objects, Rejects: r.Rejects, Bytes: r.Bytes, Seconds: r.Seconds,
		LagSeconds: r.Lag.Seconds(), Working: r.Working, Untold: r.Untold, FirstObject: r.From, LastObject: r.Until}
}

// RunDetail is a run with the accounts of its processes, as long as the store keeps them.
type RunDetail struct {
	Taken     time.Time    `json:"taken"` // when the survey began: what changed since is not in it
	Run       Run          `json:"run"`
	Processes []RunProcess `json:"processes"`
}

// RunProcess is the account of one process of a run.
type RunProcess struct {
	Account string     `json:"account"`
	Shard   string     `json:"shard,omitempty"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"` // absent: it works, or died
	Told    *time.Time `json:"told,omitempty"`
	// Report is the report of the process, as symlake ingest prints it.
	Report json.RawMessage `json:"report,omitempty"`
}

// NewRunProcess returns the form of an account.
func NewRunProcess(a *catalog.Account) RunProcess {
	p := RunProcess{Account: a.ID.String(), Shard: a.Shard, Started: a.Started, Report: a.Report}
	if !a.Ended.IsZero() {
		p.Ended = &a.Ended
	}
	if !a.Told.IsZero() {
		p.Told = &a.Told
	}
	return p
}
