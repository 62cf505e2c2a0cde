package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/ingest/wanted"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// The outbox of the report. A process opens an account (catalog.Account) before its first ledger
// entry. Its ledger entries and loads name that account, so a kill loses nothing: the next run
// counts the ledger and the records (recall), and closes the account with what it found. A process
// that ends by itself closes its own account with its report. The process that writes a closed
// account's report out completely removes the account (Telling). An object costs no transaction of
// its own. Of an object that changed again before a dead process was counted, and of a load that
// was replaced twice, the last outcome alone is told.

// tells reports whether this process has an account of its own.
func (j *job) tells() bool {
	return !j.o.DryRun && !j.lister.Renaming && j.o.Teller == (row.WorkerID{})
}

// openAccount enters this process's account, once, before the first object is noted.
func (j *job) openAccount(ctx context.Context) error {
	j.accounting.Lock()
	defer j.accounting.Unlock()
	if j.account != nil || !j.tells() {
		return nil
	}
	a := &catalog.Account{ID: j.worker, Run: j.o.Run, Shard: j.report.Shard, Started: j.report.Started}
	if !j.o.TellLater {
		a.Teller = j.o.teller()
	}
	if err := j.cat.Accounts.Swap(ctx, nil, a); err != nil {
		return fmt.Errorf("enter this run in the outbox of reports: %w", err)
	}
	j.account, j.report.Account = a, a.ID.String()
	return nil
}

// teller is this process as one that is about to tell an account.
func (o *Options) teller() *catalog.Teller {
	return &catalog.Teller{Host: o.Host, Process: o.Process, At: o.Now()}
}

// closeAccount writes the report into this process's account, and strikes the wanted names that
// came. It is called while the lease still holds, or another process would recall the account.
func (j *job) closeAccount(ctx context.Context, ended error) error {
	if j.account == nil {
		return nil
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = ledger.Detached(ctx)
		defer cancel()
	}
	r := *j.report
	if ended != nil {
		r.Error = ended.Error()
	}
	text, err := json.Marshal(&r)
	if err != nil {
		return err
	}
	err = outbox.Change(ctx, j.cat, j.account, func(a *catalog.Account) bool {
		if !a.Ended.IsZero() {
			return false // a process that took this one for dead has counted it
		}
		a.Ended, a.Report = j.o.Now(), text
		if a.Teller != nil {
			a.Teller = j.o.teller() // from now on it has a minute
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("write the report into the outbox: %w", err)
	}
	return j.wanted.Strike(ctx, j.cat)
}

// recall closes the accounts of processes that died, with what the ledger and the records say of
// them. It waits until it knows of each account that is at least that old whether its process
// lives: no longer than a lease.
func (j *job) recall(ctx context.Context, old time.Duration) error {
	for {
		dead, unsure, err := j.deadAccounts(ctx, old)
		if err == nil && len(dead) > 0 {
			err = j.recount(ctx, dead)
		}
		if err != nil {
			return fmt.Errorf("count what processes did that died: %w", err)
		}
		if !unsure {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(crew.JudgeAge):
		}
	}
}

// deadAccounts returns the open accounts of processes that died. unsure: of others, at least that
// old, it cannot tell yet.
func (j *job) deadAccounts(ctx context.Context, old time.Duration) (dead []*catalog.Account, unsure bool, err error) {
	var open []*catalog.Account
	err = j.cat.Accounts.Each(ctx, func(a *catalog.Account) error {
		if a.Ended.IsZero() && a.ID != j.worker {
			open = append(open, a)
		}
		return nil
	})
	if err != nil {
		return nil, false, outbox.ReadError(err)
	}
	for _, a := range open {
		var s crew.Sighting
		if s, err = j.crew.Judge(ctx, a.ID); err != nil {
			break
		}
		switch {
		case !s.Alive:
			dead = append(dead, a)
		case !s.Beats && j.o.Now().Sub(a.Started) >= old:
			unsure = true
		}
	}
	return dead, unsure, err
}

// recount closes accounts with what the ledger and the records say of them.
func (j *job) recount(ctx context.Context, accounts []*catalog.Account) error {
	c := &recount{reports: map[row.WorkerID]*report.Report{}, arrived: map[row.WorkerID][]*catalog.Wanted{}, wanted: map[string]*catalog.Wanted{}, conflicts: map[string][]report.Conflict{}}
	for _, a := range accounts {
		c.reports[a.ID] = &report.Report{Job: "ingest", Run: a.Run, Shard: a.Shard, Account: a.ID.String(), Started: a.Started, Recounted: 1,
			Error: "the process died", Rejected: []report.Rejection{}, Objects: report.ObjectCounts{Skipped: map[string]int{}}}
	}
	err := j.cat.Conflicts.Each(ctx, "", func(x *catalog.Conflict) error {
		c.conflicts[x.KeptOut.URL] = append(c.conflicts[x.KeptOut.URL], report.NewConflict(x))
		return nil
	})
	if err == nil {
		err = j.cat.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
			c.wanted[wanted.Key(w.Name)] = w
			return nil
		})
	}
	if err == nil {
		err = j.cat.Artifacts.Each(ctx, func(rec *catalog.Record) error { c.record(rec); return nil })
	}
	if err == nil {
		err = j.cat.Ledger.Each(ctx, "", func(o *catalog.Object) error { c.object(o); return nil })
	}
	for _, a := range accounts {
		if err != nil {
			return err
		}
		var text []byte
		if text, err = json.Marshal(c.reports[a.ID]); err != nil {
			return err
		}
		err = outbox.Change(ctx, j.cat, a, func(now *catalog.Account) bool {
			if !now.Ended.IsZero() {
				return false
			}
			now.Ended, now.Report, now.Teller = j.o.Now(), text, nil
			return true
		})
		if err == nil {
			err = parallel.Each(c.arrived[a.ID], func(w *catalog.Wanted) error { return j.cat.Demand.RemoveWanted(ctx, w) })
		}
	}
	return err
}

// recount counts for several accounts at once what stands in their names.
type recount struct {
	reports map[row.WorkerID]*report.Report
	wanted  map[string]*catalog.Wanted
	arrived map[row.WorkerID][]*catalog.Wanted
	// conflicts are those that are open, by object.
	conflicts map[string][]report.Conflict
}

// record counts the loads of an artifact.
func (c *recount) record(rec *catalog.Record) {
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if l == nil || c.reports[l.By] == nil {
			continue
		}
		r := c.reports[l.By]
		r.CountLoad(l)
		for _, w := range l.Quality.Warnings {
			r.Append(&r.Warnings, report.Rejection{URL: ledger.Place(l.Source.URL, l.Source.Member), Error: w})
		}
		if l != rec.Published {
			continue
		}
		r.Missing = append(r.Missing, l.Quality.Missing[:min(len(l.Quality.Missing), max(0, report.MaxListed-len(r.Missing)))]...)
		for _, n := range rec.Names {
			key := wanted.Key(n.Text)
			if w := c.wanted[key]; w != nil {
				delete(c.wanted, key)
				r.AddWanted(w, rec.ID)
				c.arrived[l.By] = append(c.arrived[l.By], w)
			}
		}
	}
}

// object counts a ledger entry.
func (c *recount) object(o *catalog.Object) {
	r := c.reports[o.By]
	if r == nil {
		return
	}
	n := &r.Objects
	state := o.State
	if o.Again {
		state = ledger.EndedAs(o)
	}
	switch state {
	default:
		return
	case catalog.ObjectLoaded:
		n.Loaded++
	case catalog.ObjectKept:
		n.Kept++
	case catalog.ObjectConflict:
		n.Conflict++
	case catalog.ObjectSkipped:
		n.Skipped[ledger.ShortReason(o.Reason)]++
	case catalog.ObjectRejected:
		n.Rejected++
	case catalog.ObjectFailed:
		n.Failed++
		r.Append(&r.Failed, report.Rejection{URL: o.URL, Error: o.Reason})
	}
	n.Seen++
	n.New++
	r.Bytes.Read += o.Size
	if state == catalog.ObjectFailed {
		return // its parts are told when it has ended
	}
	rejected := report.Rejected(o)
	if state == catalog.ObjectRejected && len(rejected) == 0 {
		rejected = []report.Rejection{{URL: o.URL, Error: o.Reason}}
	}
	r.Append(&r.Rejected, rejected...)
	r.AddConflicts(c.conflicts[o.URL]...)
	for _, a := range o.Artifacts {
		if a.Outcome == ledger.OutcomeHeld {
			r.Append(&r.Held, report.Rejection{URL: ledger.Place(o.URL, a.Member), Error: a.Error})
		}
	}
}
