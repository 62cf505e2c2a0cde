// Package outcome gathers what becomes of an object, from its opening until the ledger says so.
package outcome

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/scratch"
)

// MaxWarnings bounds the warnings that a load or an object keeps.
const MaxWarnings = 100

// Object is one object at work. A builder reads it and notes what it holds. A publisher makes its
// loads visible, and writes the ledger when the last of them is. Several goroutines may use it.
type Object struct {
	Task    *discover.Task
	Started time.Time
	// Run is the run's context: the loads of an object may outlive its own time.
	Run context.Context
	App string // APP@BUILD; "": not known

	marks // of companions

	mu         sync.Mutex
	artifacts  []catalog.ObjectArtifact // at most ledger.MaxArtifacts
	outcomes   map[string]int           // how many artifacts have each
	firstError string                   // of a rejection
	parsers    map[string]int
	reason     string // why it holds nothing, as a whole
	err        error  // the environment failed: a later run tries again

	published []symbol.ID
	ranges    uint64
	classes   uint64
	stored    uint64 // bytes
	warnings  []report.Rejection
	conflicts []*catalog.Conflict // that keep its loads out

	loads     int // handed to the publisher and not done, in the lake too
	waits     int // of these, loads that only the lake lacks
	ended     bool
	endedAt   time.Time
	noted     bool // in the ledger, as published
	abandoned bool // its work does not end, and the run does not wait for it
}

// New begins the work on a task.
func New(run context.Context, t *discover.Task, now time.Time) *Object {
	return &Object{Task: t, Started: now, Run: run, parsers: make(map[string]int)}
}

// Restart forgets what the object held: it changed while the run read it. Loads that were handed
// over stay.
func (x *Object) Restart() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.artifacts, x.outcomes, x.firstError, x.reason, x.parsers, x.conflicts = nil, nil, "", "", make(map[string]int), nil
}

// NoteParser notes the version of a parser that read it.
func (x *Object) NoteParser(name string, version int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.parsers[name] = version
}

// NoteUnknown notes that no format knows it, and which parsers looked at it.
func (x *Object) NoteUnknown(parsers map[string]int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reason, x.parsers = ledger.ReasonUnknown, parsers
}

// NoteReason notes why it holds nothing.
func (x *Object) NoteReason(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reason = reason
}

// NoteArtifact notes what became of an artifact or a member. All of them count, and the ledger names
// ledger.MaxArtifacts.
func (x *Object) NoteArtifact(a catalog.ObjectArtifact) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.outcomes == nil {
		x.outcomes = make(map[string]int)
	}
	x.outcomes[a.Outcome]++
	if x.firstError == "" {
		x.firstError = a.Error
	}
	if len(x.artifacts) < ledger.MaxArtifacts {
		x.artifacts = append(x.artifacts, a)
	}
}

// Note notes the outcome of an artifact.
func (x *Object) Note(id symbol.ID, member, outcome string) {
	x.NoteArtifact(catalog.ObjectArtifact{ID: id, Member: member, Outcome: outcome})
}

// NoteConflict notes a conflict that keeps a load out.
func (x *Object) NoteConflict(c *catalog.Conflict) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conflicts = append(x.conflicts, c)
}

// HasConflict reports whether this attempt noted a conflict about an artifact of a member.
func (x *Object) HasConflict(id symbol.ID, member string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.conflicts, func(c *catalog.Conflict) bool { return c.Artifact == id && c.KeptOut.Member == member })
}

// Warn notes a warning, once.
func (x *Object) Warn(w report.Rejection) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.warnings) < MaxWarnings && !slices.Contains(x.warnings, w) {
		x.warnings = append(x.warnings, w)
	}
}

// CountLoad counts a load that was published, with the warnings of its parser.
func (x *Object) CountLoad(l *row.Loaded) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.published = append(x.published, l.Artifact.ID)
	if l.Artifact.Kind.HasClasses() {
		x.classes += l.Ranges
	} else {
		x.ranges += l.Ranges
	}
	for _, w := range l.Quality.Warnings {
		x.warnings = append(x.warnings, report.Rejection{URL: ledger.Place(x.Task.URL, l.Source.Member), Error: w})
	}
	x.stored += l.Bytes
}

// Fail notes that the environment failed.
func (x *Object) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = errors.Join(x.err, err)
}

// Err returns the errors of Fail and End.
func (x *Object) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// Rejection returns the first rejection of the object or of a member, for a trace; nil: there is none.
func (x *Object) Rejection() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.firstError == "" {
		return nil
	}
	return errors.New(x.firstError)
}

// StartLoad counts a load that is handed to the publisher. ok is false if the run has abandoned the
// object: then the load must not be published.
func (x *Object) StartLoad() (m Marks, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.abandoned {
		return m, false
	}
	x.loads++
	return x.Marks(), true
}

// EndLoad ends a load in the store. If waits, the object still waits for the lake to name it. last
// reports whether the object ends with it.
func (x *Object) EndLoad(waits bool) (last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if waits {
		x.waits++
	} else {
		x.loads--
	}
	return x.ended && x.loads == 0
}

// AwaitLake makes the object wait for the lake once more.
func (x *Object) AwaitLake() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loads++
	x.waits++
}

// EndLake ends a wait for the lake. last reports whether the object ends with it.
func (x *Object) EndLake(err error) (last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = errors.Join(x.err, err)
	x.loads--
	x.waits--
	return x.ended && x.loads == 0
}

// End notes that the object hands no more loads over. last reports whether all of them are done.
func (x *Object) End(err error) (last bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = errors.Join(x.err, err)
	x.ended, x.endedAt = true, time.Now()
	return x.loads == 0
}

// Abandon notes that the run does not wait for the object any more.
func (x *Object) Abandon() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.abandoned = true
}

// Abandoned reports whether the run waits for the object no more.
func (x *Object) Abandoned() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.abandoned
}

// NotePublished reports, once, whether the object ended at least age ago and waits for the lake
// alone. It returns the parsers that read it.
func (x *Object) NotePublished(age time.Duration) (parsers map[string]int, is bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.noted || !x.ended || x.loads != x.waits || x.err != nil || time.Since(x.endedAt) < age {
		return nil, false
	}
	x.noted = true
	return x.parsers, true
}

// Loaded returns the artifacts that it loaded, as far as the ledger names them.
func (x *Object) Loaded() (list []catalog.ObjectArtifact) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.artifacts {
		if a.Outcome == ledger.OutcomeLoaded {
			list = append(list, a)
		}
	}
	return list
}

// DropLost turns "loaded" into "kept" for the artifacts that another object has won since.
func (x *Object) DropLost(ctx context.Context, c *catalog.Catalog) error {
	for i := range x.artifacts {
		a := &x.artifacts[i]
		if a.Outcome != ledger.OutcomeLoaded {
			continue
		}
		rec, err := c.Artifacts.Get(ctx, a.ID)
		if err != nil {
			return err
		}
		if rec != nil && rec.Published != nil && !record.IsFrom(rec.Published, x.Task.URL, a.Member) {
			a.Outcome = ledger.OutcomeKept
			x.outcomes[ledger.OutcomeLoaded]--
			x.outcomes[ledger.OutcomeKept]++
		}
	}
	return nil
}

// Fill writes into a ledger entry what became of the object. stopped says that the run was asked to
// stop.
func (x *Object) Fill(o *catalog.Object, stopped bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o.Artifacts, o.Parsers, o.Seconds, o.App = x.artifacts, maps.Clone(x.parsers), o.Last.Sub(x.Started).Seconds(), x.App
	o.State, o.Reason = x.state(stopped)
	switch o.State {
	case catalog.ObjectPending:
		if x.Task.Suspect {
			o.Interrupted-- // this time no process died
		}
	case catalog.ObjectFailed:
		o.Interrupted = 0
	default:
		o.Attempts, o.Interrupted = 0, 0
	}
}

// state decides the object's state from the outcomes of its parts.
func (x *Object) state(stopped bool) (s catalog.ObjectState, reason string) {
	count, first := x.outcomes, x.firstError
	switch {
	case errors.Is(x.err, bucket.ErrNotFound):
		return catalog.ObjectGone, x.err.Error()
	case x.err != nil && errors.Is(x.err, scratch.ErrDisk) && !x.Task.Alone:
		return catalog.ObjectPending, ""
	case x.err != nil && (stopped || errors.Is(x.err, failure.ErrDeadline)):
		return catalog.ObjectPending, ""
	case x.err != nil:
		return catalog.ObjectFailed, x.err.Error()
	case count[ledger.OutcomeLoaded] > 0:
		return catalog.ObjectLoaded, first
	case count[ledger.OutcomeConflict] > 0:
		return catalog.ObjectConflict, first
	case count[ledger.OutcomeKept]+count[ledger.OutcomeHeld] > 0:
		return catalog.ObjectKept, first
	case count[ledger.OutcomeRejected] > 0:
		return catalog.ObjectRejected, first
	case x.reason != "":
		return catalog.ObjectSkipped, x.reason
	}
	return catalog.ObjectSkipped, ledger.ReasonEmpty
}

// NewlyRejected reports whether an object that was counted when it was new is rejected now, and was
// not before.
func (x *Object) NewlyRejected(o *catalog.Object) bool {
	return o.State == catalog.ObjectRejected && (x.Task.Before == nil || x.Task.Before.State != catalog.ObjectRejected)
}

// AddTo adds to a report what the object brought.
func (x *Object) AddTo(r *report.Report) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r.Artifacts += len(x.published)
	r.AddArtifacts(x.published...)
	r.Ranges += x.ranges
	r.Classes += x.classes
	r.Append(&r.Warnings, x.warnings...)
	r.Bytes.Stored += x.stored
	for _, c := range x.conflicts {
		r.AddConflicts(report.NewConflict(c))
	}
}
