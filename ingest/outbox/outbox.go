// Package outbox keeps the reports of runs in the store until a process has written them out.
//
//	open      a process enters its account (catalog.Account) before its first ledger entry
//	work      ledger entries and loads name the account
//	close     the process writes its report into the account
//	recall    if the process died, another one counts the ledger and the records in its place
//	tell      a process claims closed accounts, writes their reports out and removes the accounts
//
// So a kill loses no report, and an object costs no transaction of its own. The recall tells the last
// outcome alone of an object that changed again before, and of a load that was replaced twice.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/crew"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/catalog"
)

// Outbox is the outbox of a store, as one process uses it. Several goroutines may use it.
type Outbox struct {
	Crew *crew.Crew // tells which processes died; its Me names this process's account
	// Attempts says that the run's id was given, and that reports sum its attempts.
	Attempts bool
	// TellLater leaves the reports in the store for Pending to tell.
	TellLater bool
	Now       func() time.Time

	mu      sync.Mutex
	account *catalog.Account // of this process; nil: it has not done anything to tell
}

// Open enters this process's account, unless it has one, and names the account in r.
func (b *Outbox) Open(ctx context.Context, r *report.Report) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.account != nil {
		return nil
	}
	a := &catalog.Account{ID: b.Crew.Me, Run: r.Run, Shard: r.Shard, Started: r.Started}
	if !b.TellLater {
		a.Teller = b.teller()
	}
	if err := b.Crew.Catalog.Accounts.Swap(ctx, nil, a); err != nil {
		return fmt.Errorf("enter this run in the outbox of reports: %w", err)
	}
	b.account, r.Account = a, a.ID.String()
	return nil
}

// teller names this process as the teller of an account, from now on.
func (b *Outbox) teller() *catalog.Teller {
	return &catalog.Teller{Host: b.Crew.Host, Process: b.Crew.Process, At: b.Now()}
}

// Close writes a report into this process's account, if it has one. Call it while the lease still
// holds, or another process recalls the account.
func (b *Outbox) Close(ctx context.Context, r *report.Report) error {
	if b.account == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	err = change(ctx, b.Crew.Catalog, b.account, func(a *catalog.Account) bool {
		if !a.Ended.IsZero() {
			return false // a process that took this one for dead has counted it
		}
		a.Ended, a.Report = b.Now(), text
		if a.Teller != nil {
			a.Teller = b.teller() // from now on it has a minute
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("write the report into the outbox: %w", err)
	}
	return nil
}

// Recall closes the accounts of dead processes with the counts that the ledger and the records give.
// It waits until it can judge the process of each account that is at least old, for no longer than
// crew.LeaseTime.
func (b *Outbox) Recall(ctx context.Context, old time.Duration) error {
	for {
		dead, unsure, err := b.deadAccounts(ctx, old)
		if err == nil && len(dead) > 0 {
			err = b.recount(ctx, dead)
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

// deadAccounts returns the open accounts of dead processes. If unsure, it cannot judge the process of
// another account yet that is at least old.
func (b *Outbox) deadAccounts(ctx context.Context, old time.Duration) (dead []*catalog.Account, unsure bool, err error) {
	var open []*catalog.Account
	err = b.Crew.Catalog.Accounts.Each(ctx, func(a *catalog.Account) error {
		if a.Ended.IsZero() && a.ID != b.Crew.Me {
			open = append(open, a)
		}
		return nil
	})
	if err != nil {
		return nil, false, ReadError(err)
	}
	for _, a := range open {
		var s crew.Sighting
		if s, err = b.Crew.Judge(ctx, a.ID); err != nil {
			break
		}
		switch {
		case !s.Alive:
			dead = append(dead, a)
		case !s.Beats && b.Now().Sub(a.Started) >= old:
			unsure = true
		}
	}
	return dead, unsure, err
}
