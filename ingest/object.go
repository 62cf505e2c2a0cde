package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/scratch"
)

// object is one object at work: from its opening until all that it holds is
// published.
type object struct {
	j       *job
	t       *discover.Task
	started time.Time
	app     string // APP@BUILD; "": not known

	mu         sync.Mutex
	artifacts  []catalog.ObjectArtifact // at most maxNoted
	outcomes   map[string]int           // how many of each
	firstError string                   // of what was rejected
	parsers    map[string]int
	reason     string            // of the object as a whole, when it holds nothing
	err        error             // the environment failed: it is tried again
	missed     map[string]missed // companions that were asked for and not found, by waiter's key
	lacks      []string          // what its loads say they lack
	states     map[string]string // of companions that the catalog knows, as they were before x read them
	got        map[string]bool   // companions that were found, where an earlier attempt may have missed them
	brought    []string          // keys under which others may wait for it
	loads      int               // handed over and not published yet, in the lake too
	waits      int               // of these, those that the lake alone lacks
	endedAt    time.Time
	noted      bool // in the ledger, as published
	published  []symbol.ID
	ranges     uint64
	classes    uint64
	warnings   []report.Rejection
	conflicts  []*catalog.Conflict // that its loads are kept out by
	stored     uint64
	ended      bool // nothing more is handed over
	slots      int  // of the run's, held by its work
	abandoned  bool // its work does not end, and nobody waits for it

	run context.Context // the run's: what it handed over outlives its own time
}

// maxRetries is how often an object that changes while it is read is begun anew.
const maxRetries = 3

// take works an object off as far as its loads are handed to the publisher.
func (j *job) take(ctx context.Context, t *discover.Task) {
	if t.Owed == nil {
		t.Owed = j.owed[t.URL]
	}
	x := &object{j: j, t: t, started: j.o.Now(), parsers: make(map[string]int), run: ctx}
	within, ended := j.span(ctx, stageObject, t.URL)
	err := x.limited(within, x.settled)
	ended(cmp.Or(err, x.rejection()))
	x.end(ctx, err)
}

// settled reads an object until it does not change meanwhile.
func (x *object) settled(ctx context.Context) error {
	t := x.t
	err := x.read(ctx)
	for errors.Is(err, bucket.ErrChanged) && t.Retries < maxRetries && ctx.Err() == nil {
		// What was handed over is whole; the rest is read from the new bytes.
		t.Retries++
		e, _, serr := t.Source.Bucket.Stat(ctx, t.Entry.Key)
		if serr != nil {
			return serr
		}
		t.Entry = e
		x.mu.Lock()
		x.artifacts, x.outcomes, x.firstError, x.reason, x.parsers, x.conflicts = nil, nil, "", "", make(map[string]int), nil
		x.mu.Unlock()
		err = x.read(ctx)
	}
	return err
}

// read opens the object and hands on what it holds.
func (x *object) read(ctx context.Context) error {
	app, build, err := x.t.App(ctx, x.j.o.Names)
	if err != nil {
		return err
	}
	x.app = discover.AppBuild(app, build)
	in, err := x.j.openInput(ctx, x.t.Source.Bucket, x.t.Entry)
	if err != nil {
		return err
	}
	in.Companion = x.companion
	err = x.open(ctx, in, "", 0)
	return errors.Join(err, release(in))
}

// open opens an input: the object itself, or a member of it. What condemns the
// input alone is noted, not returned.
func (x *object) open(ctx context.Context, in *formats.Input, member string, depth int) (err error) {
	if in.Limits == nil {
		in.Limits = &x.j.o.Limits
	}
	f, obj, err := formats.Open(ctx, x.j.o.Formats, in)
	if f != nil {
		x.parsers[f.Name] = f.Version
	}
	if err != nil {
		return x.reject(ctx, symbol.ID{}, member, err)
	}
	if f == nil {
		if member == "" {
			x.reason, x.parsers = ledger.ReasonUnknown, discover.Versions(x.j.o.Formats)
		}
		return nil
	}
	if obj == nil {
		return fmt.Errorf("%s: %s gives no object", in.Name, f.Name)
	}
	defer func() {
		err = errors.Join(err, closeObject(f, obj))
	}()
	var builds []string
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		for _, n := range a.Names {
			if n.Kind == symbol.NameBuildID {
				builds = append(builds, companions.BuildIDPrefix+n.Text)
			}
		}
		if err := x.artifact(ctx, f, a, member); err != nil {
			return err
		}
	}
	if obj.Members == nil {
		if len(obj.Artifacts) == 0 {
			x.holdsNothing(obj, member)
		}
		if x.t.Rederive {
			return nil
		}
		return x.arrived(ctx, in, obj.Companions, builds)
	}
	if member == "" {
		x.reason = ledger.ReasonEmpty
	}
	if depth >= in.Limits.Nesting {
		return x.reject(ctx, symbol.ID{}, member, &formats.Error{Format: f.Name, Offset: int64(depth), Want: "fewer archives inside archives", Err: formats.ErrLimit})
	}
	var ours error // what ended the walk and is not the archive's fault
	err = formats.Guard(f.Name, func() error {
		return obj.Members(ctx, func(m *formats.Input) error {
			if m.Spool == nil {
				m.Spool = in.Spool
			}
			inner := strings.TrimPrefix(strings.TrimPrefix(m.Name, in.Name), "!")
			if member != "" {
				inner = member + "!" + inner
			}
			ours = x.open(ctx, m, inner, depth+1)
			if ours == nil {
				ours = ctx.Err()
			}
			return ours
		})
	})
	if ours != nil {
		return ours
	}
	if err != nil {
		return x.reject(ctx, symbol.ID{}, member, err)
	}
	return nil
}

// holdsNothing notes why an object, or a member that has something to say, has
// no artifact.
func (x *object) holdsNothing(obj *formats.Object, member string) {
	part := len(obj.Companions) > 0 || strings.HasPrefix(obj.Note, ledger.ReasonCompanion)
	switch {
	case member != "" && obj.Note != "" && !part:
		x.noteArtifact(catalog.ObjectArtifact{Member: member, Outcome: ledger.OutcomeSkipped, Error: obj.Note})
	case member != "":
	case obj.Note != "":
		x.reason = obj.Note
	case part:
		x.reason = ledger.ReasonCompanion
	default:
		x.reason = ledger.ReasonEmpty
	}
	if part && member == "" {
		x.missed = nil // it looked around, and waits for nothing
	}
}

func closeObject(f *formats.Format, obj *formats.Object) error {
	if obj.Close == nil {
		return nil
	}
	return formats.Guard(f.Name, obj.Close)
}

// reject notes an error that condemns an input and gives back any other. A
// file that was changed under the parser is not to blame.
func (x *object) reject(ctx context.Context, id symbol.ID, member string, err error) error {
	if errors.Is(err, scratch.ErrDisk) {
		if !x.t.Alone {
			return err // others may hold what it needs
		}
		err = &formats.Error{Format: "ingest", Section: "limits.disk", Want: fmt.Sprintf("at most %d bytes of scratch files", x.j.o.DiskBytes), Err: formats.ErrLimit}
	}
	if !formats.Rejects(err) || errors.Is(err, bucket.ErrChanged) {
		return err
	}
	if serr := x.unchanged(ctx); serr != nil {
		return serr
	}
	x.noteArtifact(catalog.ObjectArtifact{ID: id, Member: member, Outcome: ledger.OutcomeRejected, Error: err.Error()})
	return nil
}

// unchanged checks that the object is the one that was listed: a mapped file
// may have been written over while it was read.
func (x *object) unchanged(ctx context.Context) error {
	e, _, err := x.t.Source.Bucket.Stat(ctx, x.t.Entry.Key)
	if err != nil {
		return err
	}
	if e.ETag != x.t.Entry.ETag {
		return fmt.Errorf("%s: %w", x.t.URL, bucket.ErrChanged)
	}
	return nil
}

func (x *object) noteArtifact(a catalog.ObjectArtifact) {
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

// outcome notes what became of an artifact.
func (x *object) outcome(id symbol.ID, member, what string) {
	x.noteArtifact(catalog.ObjectArtifact{ID: id, Member: member, Outcome: what})
}

// end is called when nothing more is handed over.
func (x *object) end(ctx context.Context, err error) {
	x.mu.Lock()
	x.err = errors.Join(x.err, err)
	x.ended, x.endedAt = true, time.Now()
	done := x.loads == 0
	x.mu.Unlock()
	if done {
		x.finish(ctx)
	}
}

// finish writes the ledger: the last thing that happens to an object.
func (x *object) finish(ctx context.Context) {
	j, t := x.j, x.t
	writing := ctx
	if ctx.Err() != nil { // asked to stop: say where it stands all the same
		var cancel context.CancelFunc
		writing, cancel = ledger.Detached(ctx)
		defer cancel()
	}
	if !j.o.DryRun && x.err == nil {
		x.err = x.lost(writing)
	}
	o := j.entry(t, catalog.ObjectLoaded)
	o.Artifacts, o.Parsers, o.Seconds, o.App = x.artifacts, maps.Clone(x.parsers), o.Last.Sub(x.started).Seconds(), x.app
	x.judge(ctx, o)
	switch o.State {
	case catalog.ObjectPending:
		if t.Suspect {
			o.Interrupted-- // this time nothing died
		}
	case catalog.ObjectFailed:
		o.Interrupted = 0
	default:
		o.Attempts, o.Interrupted = 0, 0
	}
	if t.Rederive && x.fell(o) {
		o.By = j.by()
	}
	err := j.settle(writing, x, o)
	j.done(x, o, err)
}

// judge decides the object's state from what became of its parts.
func (x *object) judge(ctx context.Context, o *catalog.Object) {
	count, first := x.outcomes, x.firstError
	switch {
	case errors.Is(x.err, bucket.ErrNotFound):
		o.State, o.Reason = catalog.ObjectGone, x.err.Error()
	case x.err != nil && errors.Is(x.err, scratch.ErrDisk) && !x.t.Alone:
		o.State = catalog.ObjectPending
	case x.err != nil && (ctx.Err() != nil || errors.Is(x.err, errDeadline)):
		o.State = catalog.ObjectPending
	case x.err != nil:
		o.State, o.Reason = catalog.ObjectFailed, x.err.Error()
	case count[ledger.OutcomeLoaded] > 0:
		o.State, o.Reason = catalog.ObjectLoaded, first
	case count[ledger.OutcomeConflict] > 0:
		o.State, o.Reason = catalog.ObjectConflict, first
	case count[ledger.OutcomeKept]+count[ledger.OutcomeHeld] > 0:
		o.State, o.Reason = catalog.ObjectKept, first
	case count[ledger.OutcomeRejected] > 0:
		o.State, o.Reason = catalog.ObjectRejected, first
	case x.reason != "":
		o.State, o.Reason = catalog.ObjectSkipped, x.reason
	default:
		o.State, o.Reason = catalog.ObjectSkipped, ledger.ReasonEmpty
	}
}

// settle writes the ledger entry and what depends on it.
func (j *job) settle(ctx context.Context, x *object, o *catalog.Object) error {
	if j.o.DryRun {
		return nil
	}
	if err := x.settleConflicts(ctx, o); err != nil {
		return err
	}
	ended := o.State != catalog.ObjectFailed && o.State != catalog.ObjectPending
	if ended && !x.t.Rederive {
		if err := x.announce(ctx); err != nil {
			return err
		}
	}
	// Names first: a run that dies in between takes the object again. One that another process had open may
	// have been found by its names before.
	if err := j.rename(ctx, x.t.Named || !ledger.IsNamed(o) && x.t.Heir != (row.WorkerID{}), o); err != nil {
		return err
	}
	ok, err := j.note(ctx, x.t.Ledger, o)
	if err != nil || !ok {
		return err
	}
	x.t.Ledger, x.t.Named = o, ledger.IsNamed(o)
	if err := ledger.DemoteLosers(ctx, j.cat, o); err != nil || !ended {
		return err
	}
	return x.discharge(ctx)
}
