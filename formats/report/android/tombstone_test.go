package android

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// A tombstone stays binary if its text would be longer than a document may be, with or without a room.
func TestTombstoneTextIsBounded(t *testing.T) {
	frame := &pbThread{id: 1}
	p := &pbTombstone{command: []string{strings.Repeat("x", 1<<20)}}
	for range 100 {
		p.threads = append(p.threads, *frame)
	}
	if text, ok := p.render(&report.Options{}); ok || len(text) > report.MaxDocumentBytes+4<<20 {
		t.Errorf("%d bytes, %v", len(text), ok)
	}
}
