package wire

import (
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

// Object is a ledger entry.
type Object struct {
	URL       string         `json:"url"`
	ETag      string         `json:"etag"`
	Size      int64          `json:"size"`
	State     string         `json:"state"`
	Reason    string         `json:"reason,omitempty"`
	Attempts  int            `json:"attempts"`
	First     time.Time      `json:"first"`
	Last      time.Time      `json:"last"`
	Seconds   float64        `json:"seconds"`
	Run       string         `json:"run"`
	App       string         `json:"app,omitempty"`
	Owner     string         `json:"owner,omitempty"` // of the source that it was taken from
	Rank      int            `json:"rank,omitempty"`
	Artifacts []ObjectMember `json:"artifacts"`
	// Conflicts are the open ones, with both sides.
	Conflicts []report.Conflict `json:"conflicts,omitempty"`
}

// ObjectMember says what became of one artifact of an object.
type ObjectMember struct {
	Artifact string `json:"artifact,omitempty"`
	Member   string `json:"member"`
	Outcome  string `json:"outcome"`
	Error    string `json:"error,omitempty"`
}

// NewObject returns the form of a ledger entry, without its conflicts.
func NewObject(o *catalog.Object) Object {
	out := Object{URL: o.URL, ETag: o.ETag, Size: o.Size, State: string(o.State), Reason: o.Reason, Attempts: o.Attempts,
		First: o.First, Last: o.Last, Seconds: o.Seconds, Run: o.Run, App: o.App, Owner: o.Standing.Owner, Rank: o.Standing.Rank,
		Artifacts: []ObjectMember{}}
	for _, a := range o.Artifacts {
		m := ObjectMember{Member: a.Member, Outcome: a.Outcome, Error: a.Error}
		if a.ID != (symbol.ID{}) {
			m.Artifact = a.ID.String()
		}
		out.Artifacts = append(out.Artifacts, m)
	}
	return out
}

// Wanted is a name that stacks asked for and that led to no artifact.
type Wanted struct {
	Name  string    `json:"name"`
	File  string    `json:"file,omitempty"`
	Kind  string    `json:"kind,omitempty"` // format of the stacks
	Asked uint64    `json:"asked"`          // frames
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Near says what the store knows of the file, where it was asked for.
	Near *Near `json:"near,omitempty"`
}

// Near is what a store knows of a file that was asked for with an id that it does not have.
type Near struct {
	// Artifacts of the same file name are stored: other builds. The count ends at 16.
	Artifacts int `json:"artifacts"`
	// Object has the name or the file, and is not loaded: its state and the reason.
	Object string `json:"object,omitempty"`
	State  string `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// NewWanted returns the form of a wanted name.
func NewWanted(w *catalog.Wanted) Wanted {
	return Wanted{Name: w.Name, File: w.File, Kind: w.Kind, Asked: w.Asked, First: w.First, Last: w.Last}
}
