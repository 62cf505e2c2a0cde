package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// tellTime is how long a process on another host has to write the report that it has begun to tell.
	tellTime = time.Minute
	// maxAhead is how far the clock of another host may be ahead. A time beyond that is a clock's
	// mistake, and would keep the report until it has come.
	maxAhead = 10 * time.Minute
	// keepTold is how long accounts of a run that was told wait for more attempts of it.
	keepTold = 24 * time.Hour
	// maxAccounts bounds what one report sums.
	maxAccounts = 1000
	// maxYoung is how young an open account may be for a run not to wait for news of its process.
	maxYoung = 10 * time.Minute
	never    = 1<<63 - 1
)

// Telling is a report that is about to be written, with the accounts in it. No other process tells
// these accounts until their teller is known to be dead, or a minute is over.
type Telling struct {
	// Report is the sum of the accounts that were not told yet; nil: there are none.
	Report *report.Report

	o        *Options
	cat      *catalog.Catalog
	accounts []*catalog.Account
}

// Pending sums the accounts that were not told yet, except accounts of processes that still work. It
// waits until it knows whether the processes live: at most half a minute. Unless Options.TellLater
// is set, it claims the accounts for Done.
func Pending(ctx context.Context, o Options) (*Telling, error) {
	j := newJob(o)
	if err := j.recall(ctx, 0); err != nil {
		return nil, err
	}
	all, err := j.accounts(ctx)
	if err != nil {
		return nil, err
	}
	t := &Telling{o: &j.o, cat: j.cat}
	if err := t.claim(ctx, all); err != nil {
		return nil, err
	}
	if t.Report, err = j.sum(ctx, t.accounts); t.Report != nil && err == nil {
		err = j.strike(ctx, t.Report.Wanted)
	}
	return t, err
}

// Tell adds to the report of a run that ended what its earlier attempts did and, unless
// Options.TellLater is set, what other runs did and did not tell.
func Tell(ctx context.Context, r *report.Report, o Options) (*Telling, error) {
	j := newJob(o)
	if err := j.recall(ctx, maxYoung); err != nil {
		return nil, err
	}
	all, err := j.accounts(ctx)
	if err != nil {
		return nil, err
	}
	t := &Telling{o: &j.o, cat: j.cat, Report: r}
	var attempts, others []*catalog.Account
	for _, a := range all {
		switch {
		case a.ID.String() == r.Account:
			t.accounts = append(t.accounts, a)
		case o.Attempts && a.Run == r.Run && a.Shard == r.Shard:
			attempts = append(attempts, a)
		case a.Told.IsZero():
			others = append(others, a)
		}
	}
	if err := j.addAttempts(ctx, r, attempts); err != nil || o.TellLater {
		return t, err
	}
	t.accounts = append(t.accounts, slices.DeleteFunc(attempts, func(a *catalog.Account) bool { return !a.Told.IsZero() })...)
	ours := len(t.accounts)
	if err := t.claim(ctx, others); err != nil {
		return nil, err
	}
	if r.Earlier, err = j.sum(ctx, t.accounts[ours:]); r.Earlier != nil && err == nil {
		err = j.strike(ctx, r.Earlier.Wanted)
	}
	return t, err
}

// strike removes wanted names that came, in case a process died between closing its account and that.
func (j *job) strike(ctx context.Context, came []report.WantedName) error {
	if len(came) == 0 {
		return nil
	}
	known := make(map[string]uint64, len(came))
	for _, w := range came {
		known[w.Name] = w.Asked
	}
	var left []*catalog.Wanted
	err := j.cat.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		if asked, ok := known[w.Name]; ok && asked == w.Asked {
			left = append(left, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(left, func(w *catalog.Wanted) error { return j.cat.Demand.RemoveWanted(ctx, w) })
}

// accounts lists the closed accounts, oldest first. It removes those that were told long ago.
func (j *job) accounts(ctx context.Context) ([]*catalog.Account, error) {
	var closed, over []*catalog.Account
	err := j.cat.Accounts.Each(ctx, func(a *catalog.Account) error {
		switch {
		case a.Ended.IsZero():
		case !a.Told.IsZero() && a.Run != j.o.Run && j.o.Now().Sub(a.Told) > keepTold:
			over = append(over, a)
		default:
			closed = append(closed, a)
		}
		return nil
	})
	if err != nil {
		return nil, outbox.ReadError(err)
	}
	slices.SortFunc(closed, func(a, b *catalog.Account) int { return a.Started.Compare(b.Started) })
	return closed, parallel.Each(over, func(a *catalog.Account) error { return outbox.Remove(ctx, j.cat, a) })
}

// claim takes the accounts that were not told and that no other process is telling.
func (t *Telling) claim(ctx context.Context, all []*catalog.Account) error {
	for _, a := range all {
		if !a.Told.IsZero() || !t.free(a.Teller) {
			continue
		}
		if len(t.accounts) >= maxAccounts {
			break // the next report tells the others
		}
		if t.o.TellLater { // it is printed, and not acknowledged yet
			t.accounts = append(t.accounts, a)
			continue
		}
		next := *a
		next.Teller = t.o.teller()
		err := t.cat.Accounts.Swap(ctx, a, &next)
		if errors.Is(err, sinks.ErrConflict) {
			continue // another process was faster
		}
		if err != nil {
			return fmt.Errorf("claim a report of the outbox: %w", err)
		}
		t.accounts = append(t.accounts, &next)
	}
	return nil
}

func (t *Telling) free(by *catalog.Teller) bool {
	if by == nil || by.Host == t.o.Host && by.Process == t.o.Process {
		return true
	}
	if t.o.Alive != nil {
		if alive, known := t.o.Alive(by.Host, by.Process); known {
			return !alive
		}
	}
	age := t.o.Now().Sub(by.At)
	return age > tellTime || age < -maxAhead
}

// Release gives claimed accounts back, so that another process can tell them at once.
func (t *Telling) Release(ctx context.Context) error {
	if t.o.TellLater {
		return nil
	}
	return parallel.Each(t.accounts, func(a *catalog.Account) error {
		return outbox.Change(ctx, t.cat, a, func(a *catalog.Account) bool {
			a.Teller = nil
			return true
		})
	})
}

// Done notes that the report was written out completely. Accounts that later attempts of the run
// sum are kept for a day, the others are removed.
func (t *Telling) Done(ctx context.Context) error {
	err := parallel.Each(t.accounts, func(a *catalog.Account) error {
		if !t.o.Attempts || a.Run != t.o.Run {
			return outbox.Remove(ctx, t.cat, a)
		}
		return outbox.Change(ctx, t.cat, a, func(a *catalog.Account) bool {
			a.Told, a.Teller = t.o.Now(), nil
			return true
		})
	})
	if err != nil {
		return fmt.Errorf("note in the outbox that the report was told: %w", err)
	}
	return nil
}

// Acknowledge removes accounts by their ids: their reports arrived where they were to go. Those that
// are gone already are no error. An account of a process that still works is one.
func Acknowledge(ctx context.Context, c *catalog.Catalog, ids []string) error {
	return parallel.Each(ids, func(text string) error {
		var id row.WorkerID
		if err := id.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("account %q: want the 32 hex digits of a report's accounts", text)
		}
		a, err := c.Accounts.Get(ctx, id)
		if errors.Is(err, row.ErrUnauthentic) || errors.Is(err, row.ErrSealed) {
			return c.Accounts.Remove(ctx, id) // nothing can be told of it any more
		}
		switch {
		case err != nil || a == nil:
			return err
		case a.Ended.IsZero():
			return fmt.Errorf("account %s: its process has not ended, or its end was not noted: symlake report --pending", id)
		}
		return outbox.Remove(ctx, c, a)
	})
}

// sum adds accounts up, oldest first: attempts of one shard of a run as one. nil: there are none.
func (j *job) sum(ctx context.Context, accounts []*catalog.Account) (*report.Report, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	type part struct{ run, shard string }
	byPart := map[part][]*catalog.Account{}
	var parts []part
	for _, a := range accounts {
		p := part{a.Run, a.Shard}
		if byPart[p] == nil {
			parts = append(parts, p)
		}
		byPart[p] = append(byPart[p], a)
	}
	total := &report.Report{Job: "report", Started: accounts[0].Started, Rejected: []report.Rejection{}, Objects: report.ObjectCounts{Skipped: map[string]int{}}, Stages: map[string]float64{}}
	for _, p := range parts {
		attempts := byPart[p]
		last := attempts[len(attempts)-1]
		r, err := outbox.ReportOf(last)
		if err == nil {
			err = j.addAttempts(ctx, r, attempts[:len(attempts)-1])
		}
		if err != nil {
			return nil, err
		}
		total.Add(r)
		for _, a := range attempts {
			total.Accounts = append(total.Accounts, a.ID.String())
		}
		if !slices.Contains(total.Runs, p.run) {
			total.Runs = append(total.Runs, p.run)
		}
	}
	return total, nil
}

// addAttempts adds what earlier attempts of a run did to the report of its last one. An object
// that failed and has ended since is not told as failed.
func (j *job) addAttempts(ctx context.Context, r *report.Report, attempts []*catalog.Account) error {
	for _, a := range attempts {
		o, err := outbox.ReportOf(a)
		if err != nil {
			return err
		}
		n := &o.Objects
		n.New = n.Loaded + n.Kept + n.Conflict + n.Rejected
		for _, skipped := range n.Skipped {
			n.New += skipped
		}
		n.Seen, n.Pending, n.Gone, n.Elsewhere, n.Failed = 0, 0, 0, 0, 0
		o.Missing, o.Sources, o.Seconds, o.Error = nil, nil, 0, ""
		failed := o.Failed
		o.Failed = nil
		r.Add(o)
		if r.Attempts == 0 {
			r.Attempts = 1
		}
		r.Attempts++
		for _, f := range failed {
			now, err := j.cat.Ledger.Get(ctx, f.URL)
			if err != nil {
				return err
			}
			told := slices.ContainsFunc(r.Failed, func(x report.Rejection) bool { return x.URL == f.URL })
			if !told && now != nil && now.State == catalog.ObjectFailed && now.By == a.ID {
				r.Objects.Failed++
				r.Append(&r.Failed, f)
			}
		}
	}
	return nil
}
