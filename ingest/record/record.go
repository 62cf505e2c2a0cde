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

// Superseded owns the progress entry of a load that is no longer, or never
// was, of use: gc drops its rows.
const Superseded = "superseded"

// Doomed owns the entry of a load whose rows are being dropped: its maker, if
// it is alive after all, can no longer publish it.
const Doomed = "gc"

// ErrBusy: a record changed again and again.
var ErrBusy = errors.New("the record keeps changing")

// ErrLost: gc took the load for abandoned.
var ErrLost = errors.New("the load's entry is gone from its record")

// LeaseTime is how long a load may take before gc calls it abandoned.
const LeaseTime = 24 * time.Hour

// Loading returns how many loads of an artifact are in progress. The other entries are of loads that
// were replaced or never published, and wait for gc.
func Loading(r *catalog.Record) (n int) {
	for _, p := range r.Progress {
		if p.Owner != Superseded && p.Owner != Doomed {
			n++
		}
	}
	return n
}

// Published reports whether a record has rows to show.
func Published(rec *catalog.Record) bool {
	return rec.Published != nil && !rec.State.Removed() && len(rec.Published.WrappedKey) > 0
}

// HasRows reports whether rows of a load can be there: its key was not destroyed, and it has some.
func HasRows(l *row.Loaded) bool { return l != nil && l.Bytes > 0 && len(l.WrappedKey) > 0 }

// Knows reports whether a record knows of a load.
func Knows(r *catalog.Record, l sinks.Load) bool {
	return r != nil && (r.Published != nil && r.Published.Load == l || r.Previous != nil && r.Previous.Load == l ||
		slices.ContainsFunc(r.Progress, func(p catalog.Progress) bool { return p.Load == l }))
}

// IsFrom reports whether a load was read from that member of that object.
func IsFrom(l *row.Loaded, url, member string) bool {
	return l.Source.URL == url && l.Source.Member == member
}

// ClaimedBy is p as a load of an artifact that belongs to s.
func ClaimedBy(p *row.Loaded, s row.Standing) *row.Loaded {
	next := *p
	next.Claim = &s
	return &next
}

func Copy(old *catalog.Record, id symbol.ID) *catalog.Record {
	if old == nil {
		return &catalog.Record{ID: id, State: catalog.Live}
	}
	next := *old
	next.Progress = slices.Clone(old.Progress)
	next.Names = slices.Clone(old.Names)
	return &next
}

func Entry(r *catalog.Record, l sinks.Load, owner string) int {
	return slices.IndexFunc(r.Progress, func(p catalog.Progress) bool { return p.Load == l && p.Owner == owner })
}
