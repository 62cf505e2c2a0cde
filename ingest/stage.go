package ingest

import (
	"context"
	"errors"
	"time"
)

// The stages of a run. Objects are worked on side by side, so the seconds of stages may add up to more than
// those of the run.
const (
	stageProject = "project" // the lake brought up to the store before anything is added
	stageObject  = "object"  // one object, from its opening until its last load is handed on
	stageExplode = "explode" // debug information to sorted runs
	stageEncode  = "encode"  // runs to sealed rows
	stageWrite   = "write"   // rows to the store
	stagePublish = "publish" // loads made visible, and their objects noted
	stageLake    = "lake"    // files of the lake finished and named
)

// span tells that a stage begins; of is what it is about. What it returns is called at the stage's end.
func (j *job) span(ctx context.Context, stage, of string) (context.Context, func(error)) {
	began, ended := time.Now(), func(error) {}
	if j.o.Span != nil {
		ctx, ended = j.o.Span(ctx, stage, of)
	}
	return ctx, func(err error) {
		ended(err)
		j.mu.Lock()
		j.report.Stages[stage] += time.Since(began).Seconds()
		j.mu.Unlock()
	}
}

// rejection is the first one of the object or of a member, for a trace; nil: there is none.
func (x *object) rejection() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.firstError == "" {
		return nil
	}
	return errors.New(x.firstError)
}
