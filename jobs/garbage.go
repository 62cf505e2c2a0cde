package jobs

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstHeapPercent lets a process grow to 32 MB before its first collection (the
// runtime begins at 4 MB × percent / 100): a look-up of one address ends before
// that, and collections took a quarter of its time.
const firstHeapPercent = 800

// collectLater puts off the first collection; what follows it is as the runtime
// has it, or as the job asked meanwhile. A GOGC of the user stands.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const usual = 100
	debug.SetGCPercent(firstHeapPercent)
	first := new([16]byte)
	runtime.AddCleanup(first, func(struct{}) {
		if asked := debug.SetGCPercent(usual); asked != firstHeapPercent {
			debug.SetGCPercent(asked)
		}
	}, struct{}{})
}

// limitGarbage is a guard against garbage only: what a job keeps is bounded by its own budget.
func limitGarbage(percent int, memory int64) {
	debug.SetMemoryLimit(memory)
	debug.SetGCPercent(percent)
}
