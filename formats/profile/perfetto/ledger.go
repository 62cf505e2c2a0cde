package perfetto

import (
	"fmt"

	"github.com/symlake/symlake/formats/profile"
)

// ledger counts memory and faults.
type ledger struct {
	counts *profile.Counts
	room   int64 // bytes that tables, images and names may still take
	at     int64 // of the packet that is read
}

// keep counts a part of the trace that cannot be read.
func (l *ledger) keep(why string) { l.counts.Keep(why, fmt.Sprintf("packet at 0x%x", l.at)) }

// take counts memory for tables, or for good if t is nil. Without room it counts a fault instead.
func (l *ledger) take(t *tables, n int64) bool {
	if l.room < n {
		l.keep("the trace has more names and frames than memory holds")
		return false
	}
	l.room -= n
	if t != nil {
		t.taken += n
	}
	return true
}

// give gives memory of tables back.
func (l *ledger) give(t *tables, n int64) {
	l.room += n
	t.taken -= n
}

// About what an entry takes beside its strings, with the room that maps keep free.
const (
	stringBytes  = 64
	mappingBytes = 160
	frameBytes   = 64
	imageBytes   = 256

	sequenceBytes = 768 // with its tables
)
