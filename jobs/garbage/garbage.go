// Package garbage says how often a process collects its garbage.
//
// Importing it puts the first collection off while packages are still initialized. All that they allocate comes close to
// the 4 MB at which the runtime would begin, and every third process did so on its way to main, for a fifth of the time
// that it takes to start. Go initializes what is ready in the order of import paths: this package comes when little more
// than half is allocated.
package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// FirstHeapPercent lets a process grow to 32 MB before its first collection (the
// runtime begins at 4 MB × percent / 100): a look-up of one address ends before
// that, and collections took a quarter of its time.
const FirstHeapPercent = 800

// putOff is whether the first collection is put off: a GOGC of the user stands.
var putOff = func() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(FirstHeapPercent)
	return true
}()

// Collections is how often a process collects its garbage.
type Collections struct {
	mu      sync.Mutex
	waiting bool // for the first collection
	percent int  // from the first one on
}

// Collect is for the one job of a process: what follows the first collection is as the runtime
// has it, or as the job asks meanwhile. A GOGC of the user stands until then.
func Collect() *Collections {
	if !putOff {
		return &Collections{}
	}
	g := &Collections{waiting: true, percent: 100}
	first := new([16]byte)
	runtime.AddCleanup(first, func(g *Collections) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting = false
		debug.SetGCPercent(g.percent)
	}, g)
	return g
}

// Then asks for the collections after the first one, and, if that is still to come, for it: heap percent of 4 MB.
func (g *Collections) Then(heap, percent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.percent = percent; g.waiting {
		percent = heap
	}
	debug.SetGCPercent(percent)
}

// Limit is a guard against garbage only: what a job keeps is bounded by its own budget, memory in bytes.
func (g *Collections) Limit(heap, percent int, memory int64) {
	debug.SetMemoryLimit(memory)
	g.Then(heap, percent)
}
