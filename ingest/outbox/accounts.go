package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

func ReportOf(a *catalog.Account) (*report.Report, error) {
	r := &report.Report{}
	if err := json.Unmarshal(a.Report, r); err != nil {
		return nil, fmt.Errorf("account %s: %w: %w", a.ID, row.ErrUnauthentic, err)
	}
	if r.Objects.Skipped == nil {
		r.Objects.Skipped = map[string]int{}
	}
	return r, nil
}

// ReadError tells what to do about an outbox that cannot be read.
func ReadError(err error) error {
	if errors.Is(err, row.ErrUnauthentic) || errors.Is(err, row.ErrSealed) {
		return fmt.Errorf("read the outbox of reports: %w: symlake report --ack with the account's id gives that account up", err)
	}
	return fmt.Errorf("read the outbox of reports: %w", err)
}

// Change changes an account as it is now in the store. change returns false to leave it.
// An account that is gone is no error.
func Change(ctx context.Context, c *catalog.Catalog, a *catalog.Account, change func(*catalog.Account) bool) error {
	for {
		next := *a
		if !change(&next) {
			return nil
		}
		err := c.Accounts.Swap(ctx, a, &next)
		if err == nil || !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
		now, err := c.Accounts.Get(ctx, a.ID)
		if err != nil || now == nil {
			return err
		}
		a = now
	}
}

func Remove(ctx context.Context, c *catalog.Catalog, a *catalog.Account) error {
	for {
		err := c.Accounts.Swap(ctx, a, nil)
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
		now, err := c.Accounts.Get(ctx, a.ID)
		if err != nil || now == nil {
			return err
		}
		a = now
	}
}
