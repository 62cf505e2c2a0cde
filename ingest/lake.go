package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// A batch of the lake is committed when it is so old, or has lakeRanges: no object waits longer
	// for its ledger entry.
	lakeAge = 10 * time.Minute
)

// lakeside is a run's side of the lake: batches that are open, one a worker at most, and
// what waits for them. The rows of a load go into a batch while it is encoded; once it is published its batch
// is told, and its object is written to the ledger when the batch is committed.
type lakeside struct {
	lake sinks.Lake

	commit sync.Mutex // one batch after the other: what the one named is known to the next

	mu     sync.Mutex
	idle   []*lakeBatch
	open   map[*lakeBatch]bool
	queued map[symbol.ID]*lakeBatch // that will name a load of an artifact
}

// lakeBatch is a batch at work. Its fields are guarded by the lakeside's lock, but for the batch
// itself, which belongs to who took it.
type lakeBatch struct {
	sinks.LakeBatch
	since  time.Time
	ranges uint64
	busy   int                        // loads whose fate is not known
	loads  map[symbol.ID][]sinks.Load // that were published, some perhaps replaced since; none: facts alone
	wait   []*object                  // one each for what it handed over
	full   bool
	held   bool // by work that does not end
	ended  bool
}

func newLakeside(l sinks.Lake) *lakeside {
	return &lakeside{lake: l, open: map[*lakeBatch]bool{}, queued: map[symbol.ID]*lakeBatch{}}
}

// take gives a batch to write one load to, which is nobody else's until give; nil: there is no lake.
func (k *lakeside) take(ctx context.Context) (*lakeBatch, error) {
	if k.lake == nil {
		return nil, nil
	}
	k.mu.Lock()
	if n := len(k.idle); n > 0 {
		b := k.idle[n-1]
		k.idle = k.idle[:n-1]
		b.busy++
		k.mu.Unlock()
		return b, nil
	}
	k.mu.Unlock()
	inner, err := k.lake.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a batch of the lake: %w", err)
	}
	b := &lakeBatch{LakeBatch: inner, since: time.Now(), busy: 1, loads: map[symbol.ID][]sinks.Load{}}
	k.mu.Lock()
	k.open[b] = true
	k.mu.Unlock()
	return b, nil
}

// give ends the writing of a load of so many ranges.
func (k *lakeside) give(b *lakeBatch, ranges uint64, failed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b.ranges += ranges
	b.full = b.full || failed || b.ranges >= projection.BatchRanges || time.Since(b.since) >= lakeAge
	if !b.full {
		k.idle = append(k.idle, b)
	}
}

// handed tells a batch what became of a load it has rows of: x waits for the
// batch when it was published. True: the batch is to be committed.
func (k *lakeside) handed(b *lakeBatch, x *object, id symbol.ID, l sinks.Load, published bool) (due bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b.busy--
	if published {
		b.loads[id] = append(b.loads[id], l)
		b.wait = append(b.wait, x)
		k.queued[id] = b
	}
	return k.due(b)
}

// due reports whether a batch is to be committed now, and takes it out.
func (k *lakeside) due(b *lakeBatch) bool {
	if !b.full || b.busy > 0 || b.ended {
		return false
	}
	b.ended = true
	delete(k.open, b)
	return true
}

// await makes x wait until the lake names the facts of an artifact as they are now. It takes the batch that
// has rows of the artifact, if there is one.
func (k *lakeside) await(ctx context.Context, x *object, id symbol.ID) error {
	k.mu.Lock()
	b := k.queued[id]
	if b != nil && !b.ended {
		b.wait = append(b.wait, x)
		k.mu.Unlock()
		return nil
	}
	k.mu.Unlock()
	b, err := k.take(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b.busy--
	if _, ok := b.loads[id]; !ok {
		b.loads[id] = nil
	}
	b.wait = append(b.wait, x)
	k.idle = append(k.idle, b)
	return nil
}

// errHeld: work that nobody waits for any more writes to the batch.
var errHeld = errors.New("an object that does not end has not given it back")

// flushLake commits all batches. Nothing is being written any more, but by objects that were left behind: what waits for
// a batch of theirs is left to the next run.
func (j *job) flushLake(ctx context.Context) {
	k := j.lake
	k.mu.Lock()
	var all []*lakeBatch
	for b := range k.open {
		b.held = b.busy > 0
		b.full, b.busy = true, 0
		if k.due(b) {
			all = append(all, b)
		}
	}
	k.idle = nil
	k.mu.Unlock()
	for _, b := range all {
		j.commitLake(ctx, b)
	}
}

// commitLake names the loads of a batch and ends the objects that wait for it.
func (j *job) commitLake(ctx context.Context, b *lakeBatch) {
	k := j.lake
	k.commit.Lock()
	err := context.Cause(ctx)
	if b.held {
		err = errHeld
	} else {
		defer b.Abort()
	}
	if err == nil {
		within, ended := j.span(ctx, stageLake, "")
		err = j.nameInLake(within, b)
		ended(err)
	}
	k.commit.Unlock()
	k.mu.Lock()
	for id := range b.loads {
		if k.queued[id] == b {
			delete(k.queued, id)
		}
	}
	wait := b.wait
	b.wait = nil
	k.mu.Unlock()
	parallel.Do(len(wait), func(i int) {
		x := wait[i]
		x.mu.Lock()
		if err != nil {
			x.err = errors.Join(x.err, environment(fmt.Errorf("write the lake: %w", err)))
		}
		x.loads--
		x.waits--
		done := x.ended && x.loads == 0
		x.mu.Unlock()
		if done {
			x.finish(ctx)
		}
	})
}

func (j *job) nameInLake(ctx context.Context, b *lakeBatch) error {
	var loads []*sinks.LakeLoad
	var orphans []symbol.ID // that a process which died had published
	var live map[symbol.ID]sinks.LakeMark
	for id, written := range b.loads {
		rec, err := j.cat.Artifacts.Get(ctx, id)
		if err != nil {
			return err
		}
		if rec == nil || rec.Published == nil || rec.State.Removed() {
			continue
		}
		now := projection.LoadOf(rec)
		if !slices.Contains(written, now.Load) {
			if live == nil {
				if live, err = j.lake.lake.Live(ctx); err != nil {
					return err
				}
			}
			if live[id].Load != now.Load {
				theirs, err := j.willName(ctx, b, rec)
				if err != nil {
					return err
				}
				if !theirs {
					orphans = append(orphans, id)
				}
				continue
			}
			if live[id].Revision == now.Revision() {
				continue // there is nothing new
			}
		}
		loads = append(loads, now)
	}
	done, err := b.Commit(ctx, loads)
	if errors.Is(err, sinks.ErrConflict) {
		// Another process was faster with some: the rest is written from the store.
		orphans, err = append(orphans, idsOf(loads)...), nil
	}
	if err != nil {
		return err
	}
	j.tellLake(done)
	if len(orphans) == 0 {
		return nil
	}
	p := j.projection()
	p.Settled = time.Time{} // these are ours
	_, err = projection.Update(ctx, p, orphans)
	return err
}

// willName reports whether somebody else is about to name what a record publishes: another batch than b, or another process.
func (j *job) willName(ctx context.Context, b *lakeBatch, rec *catalog.Record) (bool, error) {
	j.lake.mu.Lock()
	other := j.lake.queued[rec.ID]
	j.lake.mu.Unlock()
	if other != nil && other != b {
		return true, nil
	}
	o, err := j.cat.Ledger.Get(ctx, rec.Published.Source.URL)
	if err != nil || o == nil || o.State != catalog.ObjectLoading && o.State != catalog.ObjectPublished || o.Owner == j.worker {
		return false, err
	}
	return j.crew.Alive(ctx, o.Owner)
}

func idsOf(loads []*sinks.LakeLoad) []symbol.ID {
	ids := make([]symbol.ID, len(loads))
	for i, l := range loads {
		ids[i] = l.Artifact.ID
	}
	return ids
}

func (j *job) tellLake(done sinks.LakeCommitted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.report.Bytes.Lake += done.Bytes
	n := min(len(done.Files), report.MaxLakeFiles-len(j.report.LakeFiles))
	j.report.LakeFiles = append(j.report.LakeFiles, done.Files[:n]...)
}

// noteWaiting notes objects that are published and wait for the lake: when the process dies now, none of them is
// to blame. Younger ones than age are left for the next time.
func (j *job) noteWaiting(ctx context.Context, age time.Duration) {
	k := j.lake
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*object
	seen := map[*object]bool{}
	for b := range k.open {
		for _, x := range b.wait {
			x.mu.Lock()
			if !seen[x] && !x.noted && x.ended && x.loads == x.waits && x.err == nil && time.Since(x.endedAt) >= age {
				seen[x], x.noted = true, true
				all = append(all, x)
			}
			x.mu.Unlock()
		}
	}
	parallel.Do(len(all), func(i int) {
		x := all[i]
		o := j.entry(x.t, catalog.ObjectPublished)
		// Without artifacts: what another object wins meanwhile is settled when this one ends.
		o.Attempts, o.Artifacts, o.Parsers = 0, nil, x.parsers
		ok, err := j.note(ctx, x.t.Ledger, o)
		switch {
		case err != nil:
			x.mu.Lock()
			x.err = errors.Join(x.err, err)
			x.mu.Unlock()
		case ok:
			x.t.Ledger = o
		}
	})
}

// addNames gives names to an artifact that is published from another object, and makes x wait until the
// lake has them.
func (x *object) addNames(ctx context.Context, rec *catalog.Record, names []symbol.Name) error {
	if err := x.j.addNames(ctx, rec, names); err != nil || x.j.o.DryRun || x.j.o.Lake == nil {
		return err
	}
	x.mu.Lock()
	x.loads++
	x.waits++
	x.mu.Unlock()
	err := x.j.lake.await(ctx, x, rec.ID)
	if err != nil {
		x.mu.Lock()
		x.loads--
		x.waits--
		x.mu.Unlock()
	}
	return err
}

// settleTime is how long a load that another shard published is left to it.
const settleTime = time.Hour

// projection is the store and the lake of this run.
func (j *job) projection() projection.Stores {
	p := projection.Stores{Store: j.o.Store, Keyring: j.o.Keyring, Lake: j.o.Lake}
	if j.o.Shards > 1 || j.crew.Others() {
		p.Settled = j.o.Now().Add(-settleTime)
	}
	return p
}

// project brings the lake up to what is published before anything is added.
func (j *job) project(ctx context.Context) error {
	if j.o.Lake == nil || j.o.DryRun {
		return nil
	}
	done, err := projection.Update(ctx, j.projection(), nil)
	if err != nil {
		return err
	}
	j.tellLake(sinks.LakeCommitted{Files: done.Files, Bytes: done.Bytes})
	return nil
}
