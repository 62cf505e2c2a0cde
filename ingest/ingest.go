package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/scratch"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/row"
)

// job is one run.
type job struct {
	o       Options
	cat     *row.Catalog
	sources []*source
	budget  *scratch.Budget
	slots   chan struct{}
	group   group
	lake    *lakeside
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	report   *Report
	ended    int // objects
	bytes    int64
	taken    int
	failures int                  // one after the other
	perRound int                  // new objects listed before they are worked off
	woken    map[string][]waiting // by object: what came for it
	wakeList []string
	waits    []waiting // what loads of this run lack

	reconciled bool // the ledger, after a process died
	renaming   bool // nothing is loaded
}

const (
	// maxFailures one after the other say that it is not the objects.
	maxFailures = 5
	// noteObjects are noted as attempted together, if they are small together.
	noteObjects = 32
	noteBytes   = 64 << 20
)

// Run ingests what is new in srcs and reports what became of it. The error is
// that of the environment (store, source, disk) or of ctx; the report says how
// far it came. What one object does wrong is in the report only.
func Run(ctx context.Context, srcs []Source, o Options) (*Report, error) {
	j := newJob(o)
	err := j.open(srcs)
	if err == nil {
		err = j.run(ctx)
	}
	slices.SortFunc(j.report.Rejected, byURL)
	slices.SortFunc(j.report.Failed, byURL)
	j.report.Missing = j.missing()
	j.report.Seconds = j.o.Now().Sub(j.report.Started).Seconds()
	return j.report, err
}

func newJob(o Options) *job {
	o = o.withDefaults()
	j := &job{o: o, cat: row.NewCatalog(o.Store.Catalog, o.Keyring), budget: scratch.NewBudget(o.MemoryBytes),
		lake: newLakeside(o.Lake), slots: make(chan struct{}, o.Workers), woken: make(map[string][]waiting), perRound: roundObjects}
	j.report = &Report{Job: "ingest", Run: o.Run, Started: o.Now(), Rejected: []Rejection{}}
	j.report.Objects.Skipped = map[string]int{}
	if o.Shards > 1 {
		j.report.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	return j
}

// open checks the sources.
func (j *job) open(srcs []Source) error {
	for _, s := range srcs {
		src, err := newSource(s)
		if err != nil {
			return err
		}
		j.sources = append(j.sources, src)
	}
	return nil
}

func byURL(a, b Rejection) int { return strings.Compare(a.URL, b.URL) }

func (j *job) run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j.stop = stop

	var flusher sync.WaitGroup
	done := make(chan struct{})
	flusher.Go(func() {
		tick := time.NewTicker(groupAge / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				j.group.flush(ctx, j, groupAge)
				j.noteWaiting(ctx, groupAge)
			case <-done:
				return
			}
		}
	})
	err := j.project(ctx)
	if err == nil {
		err = j.walk(ctx)
	}
	close(done)
	flusher.Wait()
	j.group.flush(ctx, j, 0)
	j.flushLake(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// walk takes everything that is new, then everything that it completes.
func (j *job) walk(ctx context.Context) error {
	for _, s := range j.sources {
		for after, more := "", true; more; {
			r, err := j.list(ctx, s, after)
			if err != nil {
				return err
			}
			if err := j.round(ctx, r); err != nil {
				return err
			}
			after, more = r.next, r.more
		}
	}
	// Objects end when the lake names them, and only then is it known what they complete.
	j.flushLake(ctx)
	tasks, err := j.wakened(ctx)
	if err != nil || len(tasks) == 0 {
		return err
	}
	return j.work(ctx, tasks, j.o.Workers)
}

// round works off a piece of a listing.
func (j *job) round(ctx context.Context, r *round) error {
	suspects := r.suspects[:0:0]
	for _, t := range r.suspects {
		if t.old.Attempts >= maxAttempts && !j.o.Retry && !j.o.Force {
			if err := j.quarantine(ctx, t); err != nil {
				return err
			}
			continue
		}
		suspects = append(suspects, t)
	}
	if len(r.suspects) > 0 && !j.reconciled && !j.o.DryRun {
		if err := j.reconcile(ctx); err != nil {
			return err
		}
		j.reconciled = true
	}
	j.report.Objects.New += len(r.tasks) + len(r.suspects)
	j.report.Objects.Gone += len(r.gone)
	errs := make([]error, len(r.gone))
	atOnce(len(r.gone), func(i int) { errs[i] = j.vanish(ctx, r.gone[i]) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := j.work(ctx, r.tasks, j.o.Workers); err != nil {
		return err
	}
	// Alone, with nothing else unfinished: the next death has one culprit.
	for _, t := range suspects {
		if err := j.work(ctx, []*task{t}, 1); err != nil {
			return err
		}
	}
	return nil
}

// work takes tasks, several at once, until all are ended and published.
func (j *job) work(ctx context.Context, tasks []*task, workers int) error {
	queue := make(chan *task)
	var wg sync.WaitGroup
	for range min(workers, len(tasks)) {
		wg.Go(func() {
			for t := range queue {
				j.take(ctx, t)
			}
		})
	}
	rest, err := j.feed(ctx, tasks, queue)
	close(queue)
	wg.Wait()
	j.group.flush(ctx, j, 0)
	if len(tasks) > 0 && tasks[0].suspect {
		j.noteWaiting(ctx, 0) // the next one may kill us, too
	}
	err = errors.Join(err, j.leaveAll(ctx, rest))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// leaveAll notes what was not got to; when the run is asked to stop, only what
// it had noted as attempted.
func (j *job) leaveAll(ctx context.Context, rest []*task) error {
	j.mu.Lock()
	j.report.Objects.Pending += len(rest)
	j.mu.Unlock()
	if j.o.DryRun {
		return nil
	}
	if ctx.Err() != nil {
		rest = slices.DeleteFunc(rest, func(t *task) bool { return !t.begun })
		var cancel context.CancelFunc
		ctx, cancel = detached(ctx)
		defer cancel()
	}
	errs := make([]error, len(rest))
	atOnce(len(rest), func(i int) { errs[i] = j.leave(ctx, rest[i]) })
	return errors.Join(errs...)
}

// detached outlives ctx for as long as it takes to say where things stand.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

// feed notes attempts and gives tasks to the workers; rest is what limit or
// deadline left over.
func (j *job) feed(ctx context.Context, tasks []*task, queue chan<- *task) (rest []*task, err error) {
	for len(tasks) > 0 {
		n, size := 0, int64(0)
		for n < len(tasks) && n < noteObjects && (n == 0 || size+tasks[n].entry.Size <= noteBytes) {
			size += tasks[n].entry.Size
			n++
		}
		if j.o.Limit > 0 {
			n = min(n, j.o.Limit-j.taken)
		}
		if n <= 0 || j.late() || ctx.Err() != nil {
			return append(rest, tasks...), nil
		}
		j.taken += n
		now := tasks[:n]
		tasks = tasks[n:]
		ours, errs := make([]bool, n), make([]error, n)
		atOnce(n, func(i int) { ours[i], errs[i] = j.begin(ctx, now[i]) })
		if err := errors.Join(errs...); err != nil {
			return append(rest, tasks...), fmt.Errorf("note attempts in the ledger: %w", err)
		}
		for i, t := range now {
			switch {
			case !ours[i]: // another process has it
			case j.late() || ctx.Err() != nil:
				rest = append(rest, t)
			default:
				select {
				case queue <- t:
				case <-ctx.Done():
					rest = append(rest, t)
				}
			}
		}
	}
	return rest, nil
}

func (j *job) late() bool { return !j.o.Deadline.IsZero() && !j.o.Now().Before(j.o.Deadline) }

// quarantine rejects an object under which the process died too often.
func (j *job) quarantine(ctx context.Context, t *task) error {
	o := j.entry(t, row.ObjectRejected)
	o.Reason, o.Attempts = reasonCrashed, 0
	if !j.o.DryRun {
		if err := j.rename(ctx, t.named, o); err != nil {
			return err
		}
	}
	ok, err := j.note(ctx, t.old, o)
	if err != nil || !ok {
		return err
	}
	j.count(o, nil, []Rejection{{t.url, reasonCrashed}})
	return nil
}

// done counts an object that has ended. err: its ledger entry was not written.
func (j *job) done(x *object, o *row.Object, err error) {
	var rejected []Rejection
	for _, a := range o.Artifacts {
		if a.Outcome == outcomeRejected {
			rejected = append(rejected, Rejection{join(o.URL, a.Member), a.Error})
		}
	}
	j.mu.Lock()
	r := j.report
	r.Artifacts += x.published
	r.Ranges += x.ranges
	r.Classes += x.classes
	r.tell(&r.Warnings, x.warnings...)
	r.Bytes.Stored += x.stored
	r.Bytes.Read += o.Size
	j.mu.Unlock()
	if x.t.rederive && err == nil && o.State != row.ObjectFailed {
		return // it was counted when it was new
	}
	j.count(o, err, rejected)
}

func (j *job) count(o *row.Object, err error, rejected []Rejection) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.report
	state, reason := o.State, o.Reason
	if err != nil && state != row.ObjectPending {
		state, reason = row.ObjectFailed, err.Error()
	}
	switch state {
	case row.ObjectLoaded:
		r.Objects.Loaded++
	case row.ObjectKept:
		r.Objects.Kept++
	case row.ObjectSkipped:
		short, _, _ := strings.Cut(reason, ":") // the sentence is in the ledger
		r.Objects.Skipped[short]++
	case row.ObjectRejected:
		r.Objects.Rejected++
	case row.ObjectPending:
		r.Objects.Pending++
	case row.ObjectGone:
		r.Objects.Gone++
	case row.ObjectFailed:
		r.Objects.Failed++
		r.tell(&r.Failed, Rejection{o.URL, reason})
	}
	if state != row.ObjectFailed && state != row.ObjectPending {
		r.tell(&r.Rejected, rejected...)
	}
	if state == row.ObjectFailed {
		if j.failures++; j.failures >= maxFailures {
			j.stop(fmt.Errorf("%d objects failed one after the other, the last one %s: %s", j.failures, o.URL, reason))
		}
	} else {
		j.failures = 0
	}
	j.ended++
	j.bytes += o.Size
	if j.o.Progress != nil {
		j.o.Progress(Event{URL: o.URL, State: state, Reason: reason, Done: j.ended, Total: r.Objects.New, Bytes: j.bytes})
	}
}

// wakened are the objects whose companions have come, as tasks.
func (j *job) wakened(ctx context.Context) ([]*task, error) {
	if j.o.DryRun || j.late() || ctx.Err() != nil {
		return nil, nil
	}
	// What came while its asker was on its way to the waiters was missed.
	for _, w := range j.waits {
		if strings.HasPrefix(w.key, fileKey) {
			continue
		}
		for _, place := range j.placesOf(ctx, w.key) {
			if _, _, _, err := j.locate(ctx, place); err == nil {
				j.wake([]waiting{w})
				break
			}
		}
	}
	list := j.wakeList
	j.wakeList = nil
	slices.Sort(list)
	var tasks []*task
	for _, url := range list {
		s, e, member, err := j.locate(ctx, url)
		if err != nil || member != "" {
			continue // not of this run's sources, or gone
		}
		old, err := j.cat.Object(ctx, url)
		if err != nil {
			return nil, err
		}
		if old == nil || old.ETag != e.ETag {
			continue // it is new itself, and will ask again
		}
		t := &task{src: s, entry: e, url: url, old: old, named: named(old), rederive: true}
		_, _, err = s.Bucket.Stat(ctx, e.Key+sidecar)
		if err != nil && !errors.Is(err, bucket.ErrNotFound) {
			return nil, err
		}
		t.sidecar = err == nil
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// missing lists the companions that loads of this run still lack.
func (j *job) missing() []string {
	var all []string
	for _, w := range j.waits {
		if !strings.HasPrefix(w.key, fileKey) {
			all = append(all, w.key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
