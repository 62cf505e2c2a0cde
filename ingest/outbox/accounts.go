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

// ReportOf decodes the report of a closed account.
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

// ReadError wraps the error of an outbox that cannot be read, and says how to give an account up.
func ReadError(err error) error {
	if row.DoesNotOpen(err) {
		return fmt.Errorf("read the outbox of reports: %w: symlake report --ack with the account's id gives that account up", err)
	}
	return fmt.Errorf("read the outbox of reports: %w", err)
}

// change edits an account as it stands in the store now. edit returns false to leave the account. A
// missing account is no error.
func change(ctx context.Context, c *catalog.Catalog, a *catalog.Account, edit func(*catalog.Account) bool) error {
	for {
		next := *a
		if !edit(&next) {
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

// remove removes an account in any state.
func remove(ctx context.Context, c *catalog.Catalog, a *catalog.Account) error {
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
