package ingest

import (
	"errors"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// superseded owns the progress entry of a load that is no longer, or never
// was, of use: gc drops its rows.
const superseded = "superseded"

// doomed owns the entry of a load whose rows are being dropped: its maker, if
// it is alive after all, can no longer publish it.
const doomed = "gc"

// errBusy: a record changed again and again.
var errBusy = errors.New("the record keeps changing")

// errLost: gc took the load for abandoned.
var errLost = errors.New("the load's entry is gone from its record")

// leaseTime is how long a load may take before gc calls it abandoned.
const leaseTime = 24 * time.Hour

// Loading returns how many loads of an artifact are in progress. The other entries are of loads that
// were replaced or never published, and wait for gc.
func Loading(r *row.Record) (n int) {
	for _, p := range r.Progress {
		if p.Owner != superseded && p.Owner != doomed {
			n++
		}
	}
	return n
}

// published reports whether a record has rows to show.
func published(rec *row.Record) bool {
	return rec.Published != nil && !rec.State.Removed() && len(rec.Published.WrappedKey) > 0
}

// hasRows reports whether rows of a load can be there: its key was not destroyed, and it has some.
func hasRows(l *row.Loaded) bool { return l != nil && l.Bytes > 0 && len(l.WrappedKey) > 0 }

// names reports whether a record knows of a load.
func names(r *row.Record, l sinks.Load) bool {
	return r != nil && (r.Published != nil && r.Published.Load == l || r.Previous != nil && r.Previous.Load == l ||
		slices.ContainsFunc(r.Progress, func(p row.Progress) bool { return p.Load == l }))
}

// isFrom reports whether a load was read from that member of that object.
func isFrom(l *row.Loaded, url, member string) bool {
	return l.Source.URL == url && l.Source.Member == member
}

// claimedBy is p as a load of an artifact that belongs to s.
func claimedBy(p *row.Loaded, s row.Standing) *row.Loaded {
	next := *p
	next.Claim = &s
	return &next
}

func copyOf(old *row.Record, id symbol.ID) *row.Record {
	if old == nil {
		return &row.Record{ID: id, State: row.Live}
	}
	next := *old
	next.Progress = slices.Clone(old.Progress)
	next.Names = slices.Clone(old.Names)
	return &next
}

func entryOf(r *row.Record, l sinks.Load, owner string) int {
	return slices.IndexFunc(r.Progress, func(p row.Progress) bool { return p.Load == l && p.Owner == owner })
}
