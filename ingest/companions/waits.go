package companions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/outcome"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// Waits keeps the waiters and obligations of a run. Several goroutines may use it.
type Waits struct {
	Catalog *catalog.Catalog
	Sources discover.Sources

	waiters waiters

	mu      sync.Mutex
	lacking map[string]map[string]bool // companions that loads of this run lack: by URL, then key
}

// Lacking is a load of an object, and what the object knew of its companions when it was read.
type Lacking struct {
	Object *outcome.Object
	Load   *row.Loaded
	Marks  outcome.Marks
}

// keys returns the companions that the load lacks, in order and once each.
func (l *Lacking) keys() []string {
	keys := slices.Concat(l.Load.Quality.Missing, slices.Collect(maps.Keys(l.Marks.Missed)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Await records the companions that a load lacks, before the load becomes visible. Then it looks for
// them once more: they may have come while the run read the object. A companion enters its own names
// before it looks for waiters, so one of the two sees the other.
func (w *Waits) Await(ctx context.Context, l Lacking) error {
	return w.AwaitAll(ctx, []Lacking{l})[0]
}

// lookAtOnce bounds the companions that AwaitAll looks for at the same time.
const lookAtOnce = 64

// AwaitAll does for loads what Await does, and records their waiters in one request. It returns an error for each.
func (w *Waits) AwaitAll(ctx context.Context, list []Lacking) []error {
	errs := make([]error, len(list))
	var names []string
	var waiters []catalog.Waiter
	var of []int // by waiter: its load
	for i, l := range list {
		for _, key := range l.keys() {
			names, of = append(names, key), append(of, i)
			waiters = append(waiters, catalog.Waiter{Artifact: l.Load.Artifact.ID, Object: l.Object.Task.URL})
		}
	}
	if len(names) == 0 {
		return errs
	}
	failed := w.Catalog.Waiters.AddAll(ctx, names, waiters)
	parallel.DoMost(lookAtOnce, len(names), func(n int) {
		if l := list[of[n]]; failed[n] == nil {
			failed[n] = w.lookAgain(ctx, l.Object, l.Marks, Wait{names[n], waiters[n]})
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, key := range names {
		url := waiters[n].Object
		if failed[n] != nil {
			errs[of[n]] = errors.Join(errs[of[n]], failed[n])
			continue
		}
		if w.lacking == nil {
			w.lacking = make(map[string]map[string]bool)
		}
		if w.lacking[url] == nil {
			w.lacking[url] = make(map[string]bool)
		}
		w.lacking[url][key] = true
	}
	return errs
}

// lookAgain records an obligation if the companion came, or changed, while the run read x, or lies in
// a source that this run does not have. If x read the companion as it is, without use, the companion
// wakes x only when it changes.
func (w *Waits) lookAgain(ctx context.Context, x *outcome.Object, m outcome.Marks, wait Wait) error {
	missed, asked := m.Missed[wait.Companion]
	there := false
	var err error
	if asked {
		there, err = w.cameMeanwhile(ctx, x, missed)
	}
	before, known := m.States[wait.Companion]
	if err == nil && !there && known {
		var a Arrival
		if a, err = ArrivalOf(ctx, w.Catalog, wait); err == nil && a.State != "" {
			if there = a.State != before || !w.have(a); !there {
				return w.Catalog.Waiters.MarkInVain(ctx, wait.Companion, wait.Waiter, a.State)
			}
		}
	}
	if err != nil || !there {
		return err
	}
	return w.Catalog.Obligations.Add(ctx, wait.Companion, wait.Waiter)
}

// have reports whether a companion lies in a source of this run.
func (w *Waits) have(a Arrival) bool { return slices.ContainsFunc(a.Places, w.Sources.Have) }

// cameMeanwhile reports whether a companion that x missed exists now.
func (w *Waits) cameMeanwhile(ctx context.Context, x *outcome.Object, m outcome.Missed) (bool, error) {
	if m.Want.ID == "" {
		return w.isBeside(ctx, x, m.Want)
	}
	places, err := Places(ctx, w.Catalog, m.Want.ID)
	if err != nil {
		return false, err
	}
	a, err := ArrivalAt(ctx, w.Catalog, places, x.Task.Source.Standing())
	for _, place := range places {
		if slices.Contains(m.Tried, place) || !w.Sources.Serve(place, x.Task.Source.Standing(), a.Owners) {
			continue
		}
		_, _, _, err := w.Sources.Locate(ctx, place)
		if !errors.Is(err, formats.ErrNoCompanion) {
			return err == nil, err
		}
	}
	return false, err
}

// Announce records an obligation for each object that waits for x. The ledger's entry of x comes
// later: if the process dies in between, another run reads x again.
func (w *Waits) Announce(ctx context.Context, x *outcome.Object) error {
	return w.AnnounceAll(ctx, []*outcome.Object{x})
}

// AnnounceAll announces objects as Announce does, with one look for the waiters of all of them.
func (w *Waits) AnnounceAll(ctx context.Context, objects []*outcome.Object) error {
	var keys []string
	for _, x := range objects {
		keys = append(keys, x.Brought()...)
	}
	slices.Sort(keys)
	waiting, err := w.waiters.find(ctx, w.Catalog, slices.Compact(keys))
	if err != nil {
		return err
	}
	return parallel.Each(waiting, func(a Wait) error { return w.Catalog.Obligations.Add(ctx, a.Companion, a.Waiter) })
}

// Discharge ends the obligations for which the run read x, and the waits that ended with them. An
// obligation stays while the companion lies in no source of this run.
func (w *Waits) Discharge(ctx context.Context, x *outcome.Object) error {
	if err := w.endFound(ctx, x); err != nil {
		return err
	}
	return parallel.Each(x.Task.Owed, func(o *catalog.Obligation) error {
		wait := Wait{o.Companion, o.Waiter}
		lacks, err := w.lacksStill(ctx, x, wait)
		if err == nil && !lacks {
			err = w.end(ctx, wait)
		} else if err == nil {
			var a Arrival
			if a, err = ArrivalOf(ctx, w.Catalog, wait); err == nil && a.State != "" {
				if !w.have(a) {
					return nil
				}
				err = w.Catalog.Waiters.MarkInVain(ctx, wait.Companion, wait.Waiter, a.State)
			}
		}
		if err == nil {
			err = w.Catalog.Obligations.Discharge(ctx, o)
		}
		return err
	})
}

// lacksStill reports whether a wait of x goes on after the run read x: x did not find the companion,
// or was rejected with it, or its published load lacks it, such as a load of an earlier content.
func (w *Waits) lacksStill(ctx context.Context, x *outcome.Object, wait Wait) (bool, error) {
	if !x.Has(wait.Companion) || x.Task.Ledger.State == catalog.ObjectRejected {
		return true, nil
	}
	rec, err := w.Catalog.Artifacts.Get(ctx, wait.Artifact)
	if err != nil || rec == nil || rec.Published == nil {
		return false, err
	}
	return rec.Published.Source.URL == wait.Object && slices.Contains(rec.Published.Quality.Missing, wait.Companion), nil
}

// end removes a waiter.
func (w *Waits) end(ctx context.Context, wait Wait) error {
	w.mu.Lock()
	delete(w.lacking[wait.Object], wait.Companion)
	w.mu.Unlock()
	return w.Catalog.Waiters.Remove(ctx, wait.Companion, wait.Waiter)
}

// endFound removes the waiters of earlier attempts at x for companions that x found this time: a process
// that died may have left a waiter that nothing else would end.
func (w *Waits) endFound(ctx context.Context, x *outcome.Object) error {
	if !x.Task.Seen {
		return nil
	}
	return parallel.Each(x.Found(), func(key string) error {
		if !x.Has(key) {
			return nil
		}
		waiters, err := w.Catalog.Waiters.For(ctx, key)
		for _, waiter := range waiters {
			if err != nil || waiter.Object != x.Task.URL {
				continue
			}
			var lacks bool
			if lacks, err = w.lacksStill(ctx, x, Wait{key, waiter}); err == nil && !lacks {
				err = w.end(ctx, Wait{key, waiter})
			}
		}
		return err
	})
}

// Missing lists the companions that loads of this run still lack.
func (w *Waits) Missing() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, keys := range w.lacking {
		for key := range keys {
			if !strings.HasPrefix(key, FilePrefix) && !strings.HasPrefix(key, imagePrefix) {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Bring enters the companions and builds that x brought under the ids that other objects ask for. The
// catalog knows builds as artifacts. name is the object's, or a member's.
func (w *Waits) Bring(ctx context.Context, x *outcome.Object, name string, companions, builds []string, dryRun bool) error {
	if !dryRun {
		for _, id := range companions {
			if err := w.Catalog.Names.Add(ctx, id, catalog.Ref{Object: name}); err != nil {
				return err
			}
		}
	}
	x.Bring(FileKey(formats.Base(name)))
	for _, id := range slices.Concat(companions, builds) {
		x.Bring(Spellings(strings.Clone(id))...)
	}
	return nil
}

// Owed returns the obligations of a catalog, by URL of the object.
func Owed(ctx context.Context, c *catalog.Catalog) (map[string][]*catalog.Obligation, error) {
	owed := make(map[string][]*catalog.Obligation)
	err := c.Obligations.Each(ctx, func(o *catalog.Obligation) error {
		owed[o.Object] = append(owed[o.Object], o)
		return nil
	})
	return owed, err
}

// Tasks returns the tasks that derive objects of this run's sources again, for obligations (owed, by
// URL) with a companion within reach.
func (w *Waits) Tasks(ctx context.Context, l *discover.Lister, owed map[string][]*catalog.Obligation) ([]*discover.Task, error) {
	urls := slices.DeleteFunc(slices.Sorted(maps.Keys(owed)), func(url string) bool { return !w.Sources.Have(url) })
	tasks, errs := make([]*discover.Task, len(urls)), make([]error, len(urls))
	var reach sync.Map
	parallel.Do(len(urls), func(i int) {
		var err error
		if tasks[i], err = w.task(ctx, l, urls[i], owed[urls[i]], &reach); err != nil {
			errs[i] = fmt.Errorf("derive %s again: %w", urls[i], err)
		}
	})
	tasks = slices.DeleteFunc(tasks, func(t *discover.Task) bool { return t == nil })
	return tasks, errors.Join(errs...)
}

// task returns the task of an object that is to be derived again; nil: it is gone, another process
// has it, or none of its companions is within reach.
func (w *Waits) task(ctx context.Context, l *discover.Lister, url string, owed []*catalog.Obligation, reach *sync.Map) (*discover.Task, error) {
	old, err := w.Catalog.Ledger.Get(ctx, url)
	if err != nil || old == nil {
		return nil, err
	}
	if owed, err = w.reachable(ctx, old.Standing, owed, reach); err != nil || len(owed) == 0 {
		return nil, err
	}
	return l.OwedTask(ctx, w.Sources, old, owed)
}

// reachable returns the obligations of an object with a companion that lies in a source of this run, or
// is gone. known remembers the answers about companions: many objects wait for one.
func (w *Waits) reachable(ctx context.Context, asker row.Standing, owed []*catalog.Obligation, known *sync.Map) (here []*catalog.Obligation, err error) {
	type question struct {
		companion string
		asker     row.Standing
	}
	for _, o := range owed {
		if strings.HasPrefix(o.Companion, FilePrefix) { // it lies beside the object
			here = append(here, o)
			continue
		}
		q := question{o.Companion, asker}
		is, found := known.Load(q)
		if !found {
			places, err := Places(ctx, w.Catalog, o.Companion)
			if err != nil {
				return nil, err
			}
			a, err := ArrivalAt(ctx, w.Catalog, places, asker)
			if err != nil {
				return nil, err
			}
			is = len(a.Places) == 0 || w.have(a)
			known.Store(q, is)
		}
		if is.(bool) {
			here = append(here, o)
		}
	}
	return here, nil
}

// BuildKeys returns the keys under which other objects wait for the builds of an artifact.
func BuildKeys(names []symbol.Name) (keys []string) {
	for _, n := range names {
		if n.Kind == symbol.NameBuildID {
			keys = append(keys, BuildIDPrefix+n.Text)
		}
	}
	return keys
}
