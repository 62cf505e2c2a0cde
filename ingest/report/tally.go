package report

import (
	"context"
	"sync"
	"time"
)

// Tally is a report that several goroutines write.
type Tally struct {
	mu     sync.Mutex
	report *Report

	// Span is called when a stage of the run begins, and returns a function to call at the stage's
	// end, from many goroutines (nil: none).
	Span func(ctx context.Context, stage, of string) (context.Context, func(error))
}

// NewTally begins to write r.
func NewTally(r *Report) *Tally { return &Tally{report: r} }

// Write lets f write the report. f must not block.
func (t *Tally) Write(f func(*Report)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.report)
}

// The stages of a run. A run works on objects side by side, so the seconds of the stages may add up
// to more than the seconds of the run.
const (
	StageProject = "project" // bring the lake up to the store, before the run adds anything
	StageObject  = "object"  // one object, from its opening until its last load is encoded
	StageExplode = "explode" // debug information to sorted runs
	StageEncode  = "encode"  // runs to sealed rows
	StageUnwind  = "unwind"  // call frame information to sorted ranges, a part of encode
	StageWrite   = "write"   // rows to the store
	StagePublish = "publish" // make loads visible, and note their objects
	StageLake    = "lake"    // finish files of the lake, and name them
	StageTables  = "tables"  // bring Iceberg tables up to the lake
)

// Begin begins a stage about an object or artifact (of). The caller calls end at the stage's end.
func (t *Tally) Begin(ctx context.Context, stage, of string) (within context.Context, end func(error)) {
	began, ended := time.Now(), func(error) {}
	if t.Span != nil {
		ctx, ended = t.Span(ctx, stage, of)
	}
	return ctx, func(err error) {
		ended(err)
		t.Write(func(r *Report) { r.Stages[stage] += time.Since(began).Seconds() })
	}
}
