package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// State says how an artifact's record may change. Durable.
type State string

// The states of a record.
const (
	Live      State = "live"      // readers get Published; ingest may replace it
	Pinned    State = "pinned"    // rolled back: only a forced ingest replaces it
	Shredded  State = "shredded"  // a person destroyed its keys
	Forgotten State = "forgotten" // a person removed it: the empty record keeps it from coming back
)

// Sticky reports whether only a forced ingest replaces the record's load.
func (s State) Sticky() bool { return s == Pinned || s.Removed() }

// Removed reports whether a person took the artifact away.
func (s State) Removed() bool { return s == Shredded || s == Forgotten }

// Record holds all that a store knows of one artifact. Publishing a load is one swap of it.
type Record struct {
	ID        symbol.ID
	State     State
	Published *row.Loaded // nil: no load was published yet
	Previous  *row.Loaded // kept for a rollback; nil: none
	Progress  []Progress
	// Names are all names of the artifact, also those from its configuration (APP@BUILD). The "n"
	// records can be made anew from them.
	Names []symbol.Name

	stored
}

// HasName reports whether the artifact has a name of that kind, in any case.
func (r *Record) HasName(kind symbol.NameKind, text string) bool {
	return slices.ContainsFunc(r.Names, func(n symbol.Name) bool { return n.Kind == kind && strings.EqualFold(n.Text, text) })
}

// Progress is a load under way. Any process may remove it once its lease is over.
type Progress struct {
	Load  sinks.Load
	Owner string
	Lease time.Time
}
