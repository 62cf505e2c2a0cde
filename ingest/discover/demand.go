package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/catalog"
)

const (
	// A source that cannot list is asked for demandBuilds builds, demandAtOnce of them at a time, before the run reads what
	// was found. It is a server of other people.
	demandBuilds = 64
	demandAtOnce = 4

	// A build that the source does not have is asked for again after absentPause, then after twice the time each time.
	absentPause = time.Hour
	maxAbsent   = 7 * 24 * time.Hour
)

// demanded gives the objects of the builds that look-ups asked for in vain, and that objects wait for. The source cannot
// list, and finds them by build-id.
func (l *Lister) demanded(ctx context.Context, s *CheckedSource, by bucket.ByBuildID, take Take) error {
	if l.Renaming {
		return nil
	}
	builds, err := l.missingBuilds(ctx)
	if err != nil {
		return err
	}
	return askFor(ctx, l, s, builds, take, func(id string) (*Task, error) { return l.buildTask(ctx, s, by, id) })
}

// askFor asks a source for all wanted files, some at a time. task makes the task of one, or returns nil.
func askFor[T any](ctx context.Context, l *Lister, s *CheckedSource, wanted []T, take Take, task func(T) (*Task, error)) error {
	for len(wanted) > 0 && !l.Late() && ctx.Err() == nil {
		some := wanted[:min(len(wanted), demandBuilds)]
		wanted = wanted[len(some):]
		found, errs := make([]*Task, len(some)), make([]error, len(some))
		parallel.DoMost(demandAtOnce, len(some), func(i int) { found[i], errs[i] = task(some[i]) })
		if err := take(ctx, roundOf(found)); err != nil {
			return err
		}
		var away error
		for _, err := range errs {
			if err != nil && !errors.Is(err, bucket.ErrPartial) {
				return err
			}
			away = cmp.Or(away, err)
		}
		if away != nil { // the others would say the same
			return &Unlisted{fmt.Errorf("ask %s for builds: %w", s.Prefix, away)}
		}
	}
	return ctx.Err()
}

// missingBuilds returns the build-ids that look-ups and objects lack, most often asked for first, those that objects
// wait for behind.
func (l *Lister) missingBuilds(ctx context.Context) (ids []string, err error) {
	var wanted []*catalog.Wanted
	err = l.Catalog.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		if mayBeBuild(w) {
			wanted = append(wanted, w)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(wanted, func(a, b *catalog.Wanted) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), strings.Compare(a.Name, b.Name))
	})
	known := map[string]bool{}
	add := func(id string) {
		if id = strings.ToLower(id); !known[id] {
			known[id] = true
			ids = append(ids, id)
		}
	}
	for _, w := range wanted {
		add(w.Name)
	}
	var waited []string
	err = l.Catalog.Waiters.Each(ctx, func(companion string, _ catalog.Waiter) error {
		for _, prefix := range []string{"build-id:", "dwz:"} {
			if id, ok := strings.CutPrefix(companion, prefix); ok {
				waited = append(waited, id)
			}
		}
		return nil
	})
	slices.Sort(waited)
	for _, id := range waited {
		add(id)
	}
	return ids, err
}

// uuidDigits are the digits of a UUID: images of Apple's systems and of Windows have such ids, too.
const uuidDigits = 32

// mayBeBuild reports whether a wanted name may be the build-id of an ELF file.
func mayBeBuild(w *catalog.Wanted) bool {
	name := strings.ToLower(w.Name)
	if len(name) < 16 || len(name) > 64 || len(name)%2 != 0 || strings.Trim(name, "0123456789abcdef") != "" || w.Kind == "java" {
		return false
	}
	return len(name) != uuidDigits || strings.Contains(path.Base(w.File), ".so")
}

// buildTask makes a task of the first file that the source has of a build. nil: it has none, the store has the build, or
// the run does not want it. The error is Unlisted if the source cannot be asked.
func (l *Lister) buildTask(ctx context.Context, s *CheckedSource, by bucket.ByBuildID, id string) (*Task, error) {
	keys := by.Keys(id)
	if len(keys) == 0 || ShardOf(keys[0], l.Shards) != l.Shard {
		return nil, nil
	}
	rec, err := l.Catalog.Artifacts.Get(ctx, symbol.NewID(symbol.ELF, id))
	if err != nil {
		return nil, err
	}
	if rec != nil && rec.Published != nil {
		// A program without debug information, of a source before this one, leaves the wish for that.
		if !strings.HasSuffix(rec.Published.Source.URL, keys[len(keys)-1]) {
			return nil, nil
		}
		keys = keys[:1]
	}
	for _, key := range keys {
		if !s.takes(key) {
			continue
		}
		t, next, err := l.buildFile(ctx, s, key)
		if err != nil || !next {
			return t, err
		}
	}
	return nil, nil
}

// buildFile makes a task of a file of a build. next: the source does not have it, or it is of no use.
func (l *Lister) buildFile(ctx context.Context, s *CheckedSource, key string) (t *Task, next bool, err error) {
	url := s.Bucket.URL(key)
	old, err := l.Catalog.Ledger.Get(ctx, url)
	if err != nil {
		return nil, false, err
	}
	if old != nil && !l.Force {
		switch {
		case old.State == catalog.ObjectGone && old.Reason == ledger.ReasonForgotten:
			return nil, false, nil
		case old.State == catalog.ObjectGone && !l.Retry && l.Now().Before(old.Last.Add(pauseAfter(old.Attempts))):
			return nil, true, nil
		}
	}
	e, _, err := s.Bucket.Stat(ctx, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, true, l.noteAbsent(ctx, s, url, old)
	}
	if err != nil {
		if ctx.Err() == nil {
			err = &Unlisted{err}
		}
		return nil, false, err
	}
	t = &Task{Source: s, Entry: e, URL: url, Ledger: old, Named: ledger.IsNamed(old)}
	if t.Fresh, err = l.isNew(ctx, t); err != nil {
		return nil, false, err
	}
	return t, !t.Fresh && old != nil && (old.State == catalog.ObjectSkipped || old.State == catalog.ObjectRejected), nil
}

// pauseAfter returns how long a build is not asked for after the source did not have it so many times.
func pauseAfter(times int) time.Duration {
	if times > 8 {
		return maxAbsent
	}
	return min(absentPause<<max(0, times-1), maxAbsent)
}

// noteAbsent notes that the source does not have a file. If another process noted the same, that is enough.
func (l *Lister) noteAbsent(ctx context.Context, s *CheckedSource, url string, old *catalog.Object) error {
	if l.DryRun || old != nil && old.State != catalog.ObjectGone {
		return nil
	}
	now := l.Now()
	next := &catalog.Object{URL: url, State: catalog.ObjectGone, Reason: ledger.ReasonAbsent, Attempts: 1, First: now, Last: now, Standing: s.Standing()}
	if old != nil {
		next.First, next.Attempts = old.First, old.Attempts+1
	}
	if err := l.Catalog.Ledger.Swap(ctx, old, next); err != nil && !errors.Is(err, sinks.ErrConflict) {
		return err
	}
	return nil
}

// demandedModules gives the objects of the modules of Windows that look-ups asked for in vain. The source cannot list, and
// finds them by the name of a file and an id.
func (l *Lister) demandedModules(ctx context.Context, s *CheckedSource, by bucket.ByModule, take Take) error {
	if l.Renaming {
		return nil
	}
	var wanted []*catalog.Wanted
	err := l.Catalog.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		if w.File != "" && len(by.ModuleKeys(w.File, w.Name)) > 0 {
			wanted = append(wanted, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(wanted, func(a, b *catalog.Wanted) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), strings.Compare(a.Name, b.Name))
	})
	return askFor(ctx, l, s, wanted, take, func(w *catalog.Wanted) (*Task, error) { return l.moduleTask(ctx, s, by, w) })
}

// moduleTask makes a task of the first file that the source has of a module. nil: it has none, the store has the module, or the
// run does not want it. The error is Unlisted if the source cannot be asked.
func (l *Lister) moduleTask(ctx context.Context, s *CheckedSource, by bucket.ByModule, w *catalog.Wanted) (*Task, error) {
	keys := by.ModuleKeys(w.File, w.Name)
	if ShardOf(keys[0], l.Shards) != l.Shard {
		return nil, nil
	}
	if canonical := moduleID(w.Name); canonical != "" {
		rec, err := l.Catalog.Artifacts.Get(ctx, symbol.NewID(symbol.PE, canonical))
		if err != nil || rec != nil && rec.Published != nil {
			return nil, err
		}
	}
	for _, key := range keys {
		if !s.takes(key) {
			continue
		}
		t, next, err := l.buildFile(ctx, s, key)
		if err != nil || !next {
			return t, err
		}
	}
	return nil, nil
}

// moduleID returns the canonical id of a module by a GUID and an age in any spelling; "": the name has none.
func moduleID(name string) string {
	const guid = 32
	d := strings.ToLower(strings.ReplaceAll(name, "-", ""))
	if len(d) <= guid {
		return ""
	}
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:guid] + "-" + d[guid:]
}
