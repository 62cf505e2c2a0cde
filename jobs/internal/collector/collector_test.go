package collector

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// percent returns the share that the runtime has.
func percent() int {
	p := debug.SetGCPercent(-1)
	debug.SetGCPercent(p)
	return p
}

// limit returns the memory limit that the runtime has.
func limit() int64 { return debug.SetMemoryLimit(-1) }

// reset gives the runtime its settings back.
func reset(t *testing.T) {
	was := percent()
	now.Store(0)
	t.Cleanup(func() {
		debug.SetGCPercent(was)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

// A profile sets the heap of the first collection by the memory, and the share of garbage from then on.
func TestUse(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	reset(t)
	c := New(400 << 20)
	if got := percent(); got != 100*Start.First {
		t.Fatalf("%d percent at first, want a heap of %d percent of 400 MB", got, Start.First)
	}
	c.Use(Profile{7, 77}, 1<<30)
	if got := percent(); got != 256*7 {
		t.Fatalf("%d percent before the first collection", got)
	}
	if got := limit(); got != 1<<30+room {
		t.Fatalf("limit %d", got)
	}
	formattest.Await(t, "a collection changes the share", func() bool { runtime.GC(); return percent() == 77 })
	if c.Use(Profile{7, 55}, 1<<30); percent() != 55 || Percent() != 55 {
		t.Fatalf("%d percent after the first collection, says %v", percent(), Percent())
	}
}

// The settings of the environment stand.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "1GiB")
	reset(t)
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(1 << 30)
	New(1<<20).Use(Ingest, 1<<32)
	if percent() != 50 || limit() != 1<<30 || Percent() != 50 {
		t.Fatalf("%d percent, says %v, limit %d", percent(), Percent(), limit())
	}
	t.Setenv("GOGC", "off")
	if !math.IsInf(Percent(), 1) {
		t.Fatalf("off: says %v", Percent())
	}
}
