package tables

import (
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/internal/snapshots"
	"github.com/symlake/symlake/sinks/scratch"
)

// job is a run under way.
type job struct {
	o        Options
	report   *Report
	pending  int
	sink     *snapshots.Table // the table that the output becomes; nil: files
	ofStacks bool             // the rows of sink are stacks
	disk     *scratch.Budget  // nil: no bound
	spilled  atomic.Int64
	distinct atomic.Uint64
	unread   atomic.Uint64

	mu sync.Mutex // of report and Progress
}

// progress tells how far a step is. all is 0 where it is not known.
func (j *job) progress(step, key string, rows, all uint64) {
	if j.o.Progress == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.o.Progress(Event{Step: step, URL: j.o.Input.URL(key), Rows: rows, All: all, Files: j.report.Files.Written, Of: j.pending})
}
