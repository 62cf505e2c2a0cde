package jobs

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// firstHeapPercent lets a process grow to 32 MB before its first collection (the
// runtime begins at 4 MB × percent / 100): a look-up of one address ends before
// that, and collections took a quarter of its time; those of a small object's ingest, a twentieth.
const firstHeapPercent = 800

// collections is how often a process collects its garbage.
type collections struct {
	mu      sync.Mutex
	waiting bool // for the first collection
	percent int  // from the first one on
}

// collectLater puts off the first collection; what follows it is as the runtime
// has it, or as the job asks meanwhile. A GOGC of the user stands until then.
func collectLater() *collections {
	if os.Getenv("GOGC") != "" {
		return &collections{}
	}
	g := &collections{waiting: true, percent: 100}
	debug.SetGCPercent(firstHeapPercent)
	first := new([16]byte)
	runtime.AddCleanup(first, func(g *collections) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting = false
		debug.SetGCPercent(g.percent)
	}, g)
	return g
}

// then asks for the collections after the first one, and, if that is still to come, for it: heap percent of 4 MB.
func (g *collections) then(heap, percent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.percent = percent; g.waiting {
		percent = heap
	}
	debug.SetGCPercent(percent)
}

// limit is a guard against garbage only: what a job keeps is bounded by its own budget.
func (g *collections) limit(heap, percent int, memory int64) {
	debug.SetMemoryLimit(memory)
	g.then(heap, percent)
}
