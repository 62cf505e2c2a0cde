package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/failure"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// lakeAge is the age at which a batch of the lake is committed: no object waits longer for its ledger
// entry. A batch of lakeLoads or projection.BatchRanges is committed, too: its files are big enough.
const lakeAge = 10 * time.Minute

// lakeLoads is how many loads and waits a batch of the lake takes: the object of each waits for the commit, with some 2 kB.
const lakeLoads = 8192

// batches are the lake's batches that are open, one a worker at most, and the objects that wait for
// them. The rows of a load go into a batch while it is encoded. When the load is published, its batch
// is told. When the batch is committed, the object is written to the ledger.
type batches struct {
	commit sync.Mutex // one batch after the other: the next one knows what this one named

	mu     sync.Mutex
	idle   []*Batch
	open   map[*Batch]bool
	queued map[symbol.ID]*Batch // will name a load of an artifact
}

// Batch is a batch of the lake at work. Its fields are guarded by the lock of batches. The batch itself
// belongs to the builder that took it.
type Batch struct {
	sinks.LakeBatch

	since  time.Time
	given  int // loads that were written or failed, and waits for facts
	ranges uint64
	busy   int                        // loads that may still be published
	loads  map[symbol.ID][]sinks.Load // that were published, some perhaps replaced since; none: facts alone
	wait   []*outcome.Object          // one each for what it handed over
	full   bool
	held   bool // by work that does not end
	ended  bool
}

// TakeBatch returns a batch of the lake to write one load to. The caller has it alone until
// GiveBatch. nil: there is no lake.
func (p *Publisher) TakeBatch(ctx context.Context) (*Batch, error) {
	if p.Lake == nil {
		return nil, nil
	}
	k := &p.batches
	k.mu.Lock()
	if n := len(k.idle); n > 0 {
		b := k.idle[n-1]
		k.idle = k.idle[:n-1]
		b.busy++
		k.mu.Unlock()
		return b, nil
	}
	k.mu.Unlock()
	inner, err := p.Lake.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a batch of the lake: %w", err)
	}
	b := &Batch{LakeBatch: inner, since: time.Now(), busy: 1, loads: map[symbol.ID][]sinks.Load{}}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		k.open, k.queued = map[*Batch]bool{}, map[symbol.ID]*Batch{}
	}
	k.open[b] = true
	return b, nil
}

// GiveBatch ends the writing of a load of so many ranges.
func (p *Publisher) GiveBatch(b *Batch, ranges uint64, failed bool) {
	k := &p.batches
	k.mu.Lock()
	defer k.mu.Unlock()
	b.ranges += ranges
	b.full = b.full || failed || b.ranges >= projection.BatchRanges || time.Since(b.since) >= lakeAge
	k.idle = append(k.idle, b)
	k.count(b)
}

// decide tells a batch whether one of its loads was published. If so, x waits for the batch.
// due reports whether the batch is to be committed.
func (k *batches) decide(b *Batch, x *outcome.Object, id symbol.ID, l sinks.Load, published bool) (due bool) {
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
func (k *batches) due(b *Batch) bool {
	if !b.full || b.busy > 0 || b.ended {
		return false
	}
	b.ended = true
	delete(k.open, b)
	return true
}

// await makes x wait until the lake names the facts of an artifact as they are now. It takes the batch
// that has rows of the artifact, if there is one.
func (p *Publisher) await(ctx context.Context, x *outcome.Object, id symbol.ID) error {
	k := &p.batches
	k.mu.Lock()
	b := k.queued[id]
	if b == nil || b.ended {
		k.mu.Unlock()
		var err error
		if b, err = p.TakeBatch(ctx); err != nil {
			return err
		}
		k.mu.Lock()
		b.busy--
		if _, ok := b.loads[id]; !ok {
			b.loads[id] = nil
		}
		k.idle = append(k.idle, b)
	}
	b.wait = append(b.wait, x)
	k.count(b)
	due := k.due(b)
	k.mu.Unlock()
	if due {
		p.commitLake(x.Run, b)
	}
	return nil
}

// count counts a load or a wait. A batch that is full is not idle any more.
func (k *batches) count(b *Batch) {
	b.given++
	if b.full = b.full || b.given >= lakeLoads; b.full {
		k.idle = slices.DeleteFunc(k.idle, func(o *Batch) bool { return o == b })
	}
}

// errHeld says that work that the run has abandoned writes to the batch.
var errHeld = errors.New("an object that does not end has not given it back")

// FlushLake commits all batches. Only abandoned objects may still write: their batches are left to
// the next run, with everything that waits for them.
func (p *Publisher) FlushLake(ctx context.Context) {
	k := &p.batches
	k.mu.Lock()
	var all []*Batch
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
		p.commitLake(ctx, b)
	}
}

// commitLake names the loads of a batch, and ends the objects that wait for it.
func (p *Publisher) commitLake(ctx context.Context, b *Batch) {
	k := &p.batches
	k.commit.Lock()
	err := context.Cause(ctx)
	if b.held {
		err = errHeld
	} else {
		defer b.Abort()
	}
	if err == nil {
		within, end := p.Tally.Begin(ctx, report.StageLake, "")
		err = p.nameInLake(within, b)
		end(err)
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
	if err != nil {
		err = failure.Environment(fmt.Errorf("write the lake: %w", err))
	}
	parallel.Do(len(wait), func(i int) {
		if wait[i].EndLake(err) {
			p.finish(ctx, wait[i])
		}
	})
}

func (p *Publisher) nameInLake(ctx context.Context, b *Batch) error {
	var loads []*sinks.LakeLoad
	var orphans []symbol.ID // published by a process that died
	var live map[symbol.ID]sinks.LakeMark
	marks := make(map[symbol.ID]uint64, len(b.loads)) // of what the lake follows in the end
	for id, written := range b.loads {
		marks[id] = p.Catalog.Lakes.Changing(id)
		rec, err := p.Catalog.Artifacts.Get(ctx, id)
		if err != nil {
			return err
		}
		if rec == nil || rec.Published == nil || rec.State.Removed() {
			continue
		}
		now := projection.LoadOf(rec)
		now.Fresh = slices.Contains(written, now.Load)
		if !now.Fresh {
			if live == nil {
				if live, err = p.Lake.Live(ctx); err != nil {
					return err
				}
			}
			if live[id].Load != now.Load {
				elsewhere, err := p.willName(ctx, b, rec)
				if err != nil {
					return err
				}
				if !elsewhere {
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
		for _, l := range loads {
			orphans = append(orphans, l.Artifact.ID)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	p.countLake(done)
	if len(orphans) > 0 {
		s := p.stores()
		s.Until = time.Time{} // the orphans are this run's
		if _, err = projection.Update(ctx, s, orphans); err != nil {
			return err
		}
	}
	for id, mark := range marks {
		p.Catalog.Lakes.Named(id, mark)
	}
	return nil
}

// willName reports whether another batch than b, or another process, is about to name the load that
// a record publishes.
func (p *Publisher) willName(ctx context.Context, b *Batch, rec *catalog.Record) (bool, error) {
	p.batches.mu.Lock()
	other := p.batches.queued[rec.ID]
	p.batches.mu.Unlock()
	if other != nil && other != b {
		return true, nil
	}
	o, err := p.Catalog.Ledger.Get(ctx, rec.Published.Source.URL)
	if err != nil || o == nil || o.State != catalog.ObjectLoading && o.State != catalog.ObjectPublished || o.Owner == p.Journal.Worker {
		return false, err
	}
	return p.Crew.Alive(ctx, o.Owner)
}

func (p *Publisher) countLake(done sinks.LakeCommitted) {
	p.Tally.Write(func(r *report.Report) { r.AddLakeFiles(done.Files, done.Bytes) })
}

// settleTime is how long a run leaves a load to the shard that published it.
const settleTime = time.Hour

// stores returns the store and the lake of this run.
func (p *Publisher) stores() projection.Stores {
	s := projection.Stores{Store: p.Store, Keyring: p.Keyring, Lake: p.Lake, Now: p.Now}
	if p.Shards > 1 || p.Crew.Others() {
		s.Until = p.Now().Add(-settleTime)
	}
	return s
}

// UpdateLake brings the lake up to the store, before a run adds anything, if it may be behind. From then on this worker's lease
// answers for what the run changes.
func (p *Publisher) UpdateLake(ctx context.Context) error {
	if p.DryRun {
		return nil
	}
	if p.Lake != nil {
		done, err := projection.CatchUp(ctx, p.stores(), p.Crew.Alive)
		if err != nil {
			return err
		}
		p.countLake(sinks.LakeCommitted{Files: done.Files, Bytes: done.Bytes})
	}
	p.Catalog.Lakes.Lease(p.Journal.Worker)
	return nil
}

// SettleLake notes that the lake follows all that the run has changed, after FlushLake. Without a lake it leaves a note that
// a lake would be behind. If the run ended with an error, the next one compares.
func (p *Publisher) SettleLake(ctx context.Context) error {
	if p.DryRun {
		return nil
	}
	lakes := p.Catalog.Lakes
	unnamed := lakes.Unnamed()
	if p.Lake == nil {
		if err := p.leaveBehind(ctx, len(unnamed) > 0); err != nil {
			return err
		}
	} else if len(unnamed) > 0 { // a load was published, and an error kept it from its batch
		s := p.stores()
		s.Until = time.Time{}
		done, err := projection.Update(ctx, s, unnamed)
		if err != nil {
			return err
		}
		p.countLake(sinks.LakeCommitted{Files: done.Files, Bytes: done.Bytes})
	}
	return lakes.Settle(ctx)
}

// leaveBehind notes that a lake would be behind, in place of this run, if changed says so, and in place of workers that died.
func (p *Publisher) leaveBehind(ctx context.Context, changed bool) error {
	var dead []*catalog.Lag
	err := p.Catalog.Lakes.EachLag(ctx, func(l *catalog.Lag) error {
		if l.Worker == (row.WorkerID{}) || l.Worker == p.Journal.Worker {
			return nil
		}
		lives, err := p.Crew.Alive(ctx, l.Worker)
		if err == nil && !lives {
			dead = append(dead, l)
		}
		return err
	})
	if err == nil && (changed || len(dead) > 0) {
		err = p.Catalog.Lakes.NoteOf(ctx, row.WorkerID{})
	}
	for _, l := range dead {
		if err == nil {
			err = p.Catalog.Lakes.EndLag(ctx, l)
		}
	}
	return err
}
