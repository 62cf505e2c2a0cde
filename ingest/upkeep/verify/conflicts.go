package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/symlake/symlake/ingest/conflicts"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks/catalog"
)

// conflicts checks that records, ledger and conflicts agree on the owner of each artifact.
func (v *verifier) conflicts(ctx context.Context) {
	err := conflicts.EachView(ctx, v.cat, func(c *conflicts.View) error {
		where := fmt.Sprintf("conflict of %s about %s", ledger.Place(c.KeptOut.URL, c.KeptOut.Member), c.Artifact)
		if c.Record == nil || c.Record.Published == nil || c.Record.State.Removed() || !c.Decided() {
			return ctx.Err() // gc removes it, or a run is about to note its outcome
		}
		p := c.Record.Published
		switch {
		case record.IsFrom(p, c.KeptOut.URL, c.KeptOut.Member) && hex.EncodeToString(p.Digest[:]) == c.KeptOut.Digest:
			v.problem(where, errors.New("the load that it keeps out is published, and no person accepted it"))
		case hex.EncodeToString(p.Load[:]) == c.Load && c.KeptOut.MayReplace(p.Claimed()):
			v.problem(where, fmt.Errorf("the published load has owner %q and rank %d, the conflict says %q and %d",
				p.Claimed().Owner, p.Claimed().Rank, c.Kept.Owner, c.Kept.Rank))
		case c.Unlisted():
			v.problem(where, errors.New("the ledger does not name it: gc removes it"))
		}
		return ctx.Err()
	})
	if err != nil && ctx.Err() == nil {
		v.problem("conflicts", err)
	}
}

// conflict checks that the catalog has a conflict that the ledger names.
func (v *verifier) conflict(ctx context.Context, o *catalog.Object, a *catalog.ObjectArtifact) error {
	c, err := v.cat.Conflicts.Get(ctx, a.ID, o.URL, a.Member)
	if err == nil && c == nil {
		err = fmt.Errorf("artifact %s is in conflict by the ledger, and no record says with what", a.ID)
	}
	return err
}
