package row

import (
	"time"

	"github.com/symlake/symlake/formats/symbol"
)

// ObjectState is where an object of the ledger stands. Durable.
type ObjectState string

// The states of an object.
const (
	ObjectPending  ObjectState = "pending"  // listed, not opened yet
	ObjectLoading  ObjectState = "loading"  // an attempt was noted before it was opened
	ObjectLoaded   ObjectState = "loaded"   // all its artifacts are published
	ObjectKept     ObjectState = "kept"     // what is published is better
	ObjectSkipped  ObjectState = "skipped"  // no format knows it
	ObjectRejected ObjectState = "rejected" // quarantined
	ObjectFailed   ObjectState = "failed"   // the environment failed; tried again
	ObjectGone     ObjectState = "gone"     // no longer listed
)

// Object is the ledger's entry of one object: the "o" record.
type Object struct {
	URL         string           `json:"-"` // the record's key
	ETag        string           `json:"etag,omitempty"`
	Size        int64            `json:"size"`
	Modified    time.Time        `json:"modified,omitzero"`
	State       ObjectState      `json:"state"`
	Reason      string           `json:"reason,omitempty"`
	Attempts    int              `json:"attempts,omitempty"`
	First, Last time.Time        `json:"-"`
	Seconds     float64          `json:"seconds,omitempty"`
	Run         string           `json:"run,omitempty"`
	Artifacts   []ObjectArtifact `json:"artifacts,omitempty"`
	Parsers     map[string]int   `json:"parsers,omitempty"` // versions of the formats that looked at it

	raw []byte // as read: what SwapObject compares with
}

// ObjectArtifact is what became of one artifact of an object.
type ObjectArtifact struct {
	ID      symbol.ID `json:"id"`
	Member  string    `json:"member,omitempty"`
	Outcome string    `json:"outcome"` // loaded, kept, skipped, rejected
	Error   string    `json:"error,omitempty"`
}
