package iceberg

import (
	"slices"
	"time"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

const (
	// keepNewest snapshots stay however many come.
	keepNewest = 10
	// graceSlots is how many older snapshots stay for the time of the grace.
	graceSlots = 16
)

// expired returns the snapshots of m that leave it when next comes. all: at any age. Snapshots of branches and tags stay.
func (t *Tables) expired(m *metadata, next *snapshot, all bool) (ids []int64) {
	named := map[int64]bool{}
	for name, r := range m.Refs {
		if name != icemeta.MainBranch {
			named[r.Snapshot] = true
		}
	}
	before := time.UnixMilli(next.Made).Add(-t.o.Grace).UnixMilli()
	slot := max(t.o.Grace.Milliseconds()/graceSlots, 1)
	anchor := anchorOf(m.Snapshots, before)
	for i := range m.Snapshots {
		s := &m.Snapshots[i]
		until := next.Made // when the next snapshot took its place
		if i+1 < len(m.Snapshots) {
			until = m.Snapshots[i+1].Made
		}
		switch {
		case named[s.ID] || !own(s):
		case all, s != anchor && until <= before:
			ids = append(ids, s.ID)
		case s == anchor || i+keepNewest > len(m.Snapshots):
		case s.Made/slot == until/slot: // others tell of this time, too
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// anchorOf returns the newest snapshot that was made by a time; nil: none.
func anchorOf(all []snapshot, by int64) *snapshot {
	for i := range slices.Backward(all) {
		if all[i].Made <= by {
			return &all[i]
		}
	}
	return nil
}
