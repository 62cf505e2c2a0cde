package discover

import (
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Task is an object that a run is to read, and how far the run is with it. One goroutine at a time
// has it.
type Task struct {
	Source  *CheckedSource
	Entry   bucket.Entry
	URL     string
	Ledger  *catalog.Object // the ledger's entry; nil: none
	Sidecar bool            // a sidecar lies beside it
	Named   bool            // the ledger finds it by its names
	Suspect bool            // it was open when a process died
	Fresh   bool            // the run is to read it: for objects that no listing gave

	// Owed are the obligations that the run derives the object again for, as they stood before it
	// was read. Rederive: an earlier run has counted the object already.
	Owed     []*catalog.Obligation
	Rederive bool

	// Before is the ledger's entry of the time before this run noted its attempt, and Begun says
	// that it did. Seen: the ledger noted an earlier attempt. Heir: this worker had it and died.
	Before *catalog.Object
	Begun  bool
	Seen   bool
	Heir   row.WorkerID

	Alone   bool // the run reads nothing else beside it
	Retries int  // how often it changed while the run read it
}

// Round is a part of a source's objects, compared with the ledger.
type Round struct {
	Tasks    []*Task
	Suspects []*Task           // objects that were open when a process died
	Gone     []*catalog.Object // objects that the source has no longer
	Seen     int               // objects that the source has and the run wants

	more    bool
	partial error // wraps bucket.ErrPartial; nil: nothing is missing
}

// Part moves suspects out of Tasks. A run reads them one at a time, so that the next death has one
// culprit.
func (r *Round) Part() {
	var rest []*Task
	for _, t := range r.Tasks {
		if t.Suspect {
			r.Suspects = append(r.Suspects, t)
		} else {
			rest = append(rest, t)
		}
	}
	r.Tasks = rest
}

// Disputed reports whether the ledger knows of a conflict about an artifact of t's object.
func (t *Task) Disputed(id symbol.ID, member string) bool {
	return t.Ledger != nil && slices.ContainsFunc(t.Ledger.Artifacts, func(a catalog.ObjectArtifact) bool {
		return a.ID == id && a.Member == member && a.Outcome == ledger.OutcomeConflict
	})
}
