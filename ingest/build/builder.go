// Package build makes the rows of an object's artifacts.
//
// A Builder opens an object and its members. It compares each artifact with the published load (claim),
// explodes it into sorted and swept runs (spill, sweep), encodes these as rows, and hands the load to a
// publisher. If a format gives its runs in order, the builder encodes them as it explodes them. It
// finds companions beside the object, or by their id in the ledger.
package build

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Builder builds the loads of a run. Several goroutines may use it, each for another object.
type Builder struct {
	Opener
	Formats   []*formats.Format
	Catalog   *catalog.Catalog
	Keyring   *row.Keyring
	Sources   discover.Sources
	Waits     *companions.Waits
	Publisher *publish.Publisher
	Tally     *report.Tally

	Names   func(url string, meta map[string]string) (app, build string)
	Account row.WorkerID // tells what this run does
	Now     func() time.Time
	Force   bool // load again all loaded artifacts
	DryRun  bool // publish nothing

	NoUnwind bool // leave call frame information out

	Workers     int   // objects at once, and parts exploded at once
	MemoryBytes int64 // of the budget
	DiskBytes   int64 // of the budget (0: no bound)

	// ObjectTime is the time that one object may take. HardStop ends objects at work (zero: never)
	// of a run that began at Began, by the system's clock, and at Started, by Now.
	ObjectTime      time.Duration
	Began, HardStop time.Time
	Started         time.Time

	slots chan struct{} // one for each piece of work that uses a processor
	hands *hands
}

// New returns a builder with its slots for Workers.
func New(b Builder) *Builder {
	b.slots = make(chan struct{}, b.Workers)
	b.hands = &hands{idle: make(chan func())}
	return &b
}

// maxRetries is how often an object that changes while it is read is read anew.
const maxRetries = 3

// object is an object at work.
type object struct {
	*outcome.Object
	b     *Builder
	slots slots
}

// smallBytes is the size of objects that one goroutine explodes: sharing their parts costs more than the parts.
const smallBytes = 64 << 10

func (x *object) isSmall() bool { return x.Task.Entry.Size <= smallBytes }

// Build reads the object of a task, and hands its loads to the publisher.
func (b *Builder) Build(ctx context.Context, t *discover.Task) {
	x := &object{Object: outcome.New(ctx, t, b.Now()), b: b}
	within, end := b.Tally.Begin(ctx, report.StageObject, t.URL)
	err := x.limited(within, x.readWhole)
	end(cmp.Or(err, x.Rejection()))
	b.Publisher.End(ctx, x.Object, err)
}

// readWhole reads an object until it does not change meanwhile.
func (x *object) readWhole(ctx context.Context) error {
	t := x.Task
	err := x.read(ctx)
	for errors.Is(err, bucket.ErrChanged) && t.Retries < maxRetries && ctx.Err() == nil {
		// The loads that were handed over are whole. The rest is read from the new bytes.
		t.Retries++
		e, _, serr := t.Source.Bucket.Stat(ctx, t.Entry.Key)
		if serr != nil {
			return serr
		}
		t.Entry = e
		x.Restart()
		err = x.read(ctx)
	}
	return err
}

// read opens the object and builds its artifacts.
func (x *object) read(ctx context.Context) error {
	app, build, err := x.Task.App(ctx, x.b.Names)
	if err != nil {
		return err
	}
	x.App = discover.AppBuild(app, build)
	in, err := x.b.Open(ctx, x.Task.Source.Bucket, x.Task.Entry)
	if err != nil {
		return err
	}
	in.Companion = x.companion
	err = x.open(ctx, in, "", 0)
	return errors.Join(err, release(in))
}
