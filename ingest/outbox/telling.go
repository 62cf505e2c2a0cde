package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// tellTime is the time that a teller on another host has to write a claimed report out.
	tellTime = time.Minute
	// maxAhead bounds how far the clock of another host may be ahead. A later time is a clock's
	// mistake, and would hold the report back until then.
	maxAhead = 10 * time.Minute
	// keepTold is how long told accounts stay for more attempts of their run.
	keepTold = 24 * time.Hour
	// maxAccounts bounds the accounts that one report sums.
	maxAccounts = 1000
	// maxYoung is the age below which Tell does not wait to judge an account's process.
	maxYoung = 10 * time.Minute
)

// Telling is a report to be written out, with the accounts that it sums. Until Done or Release, no
// other process tells these accounts, unless their teller is dead or a minute has passed.
type Telling struct {
	// Report sums the accounts that were not told yet; nil: there are none.
	Report *report.Report

	outbox   *Outbox
	accounts []*catalog.Account
}

// Pending sums the closed accounts that were not told yet. First it recalls the accounts of dead
// processes, which takes at most half a minute. Unless b.TellLater is set, it claims the accounts
// for Done.
func (b *Outbox) Pending(ctx context.Context) (*Telling, error) {
	if err := b.Recall(ctx, 0); err != nil {
		return nil, err
	}
	all, err := b.accounts(ctx)
	if err != nil {
		return nil, err
	}
	t := &Telling{outbox: b}
	if err := t.claim(ctx, all); err != nil {
		return nil, err
	}
	if t.Report, err = b.sum(ctx, t.accounts); t.Report != nil && err == nil {
		err = b.strike(ctx, t.Report.Wanted)
	}
	return t, err
}

// Tell adds the earlier attempts of a run to its report r. Unless b.TellLater is set, it also adds the
// reports of other runs that were not told, as r.Earlier.
func (b *Outbox) Tell(ctx context.Context, r *report.Report) (*Telling, error) {
	if err := b.Recall(ctx, maxYoung); err != nil {
		return nil, err
	}
	all, err := b.accounts(ctx)
	if err != nil {
		return nil, err
	}
	t := &Telling{outbox: b, Report: r}
	var attempts, unsent []*catalog.Account
	for _, a := range all {
		switch {
		case a.ID.String() == r.Account:
			t.accounts = append(t.accounts, a)
		case b.Attempts && a.Run == r.Run && a.Shard == r.Shard:
			attempts = append(attempts, a)
		case a.Told.IsZero():
			unsent = append(unsent, a)
		}
	}
	if err := b.addAttempts(ctx, r, attempts); err != nil || b.TellLater {
		return t, err
	}
	t.accounts = append(t.accounts, slices.DeleteFunc(attempts, func(a *catalog.Account) bool { return !a.Told.IsZero() })...)
	ours := len(t.accounts)
	if err := t.claim(ctx, unsent); err != nil {
		return nil, err
	}
	if r.Earlier, err = b.sum(ctx, t.accounts[ours:]); r.Earlier != nil && err == nil {
		err = b.strike(ctx, r.Earlier.Wanted)
	}
	return t, err
}

// strike removes wanted names that came. A process may have died after it closed its account and
// before it removed them.
func (b *Outbox) strike(ctx context.Context, came []report.WantedName) error {
	if len(came) == 0 {
		return nil
	}
	known := make(map[string]uint64, len(came))
	for _, w := range came {
		known[w.Name] = w.Asked
	}
	var left []*catalog.Wanted
	err := b.Crew.Catalog.Demand.EachWanted(ctx, func(w *catalog.Wanted) error {
		if asked, ok := known[w.Name]; ok && asked == w.Asked {
			left = append(left, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(left, func(w *catalog.Wanted) error { return b.Crew.Catalog.Demand.RemoveWanted(ctx, w) })
}

// accounts lists the closed accounts, oldest first. It removes accounts that were told long ago.
func (b *Outbox) accounts(ctx context.Context) ([]*catalog.Account, error) {
	var closed, over []*catalog.Account
	err := b.Crew.Catalog.Accounts.Each(ctx, func(a *catalog.Account) error {
		switch {
		case a.Ended.IsZero():
		case !a.Told.IsZero() && a.Run != b.Crew.Run && b.Now().Sub(a.Told) > keepTold:
			over = append(over, a)
		default:
			closed = append(closed, a)
		}
		return nil
	})
	if err != nil {
		return nil, ReadError(err)
	}
	slices.SortFunc(closed, func(a, b *catalog.Account) int { return a.Started.Compare(b.Started) })
	return closed, parallel.Each(over, func(a *catalog.Account) error { return remove(ctx, b.Crew.Catalog, a) })
}

// claim takes the accounts that were not told, except those with a live teller.
func (t *Telling) claim(ctx context.Context, all []*catalog.Account) error {
	for _, a := range all {
		if !a.Told.IsZero() || !t.free(a.Teller) {
			continue
		}
		if len(t.accounts) >= maxAccounts {
			break // the next report tells the others
		}
		if t.outbox.TellLater { // it is printed, and not acknowledged yet
			t.accounts = append(t.accounts, a)
			continue
		}
		next := *a
		next.Teller = t.outbox.teller()
		err := t.outbox.Crew.Catalog.Accounts.Swap(ctx, a, &next)
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

// free reports whether an account may be claimed. by is its last teller.
func (t *Telling) free(by *catalog.Teller) bool {
	if by == nil || by.Host == t.outbox.Crew.Host && by.Process == t.outbox.Crew.Process {
		return true
	}
	if t.outbox.Crew.Running != nil {
		if alive, known := t.outbox.Crew.Running(by.Host, by.Process); known {
			return !alive
		}
	}
	age := t.outbox.Now().Sub(by.At)
	return age > tellTime || age < -maxAhead
}

// Release gives the claimed accounts back. Another process can tell them at once.
func (t *Telling) Release(ctx context.Context) error {
	if t.outbox.TellLater {
		return nil
	}
	return parallel.Each(t.accounts, func(a *catalog.Account) error {
		return change(ctx, t.outbox.Crew.Catalog, a, func(a *catalog.Account) bool {
			a.Teller = nil
			return true
		})
	})
}

// Done notes that the report was written out completely. It keeps accounts for a day that later
// attempts of the run may sum, and removes the others.
func (t *Telling) Done(ctx context.Context) error {
	err := parallel.Each(t.accounts, func(a *catalog.Account) error {
		if !t.outbox.Attempts || a.Run != t.outbox.Crew.Run {
			return remove(ctx, t.outbox.Crew.Catalog, a)
		}
		return change(ctx, t.outbox.Crew.Catalog, a, func(a *catalog.Account) bool {
			a.Told, a.Teller = t.outbox.Now(), nil
			return true
		})
	})
	if err != nil {
		return fmt.Errorf("note in the outbox that the report was told: %w", err)
	}
	return nil
}

// Acknowledge removes the accounts with these ids, because their reports have arrived. A missing
// account is no error. Acknowledge refuses an account that is still open.
func Acknowledge(ctx context.Context, c *catalog.Catalog, ids []string) error {
	return parallel.Each(ids, func(text string) error {
		var id row.WorkerID
		if err := id.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("account %q: want the 32 hex digits of a report's accounts", text)
		}
		a, err := c.Accounts.Get(ctx, id)
		if row.DoesNotOpen(err) {
			return c.Accounts.Remove(ctx, id) // nothing can be told of it any more
		}
		switch {
		case err != nil || a == nil:
			return err
		case a.Ended.IsZero():
			return fmt.Errorf("account %s: its process has not ended, or its end was not noted: symlake report --pending", id)
		}
		return remove(ctx, c, a)
	})
}
