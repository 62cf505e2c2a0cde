package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/companions"
	"github.com/symlake/symlake/ingest/discover"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// maxWakes bounds how often one run derives an object again: a companion that the catalog names
// and no archive holds any more would wake the object each time.
const maxWakes = 2

// readObligations gives what is owed, by URL of the object. A store of an earlier version gets its
// obligations first.
func (j *job) readObligations(ctx context.Context) (map[string][]*catalog.Obligation, error) {
	if !j.o.DryRun {
		joined, err := j.cat.Obligations.Joined(ctx)
		if err == nil && !joined {
			err = companions.Join(ctx, j.cat)
		}
		if err != nil {
			return nil, err
		}
	}
	owed := make(map[string][]*catalog.Obligation)
	err := j.cat.Obligations.Each(ctx, func(o *catalog.Obligation) error {
		owed[o.Object] = append(owed[o.Object], o)
		return nil
	})
	return owed, err
}

// settleLedgers does what earlier processes left undone in the ledger.
func (j *job) settleLedgers(ctx context.Context) error {
	var owed []*catalog.Obligation
	err := j.cat.Obligations.EachLedger(ctx, func(o *catalog.Obligation) error {
		owed = append(owed, o)
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(owed, func(o *catalog.Obligation) error { return ledger.FollowRecord(ctx, j.cat, o) })
}

// await records what a load lacks before the load becomes visible, then looks once more for what
// came while the object was read. A companion enters its own names before it looks for waiters, so
// one of the two sees the other.
func (j *job) await(ctx context.Context, p *pending) error {
	keys := slices.Concat(p.loaded.Quality.Missing, slices.Collect(maps.Keys(p.missed)))
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) == 0 {
		return nil
	}
	errs := make([]error, len(keys))
	parallel.Do(len(keys), func(i int) {
		w := companions.Wait{Companion: keys[i], Waiter: catalog.Waiter{Artifact: p.id, Object: p.x.t.URL}}
		errs[i] = j.cat.Waiters.Add(ctx, w.Companion, w.Waiter)
		if errs[i] == nil {
			errs[i] = j.lookAgain(ctx, p, w)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lacking[p.x.t.URL] == nil {
		j.lacking[p.x.t.URL] = make(map[string]bool)
	}
	for _, key := range keys {
		j.lacking[p.x.t.URL][key] = true
	}
	return nil
}

// awaitToo records what l lacks where another object has published equal content: that object may
// be gone when the companion comes.
func (x *object) awaitToo(ctx context.Context, p, l *row.Loaded) error {
	if p.Digest != l.Digest || x.j.o.DryRun {
		return nil
	}
	x.mu.Lock()
	twin := &pending{x: x, id: l.Artifact.ID, loaded: l, missed: maps.Clone(x.missed), states: maps.Clone(x.states)}
	x.mu.Unlock()
	return environment(x.j.await(ctx, twin))
}

// lookAgain records an obligation if the companion that w lacks came, or changed, while the object
// was read, or lies in another source than those of this run. A companion that is as it was when
// the object was read beside it, without use, wakes the object only when it changes.
func (j *job) lookAgain(ctx context.Context, p *pending, w companions.Wait) error {
	m, asked := p.missed[w.Companion]
	there := false
	var err error
	if asked {
		there, err = j.cameMeanwhile(ctx, p.x, m)
	}
	before, known := p.states[w.Companion]
	if err == nil && !there && known {
		var a companions.Arrival
		if a, err = companions.ArrivalOf(ctx, j.cat, w); err == nil && a.State != "" {
			if there = a.State != before || !j.holds(a); !there {
				return j.cat.Waiters.MarkInVain(ctx, w.Companion, w.Waiter, a.State)
			}
		}
	}
	if err != nil || !there {
		return err
	}
	return j.cat.Obligations.Add(ctx, w.Companion, w.Waiter)
}

// holds reports whether a companion lies in a source of this run.
func (j *job) holds(a companions.Arrival) bool {
	return slices.ContainsFunc(a.Places, j.sources.Have)
}

// cameMeanwhile reports whether a companion that was missing is there now.
func (j *job) cameMeanwhile(ctx context.Context, x *object, m missed) (bool, error) {
	if m.want.ID != "" {
		places, err := j.placesOf(ctx, m.want.ID)
		if err != nil {
			return false, err
		}
		a, err := companions.ArrivalAt(ctx, j.cat, places, x.t.Source.Standing())
		for _, place := range places {
			if slices.Contains(m.tried, place) || !j.sources.Serve(place, x.t.Source.Standing(), a.Owners) {
				continue
			}
			_, _, _, err := j.sources.Locate(ctx, place)
			if !errors.Is(err, formats.ErrNoCompanion) {
				return err == nil, err
			}
		}
		return false, err
	}
	return x.isBeside(ctx, m.want)
}

// announce records an obligation for each object that waits for what x brought. The ledger's entry
// of x comes after it: a run that dies in between takes x again.
func (x *object) announce(ctx context.Context) error {
	x.mu.Lock()
	keys := slices.Clone(x.brought)
	x.mu.Unlock()
	slices.Sort(keys)
	keys = slices.Compact(keys)
	errs := make([]error, len(keys))
	parallel.Do(len(keys), func(i int) {
		waiters, err := x.j.cat.Waiters.For(ctx, keys[i])
		for _, w := range waiters {
			if err == nil {
				err = x.j.cat.Obligations.Add(ctx, keys[i], w)
			}
		}
		errs[i] = err
	})
	return errors.Join(errs...)
}

// found reports whether x, which was read just now, has what the key names.
func (x *object) found(key string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, missed := x.missed[key]
	return !missed && !slices.Contains(x.lacks, key)
}

// discharge ends the obligations that x was taken for, and the waits that ended with them. The
// obligation stays while the companion lies in no source of this run.
func (x *object) discharge(ctx context.Context) error {
	if err := x.stopWaiting(ctx); err != nil {
		return err
	}
	errs := make([]error, len(x.t.Owed))
	parallel.Do(len(x.t.Owed), func(i int) {
		o := x.t.Owed[i]
		w := companions.Wait{Companion: o.Companion, Waiter: o.Waiter}
		lacks, err := x.lacksStill(ctx, w)
		if err == nil && !lacks {
			err = x.endWait(ctx, w)
		} else if err == nil {
			var a companions.Arrival
			if a, err = companions.ArrivalOf(ctx, x.j.cat, w); err == nil && a.State != "" {
				if !x.j.holds(a) {
					return
				}
				err = x.j.cat.Waiters.MarkInVain(ctx, w.Companion, w.Waiter, a.State)
			}
		}
		if err == nil {
			err = x.j.cat.Obligations.Discharge(ctx, o)
		}
		errs[i] = err
	})
	return errors.Join(errs...)
}

// lacksStill reports whether a wait of x goes on after x was read: x did not find the companion, or
// was rejected with it, or the load that x published lacks it, such as a load of an earlier content.
func (x *object) lacksStill(ctx context.Context, w companions.Wait) (bool, error) {
	if !x.found(w.Companion) || x.t.Ledger.State == catalog.ObjectRejected {
		return true, nil
	}
	rec, err := x.j.cat.Artifacts.Get(ctx, w.Artifact)
	if err != nil || rec == nil || rec.Published == nil {
		return false, err
	}
	return rec.Published.Source.URL == w.Object && slices.Contains(rec.Published.Quality.Missing, w.Companion), nil
}

// endWait removes a waiter.
func (x *object) endWait(ctx context.Context, w companions.Wait) error {
	x.j.lacksNot(w.Object, w.Companion)
	return x.j.cat.Waiters.Remove(ctx, w.Companion, w.Waiter)
}

// stopWaiting removes what earlier attempts at x recorded of companions that x found this time: a
// process that died may have left a waiter and nothing that would end it.
func (x *object) stopWaiting(ctx context.Context) error {
	if !x.t.Seen {
		return nil
	}
	x.mu.Lock()
	keys := slices.Sorted(maps.Keys(x.got))
	x.mu.Unlock()
	errs := make([]error, len(keys))
	parallel.Do(len(keys), func(i int) {
		if !x.found(keys[i]) {
			return
		}
		waiters, err := x.j.cat.Waiters.For(ctx, keys[i])
		for _, w := range waiters {
			if err != nil || w.Object != x.t.URL {
				continue
			}
			var lacks bool
			if lacks, err = x.lacksStill(ctx, companions.Wait{Companion: keys[i], Waiter: w}); err == nil && !lacks {
				err = x.endWait(ctx, companions.Wait{Companion: keys[i], Waiter: w})
			}
		}
		errs[i] = err
	})
	return errors.Join(errs...)
}

// lacksNot notes that an object lacks a companion no longer.
func (j *job) lacksNot(object, companion string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.lacking[object], companion)
}

// fulfil derives again the objects of this run's sources that obligations name: those that earlier
// runs left, and those that this run and others beside it recorded.
func (j *job) fulfil(ctx context.Context) error {
	if j.o.DryRun || j.o.Isolated {
		return nil
	}
	tried := make(map[string]int)
	for !j.late() && ctx.Err() == nil {
		owed, err := j.readObligations(ctx)
		if err != nil {
			return err
		}
		urls := slices.DeleteFunc(slices.Sorted(maps.Keys(owed)), func(url string) bool { return tried[url] >= maxWakes || !j.sources.Have(url) })
		tasks, errs := make([]*discover.Task, len(urls)), make([]error, len(urls))
		var reach sync.Map
		parallel.Do(len(urls), func(i int) {
			var err error
			if tasks[i], err = j.owedTask(ctx, urls[i], owed[urls[i]], &reach); err != nil {
				errs[i] = fmt.Errorf("derive %s again: %w", urls[i], err)
			}
		})
		if err := errors.Join(errs...); err != nil {
			return err
		}
		r := &discover.Round{Tasks: slices.DeleteFunc(tasks, func(t *discover.Task) bool { return t == nil })}
		for _, t := range r.Tasks {
			tried[t.URL]++
		}
		if len(r.Tasks) == 0 {
			return nil
		}
		r.Part()
		if err := j.work(ctx, r.Tasks, j.o.Workers); err != nil {
			return err
		}
		if err := j.doubtful(ctx, r.Suspects); err != nil {
			return err
		}
		// An object ends, and its obligations with it, when the lake names what it loaded.
		j.flushLake(ctx)
	}
	return nil
}

// owedTask is the task of an object that is to be derived again. nil: the object is not of this
// run's sources, is gone or changed, is quarantined, or another process has it; or none of its
// companions is within reach.
func (j *job) owedTask(ctx context.Context, url string, owed []*catalog.Obligation, reach *sync.Map) (*discover.Task, error) {
	old, err := j.cat.Ledger.Get(ctx, url)
	if err != nil || old == nil {
		return nil, err
	}
	if owed, err = j.reachable(ctx, old.Standing, owed, reach); err != nil || len(owed) == 0 {
		return nil, err
	}
	return j.lister.OwedTask(ctx, j.sources, old, owed)
}

// reachable are the obligations of an object whose companion lies in a source of this run, or is
// gone. known remembers the answers about companions: many objects wait for one.
func (j *job) reachable(ctx context.Context, asker row.Standing, owed []*catalog.Obligation, known *sync.Map) (here []*catalog.Obligation, err error) {
	type question struct {
		companion string
		asker     row.Standing
	}
	for _, o := range owed {
		if strings.HasPrefix(o.Companion, companions.FilePrefix) { // it lies beside the object
			here = append(here, o)
			continue
		}
		q := question{o.Companion, asker}
		is, found := known.Load(q)
		if !found {
			places, err := j.placesOf(ctx, o.Companion)
			if err != nil {
				return nil, err
			}
			a, err := companions.ArrivalAt(ctx, j.cat, places, asker)
			if err != nil {
				return nil, err
			}
			is = len(a.Places) == 0 || j.holds(a)
			known.Store(q, is)
		}
		if is.(bool) {
			here = append(here, o)
		}
	}
	return here, nil
}

// missing lists the companions that loads of this run still lack.
func (j *job) missing() []string {
	var all []string
	for _, keys := range j.lacking {
		for key := range keys {
			if !strings.HasPrefix(key, companions.FilePrefix) {
				all = append(all, key)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
