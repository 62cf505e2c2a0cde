package verify

import (
	"context"

	"github.com/symlake/symlake/ingest/outbox"
	"github.com/symlake/symlake/sinks/catalog"
)

// outbox checks that each account can be read, and its report.
func (v *verifier) outbox(ctx context.Context) error {
	err := v.cat.Accounts.Each(ctx, func(a *catalog.Account) error {
		if !a.Ended.IsZero() {
			if _, err := outbox.ReportOf(a); err != nil {
				v.problem("outbox", err)
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		v.problem("outbox", outbox.ReadError(err))
	}
	return ctx.Err()
}
