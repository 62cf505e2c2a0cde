// Package conflicts settles conflicts between owners. A conflict is a durable record of the catalog
// ([catalog.Conflict]): a source claims an artifact that another owner has published. An ingest finds it
// and reports it; a person settles it by [Accept] or [Dismiss]. A forced ingest does not.
//
//	open      the record exists, and the ledger's entry of the object names it
//	accepted  the object is pending; the next ingest publishes it if its content is the same
//	ended     the record is gone: it was accepted and published, or dismissed; the object no longer
//	          claims the artifact; or gc found artifact or object gone
package conflicts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// ErrNone says that an object has no conflict to settle.
var ErrNone = errors.New("it has no conflict")

// Each reads the conflicts of an object, then calls f for each. It lists them first, because an open
// listing holds up the store.
func Each(ctx context.Context, c *catalog.Catalog, url string, f func(*catalog.Conflict) error) error {
	var list []*catalog.Conflict
	err := c.Conflicts.Each(ctx, url, func(x *catalog.Conflict) error {
		list = append(list, x)
		return nil
	})
	for _, x := range list {
		if err == nil {
			err = f(x)
		}
	}
	return err
}

// Remove removes a conflict. If the conflict has changed, it stays.
func Remove(ctx context.Context, c *catalog.Catalog, x *catalog.Conflict) error {
	err := c.Conflicts.Swap(ctx, x, nil)
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

// Accept decides the conflicts of an object in its favor, and puts it back as pending. The next ingest
// of its source publishes it, if its content is still the content of the conflicts. Accept calls note
// with each conflict before it changes.
func Accept(ctx context.Context, c *catalog.Catalog, url string, now time.Time, note func(*catalog.Conflict) error) error {
	old, err := c.Ledger.Get(ctx, url)
	if err != nil {
		return err
	}
	found := 0
	err = Each(ctx, c, url, func(x *catalog.Conflict) error {
		found++
		rec, err := c.Artifacts.Get(ctx, x.Artifact)
		if err != nil {
			return err
		}
		switch {
		case old == nil || old.State == catalog.ObjectGone:
			return fmt.Errorf("accept %s: the object is gone from its source: dismiss the conflict", url)
		case old.State == catalog.ObjectLoading || old.State == catalog.ObjectPublished:
			return fmt.Errorf("accept %s: an ingest has it open: try again when that has ended", url)
		case rec == nil || rec.State.Removed():
			return fmt.Errorf("accept %s: artifact %s was removed: ingest --force brings it back", url, x.Artifact)
		}
		next := *x
		next.Accepted = now
		if err := note(&next); err != nil {
			return err
		}
		return c.Conflicts.Swap(ctx, x, &next)
	})
	if err != nil {
		return err
	}
	if found == 0 {
		return fmt.Errorf("object %s: %w", url, ErrNone)
	}
	next := *old
	next.State, next.Reason, next.Attempts = catalog.ObjectPending, "", 0
	if err := ledger.UpdateNames(ctx, c, ledger.IsNamed(old), &next); err != nil {
		return err
	}
	return c.Ledger.Swap(ctx, old, &next)
}

// Dismiss ends the conflicts of an object: the published loads stay, and the object counts as kept until
// it changes. Dismiss calls note with each conflict before it removes it.
func Dismiss(ctx context.Context, c *catalog.Catalog, url string, note func(*catalog.Conflict) error) error {
	found := 0
	err := Each(ctx, c, url, func(x *catalog.Conflict) error {
		found++
		if err := note(x); err != nil {
			return err
		}
		if err := ledger.ChangeOutcome(ctx, c, x.KeptOut.Source, x.Artifact, ledger.OutcomeConflict, ledger.OutcomeKept); err != nil {
			return err
		}
		return Remove(ctx, c, x)
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("object %s: %w", url, ErrNone)
	}
	return err
}
