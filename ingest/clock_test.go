package ingest

import (
	"fmt"
	"testing"
	"time"

	"github.com/symlake/symlake/ingest/upkeep/gc"
)

// A clock that stood years ahead for one run, and is right again: what it loaded is replaced, listed and
// collected as if nothing had been.
func TestClockJumps(t *testing.T) {
	w := newWorld(t)
	right := w.now
	w.src.Dates, w.src.LookBack, w.src.Full = "%Y/%m/%d/", 2, 24*time.Hour
	put := func(version int) {
		w.put("2025/11/01/a.so", fmt.Sprintf("FAKE\nid %s\nf 0 8 v%d 1\n%*s", idA, version, version, ""))
	}
	put(1)
	w.now = right.AddDate(10, 0, 0)
	w.run()
	w.answers(idA, 1, "v1:1")
	put(2)
	w.run()
	w.now = right
	put(3) // its day is too far back: only a full listing meets it
	if r := w.run(); r.Objects.New != 1 {
		t.Fatalf("after the jump: %+v", r.Objects)
	}
	w.answers(idA, 1, "v3:1")
	w.now = right.Add(25 * time.Hour)
	w.run()
	put(4)
	w.now = right.Add(50 * time.Hour)
	w.run()
	w.answers(idA, 1, "v4:1")
	w.verify()
	w.now = right.Add(80 * time.Hour)
	if w.gc(gc.Options{}); w.loads() != 2 {
		t.Fatalf("%d loads are left, want the published one and the one before", w.loads())
	}
	w.verify()
}
