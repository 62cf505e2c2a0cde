package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
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
	Published *row.Loaded // nil: nothing was published yet
	Previous  *row.Loaded // kept for rollback; nil: none
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
