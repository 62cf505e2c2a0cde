package row

import (
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// State says what may be done with an artifact's record. Durable.
type State string

// The states of a record.
const (
	Live     State = "live"     // answered from Published; ingest may replace it
	Pinned   State = "pinned"   // rolled back: only a forced ingest replaces it
	Shredded State = "shredded" // its keys were destroyed on purpose
	// Forgotten: removed on purpose; the record stays, empty, so that it does not come back.
	Forgotten State = "forgotten"
)

// Sticky: only a forced ingest replaces what the record says.
func (s State) Sticky() bool { return s == Pinned || s.Removed() }

// Removed: somebody took the artifact away on purpose.
func (s State) Removed() bool { return s == Shredded || s == Forgotten }

// Record is all that a store knows of one artifact: the "a" record. Publishing
// a load is one swap of it. A Record is read only for everybody but the one
// who made it: to change one, copy it and swap.
type Record struct {
	ID        symbol.ID
	State     State
	Published *Loaded // nil: nothing was published yet
	Previous  *Loaded // kept for rollback; nil: none
	Progress  []Progress
	// Names are all names of the artifact, those of its configuration
	// (APP@BUILD) too: the "n" records can be made anew from them.
	Names []symbol.Name

	raw []byte // as read: what SwapArtifact compares with
}

// HasName reports whether the artifact has a name of that kind, in any case.
func (r *Record) HasName(kind symbol.NameKind, text string) bool {
	return slices.ContainsFunc(r.Names, func(n symbol.Name) bool { return n.Kind == kind && strings.EqualFold(n.Text, text) })
}

// Progress is a load under way. Whoever finds it past its lease may remove it.
type Progress struct {
	Load  sinks.Load
	Owner string
	Lease time.Time
}

// Loaded is one complete load of an artifact.
type Loaded struct {
	Load       sinks.Load
	Artifact   symbol.Artifact
	KeyVersion uint32 // of the store key that wraps the data key
	WrappedKey []byte // the sealed data key; nil: destroyed
	Format     string // name of the format that read it
	Parser     int    // its version
	Rank       symbol.Rank
	Fence      Fence
	Rows       uint64 // of ranges or classes
	Ranges     uint64 // or classes
	Members    uint64 // of the classes
	TextRows   uint64 // that hold texts of sources, without their directory; 0: there is none either
	TextsLeft  uint64 // texts that came and are not served
	Bytes      uint64 // keys and values of all rows, the dictionary too
	Dropped    Dropped
	Quality    symbol.Quality
	Digest     [32]byte // over the content alone: equal for equal content, whatever the keys, the load and the time
	Source     Source
	// Claim is the standing that replacing this load takes, where it is not that of Source: the load adds to an artifact
	// that belongs to somebody else, or that somebody else confirmed. nil: Source's.
	Claim  *Standing
	Layout symbol.Layout
	At     time.Time
	By     WorkerID // the account that tells of it
	Copied bool     // from another store, without the ledger's entry of its object
}

// Dropped counts the ranges that no row could hold, and where the first was.
type Dropped struct {
	Ranges uint64 `json:"ranges"`
	First  uint64 `json:"first"` // position
}

// Source is the object that a load was read from.
type Source struct {
	URL    string `json:"url"`
	Member string `json:"member,omitempty"`
	ETag   string `json:"etag,omitempty"`
	Size   int64  `json:"size"`
	Standing
}
