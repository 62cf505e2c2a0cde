// Package record reads and changes the record of an artifact: its published and previous load, its loads
// in progress, and its names.
//
// A load that is of no more use stays in its record as a progress entry, until gc has dropped its rows:
// the load before the previous one, or a load that lost at the last moment.
package record

import (
	"errors"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Owners of entries: see [catalog.Superseded] and [catalog.Doomed].
const (
	Superseded = catalog.Superseded
	Doomed     = catalog.Doomed
)

// ErrBusy says that other processes changed a record again and again.
var ErrBusy = errors.New("the record keeps changing")

// ErrLost says that gc has dropped a load as abandoned.
var ErrLost = errors.New("the load's entry is gone from its record")

// LeaseTime is the time after which gc calls a load abandoned.
const LeaseTime = 24 * time.Hour

// Published reports whether a record has rows to show.
func Published(rec *catalog.Record) bool {
	return rec.Published != nil && !rec.State.Removed() && len(rec.Published.WrappedKey) > 0
}

// Empty reports whether a record holds nothing, not even a mark.
func Empty(rec *catalog.Record) bool {
	return rec.Published == nil && rec.Previous == nil && len(rec.Progress) == 0 && rec.State == catalog.Live
}

// HasRows reports whether a load should have rows: it has some by its record, and its key was not
// destroyed.
func HasRows(l *row.Loaded) bool { return l != nil && l.Bytes > 0 && len(l.WrappedKey) > 0 }

// Knows reports whether a record names a load.
func Knows(r *catalog.Record, l sinks.Load) bool {
	return r != nil && (r.Published != nil && r.Published.Load == l || r.Previous != nil && r.Previous.Load == l ||
		slices.ContainsFunc(r.Progress, func(p catalog.Progress) bool { return p.Load == l }))
}

// IsFrom reports whether a load was read from this member of this object.
func IsFrom(l *row.Loaded, url, member string) bool {
	return l.Source.URL == url && l.Source.Member == member
}

// ClaimedBy returns a copy of p that gives its artifact to a source of standing s.
func ClaimedBy(p *row.Loaded, s row.Standing) *row.Loaded {
	next := *p
	next.Claim = &s
	return &next
}

// Copy returns a copy of a record to change, or a new record for id if old is nil.
func Copy(old *catalog.Record, id symbol.ID) *catalog.Record {
	if old == nil {
		return &catalog.Record{ID: id, State: catalog.Live}
	}
	next := *old
	next.Progress = slices.Clone(old.Progress)
	next.Names = slices.Clone(old.Names)
	return &next
}

// Entry returns the index of an owner's progress entry of a load, or -1.
func Entry(r *catalog.Record, l sinks.Load, owner string) int {
	return slices.IndexFunc(r.Progress, func(p catalog.Progress) bool { return p.Load == l && p.Owner == owner })
}
