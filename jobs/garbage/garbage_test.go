package garbage

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// What a job asks for holds from the first collection on, and that one comes when it says.
func TestCollect(t *testing.T) {
	if !putOff {
		formattest.Missing(t, "the runtime's own GOGC", "unset it")
	}
	was := debug.SetGCPercent(FirstHeapPercent)
	defer func() {
		debug.SetGCPercent(was)
		debug.SetMemoryLimit(math.MaxInt64)
	}()
	now := func() int {
		percent := debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		return percent
	}
	if was != FirstHeapPercent {
		t.Fatalf("%d percent at first", was)
	}
	g := Collect()
	g.Limit(700, 77, 1<<30)
	if got := now(); got != 700 {
		t.Fatalf("%d percent before the first collection", got)
	}
	formattest.Await(t, "a collection changes the share", func() bool { runtime.GC(); return now() == 77 })
	if g.Then(700, 55); now() != 55 {
		t.Fatalf("%d percent where the first collection has been", now())
	}
}
