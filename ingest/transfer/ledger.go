package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// waiters copies the waiters of artifacts that the target has.
func (c *copier) waiters(ctx context.Context) error {
	type waiter struct {
		companion string
		w         catalog.Waiter
	}
	var list []waiter
	err := c.from.Waiters.Each(ctx, func(companion string, w catalog.Waiter) error {
		list = append(list, waiter{companion, w})
		return nil
	})
	if err != nil {
		return err
	}
	errs := make([]error, len(list))
	parallel.Do(len(list), func(i int) {
		if id := list[i].w.Artifact; id != (symbol.ID{}) {
			r, err := c.to.Artifacts.Get(ctx, id)
			if err != nil || r == nil || r.Published == nil {
				errs[i] = err
				return
			}
		}
		errs[i] = c.to.Waiters.Add(ctx, list[i].companion, list[i].w)
		c.count(&c.report.Waiters)
	})
	return errors.Join(errs...)
}

// companions copies the ids by which other objects ask for objects of the ledger.
func (c *copier) companions(ctx context.Context) error {
	type name struct{ text, url string }
	var list []name
	err := c.from.Names.OfObjects(ctx, func(text, url string) error {
		list = append(list, name{text, url})
		return nil
	})
	if err != nil {
		return err
	}
	return parallel.Each(list, func(n name) error {
		o, err := ledger.At(ctx, c.to, n.url)
		if err != nil || o == nil || ledger.IsNamed(o) { // its entry brought the names
			return err
		}
		return c.to.Names.Add(ctx, n.text, catalog.Ref{Object: n.url})
	})
}

// ledger copies the entries of objects if the target has all their artifacts. The next ingest into
// the target takes the other objects as new.
func (c *copier) ledger(ctx context.Context) error {
	from := ""
	for {
		var page []*catalog.Object
		err := c.from.Ledger.From(ctx, from, func(o *catalog.Object) error {
			page = append(page, o)
			if len(page) == pageRecords {
				return errFull
			}
			return nil
		})
		if err != nil && err != errFull {
			return fmt.Errorf("list the ledger of the source: %w", err)
		}
		errs := make([]error, len(page))
		parallel.Do(len(page), func(i int) { errs[i] = c.object(ctx, page[i]) })
		if err := errors.Join(errs...); err != nil {
			return err
		}
		c.progress()
		if len(page) < pageRecords {
			return nil
		}
		from = page[len(page)-1].URL + "\x00"
	}
}

// object copies one entry, unless the target's is later.
func (c *copier) object(ctx context.Context, src *catalog.Object) error {
	if src.State == catalog.ObjectLoading {
		return nil // its outcome is not known yet
	}
	loaded := false
	for _, a := range src.Artifacts {
		if a.Outcome != ledger.OutcomeLoaded && a.Outcome != ledger.OutcomeKept && a.Outcome != ledger.OutcomeConflict {
			continue
		}
		loaded = true
		r, err := c.to.Artifacts.Get(ctx, a.ID)
		if err != nil {
			return err
		}
		if r == nil || r.Published == nil && r.State == catalog.Live || c.failed[a.ID] {
			return nil
		}
	}
	if c.Artifacts != nil && !loaded {
		return nil // it has no artifact of c.Artifacts
	}
	for {
		old, err := c.to.Ledger.Get(ctx, src.URL)
		if err != nil {
			return err
		}
		if old != nil && !src.Last.After(old.Last) {
			return nil
		}
		next := *src
		if err := c.setOutcomes(ctx, &next); err != nil {
			return err
		}
		if err := ledger.UpdateNames(ctx, c.to, ledger.IsNamed(old), &next); err != nil {
			return err
		}
		err = c.to.Ledger.Swap(ctx, old, &next)
		if err == nil {
			c.count(&c.report.Objects)
			return ledger.DemoteLosers(ctx, c.to, &next)
		}
		if !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// setOutcomes sets the outcomes of an entry as they are in the target: an artifact that the target
// answers from another object is kept, or in conflict.
func (c *copier) setOutcomes(ctx context.Context, o *catalog.Object) error {
	artifacts := make([]catalog.ObjectArtifact, len(o.Artifacts))
	copy(artifacts, o.Artifacts)
	o.Artifacts = artifacts
	for i := range artifacts {
		a := &artifacts[i]
		if a.Outcome != ledger.OutcomeLoaded && a.Outcome != ledger.OutcomeConflict {
			continue
		}
		r, err := c.to.Artifacts.Get(ctx, a.ID)
		if err != nil {
			return err
		}
		if r != nil && r.Published != nil && !record.IsFrom(r.Published, o.URL, a.Member) {
			if a.Outcome, err = c.outcomeBeside(ctx, o, a); err != nil {
				return err
			}
		} else {
			a.Outcome = ledger.OutcomeLoaded
		}
	}
	switch o.State {
	case catalog.ObjectLoaded, catalog.ObjectConflict:
		o.State = ledger.StateOf(artifacts)
	}
	return nil
}
