package ingest

import (
	"context"

	"github.com/symlake/symlake/sinks/catalog"
)

// outbox checks that each account can be read, and what it is to tell.
func (v *verifier) outbox(ctx context.Context) error {
	err := v.cat.Accounts.Each(ctx, func(a *catalog.Account) error {
		if !a.Ended.IsZero() {
			if _, err := reportOf(a); err != nil {
				v.problem("outbox", err)
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		v.problem("outbox", outboxError(err))
	}
	return ctx.Err()
}
