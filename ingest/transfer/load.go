package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/record"
	"github.com/symlake/symlake/ingest/stored"
	"github.com/symlake/symlake/ingest/trust"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// enter puts a load into the target's record, with a lease, or takes over the entry of a copy that
// died. Two copies of one load share the entry, because they write the same rows.
func (c *copier) enter(ctx context.Context, id symbol.ID, l sinks.Load) error {
	for {
		old, err := c.to.Artifacts.Get(ctx, id)
		if err != nil {
			return err
		}
		next := record.Copy(old, id)
		at := slices.IndexFunc(next.Progress, func(p catalog.Progress) bool { return p.Load == l })
		if at < 0 {
			at = len(next.Progress)
			next.Progress = append(next.Progress, catalog.Progress{Load: l})
		}
		if next.Progress[at].Owner == record.Doomed {
			return errDoomed
		}
		next.Progress[at].Owner, next.Progress[at].Lease = c.Owner, c.Now().Add(record.LeaseTime)
		if err = c.to.Artifacts.Swap(ctx, old, next); !errors.Is(err, sinks.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// batch writes the rows of all items, then makes each load visible.
func (c *copier) batch(ctx context.Context, items []*item) error {
	if len(items) == 0 {
		return nil
	}
	b, err := c.To.Store.Blocks.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, it := range items {
		if err := c.rows(ctx, it, b); err != nil {
			return err
		}
	}
	if err := b.Commit(ctx); err != nil {
		return err
	}
	errs := make([]error, len(items))
	parallel.Do(len(items), func(i int) { errs[i] = c.makeVisible(ctx, items[i]) })
	c.report.Batches++
	c.progress()
	return errors.Join(errs...)
}

// rows copies the rows of one load. Damage of the rows becomes the item's error.
func (c *copier) rows(ctx context.Context, it *item, b sinks.Batch) error {
	src, err := c.from.Artifacts.Get(ctx, it.id)
	if err != nil {
		return err
	}
	if !publishes(src, it.load) {
		it.err = errors.New("the source has published another load meanwhile: load again")
		return nil
	}
	var written error
	bytes := uint64(0)
	err = c.From.Store.Blocks.Scan(ctx, stored.Span(it.id, it.load), func(r sinks.Row) error {
		bytes += uint64(len(r.Key) + len(r.Value))
		if c.moved += uint64(len(r.Key) + len(r.Value)); c.Moved != nil {
			c.Moved(c.moved)
		}
		written = b.Write(r)
		return written
	})
	switch {
	case written != nil:
		return written
	case errors.Is(err, sinks.ErrCorrupt):
		it.err = err
	case err != nil:
		return fmt.Errorf("read load %x of %s: %w", it.load, it.id, err)
	case bytes != src.Published.Bytes:
		it.err = fmt.Errorf("the source has %d bytes of its rows, its record says %d", bytes, src.Published.Bytes)
	default:
		c.report.Rows += src.Published.Rows
		c.report.Bytes += bytes
	}
	return nil
}

// makeVisible publishes an item after its rows are durable, or gives it up if its rows are damaged.
func (c *copier) makeVisible(ctx context.Context, it *item) error {
	if it.rowsOnly {
		if it.err != nil {
			c.fail(it.id, it.err)
		} else {
			c.count(&c.report.Artifacts.Copied)
		}
		return nil
	}
	if it.err == nil {
		src, err := c.from.Artifacts.Get(ctx, it.id)
		if err != nil {
			return err
		}
		if publishes(src, it.load) {
			return c.publish(ctx, src)
		}
		it.err = errors.New("the source has published another load meanwhile: load again")
	}
	c.fail(it.id, it.err)
	return c.giveUp(ctx, it)
}

// giveUp leaves the rows of an item to gc.
func (c *copier) giveUp(ctx context.Context, it *item) error {
	for {
		old, err := c.to.Artifacts.Get(ctx, it.id)
		if err != nil || old == nil {
			return err
		}
		next := record.Copy(old, it.id)
		at := record.Entry(next, it.load, c.Owner)
		if at < 0 {
			return nil
		}
		next.Progress[at].Owner, next.Progress[at].Lease = record.Superseded, c.Now()
		if err := c.to.Artifacts.Swap(ctx, old, next); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
}

// publish makes a load visible in the target: it enters the names, then swaps the record.
func (c *copier) publish(ctx context.Context, src *catalog.Record) error {
	n := &c.report.Artifacts
	first, err := c.to.Artifacts.Get(ctx, src.ID)
	if err != nil {
		return err
	}
	if first == nil { // gc dropped it as abandoned: names would lead to nothing
		return fmt.Errorf("publish artifact %s: %w", src.ID, record.ErrLost)
	}
	if err := record.EnterNames(ctx, c.to, first, src.ID, src.Names); err != nil {
		return err
	}
	loaded, err := c.To.Keyring.Adopt(c.From.Keyring, src.ID, src.Published)
	if err != nil {
		c.fail(src.ID, err)
		return c.giveUp(ctx, &item{id: src.ID, load: src.Published.Load})
	}
	if loaded.Copied, err = c.lacksEntry(ctx, src.Published); err != nil {
		return err
	}
	for {
		old, err := c.to.Artifacts.Get(ctx, src.ID)
		if err != nil {
			return err
		}
		if publishes(old, loaded.Load) {
			c.count(&n.Copied) // this copy's answer was lost, or another copy was faster
			return nil
		}
		next, v, err := c.successor(ctx, src, old, loaded)
		if err != nil {
			return err
		}
		err = c.to.Artifacts.Swap(ctx, old, next)
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			now, rerr := c.to.Artifacts.Get(ctx, src.ID)
			if rerr != nil || !publishes(now, loaded.Load) {
				return err
			}
		}

		switch {
		case v == trust.Dispute:
			return c.recordConflict(ctx, src, old)
		case !publishes(next, loaded.Load):
			c.count(&n.Kept)
			return nil
		}
		c.count(&n.Copied)
		return c.demote(ctx, src.ID, loaded, old.Published)
	}
}

// publishes reports whether a record publishes a load. The record may be nil.
func publishes(r *catalog.Record, l sinks.Load) bool {
	return r != nil && r.Published != nil && r.Published.Load == l
}

// successor returns the target's record after old, with the verdict on loaded: the record publishes
// loaded, or leaves its rows to gc. In the first case the ledger says already what loaded replaces.
func (c *copier) successor(ctx context.Context, src, old *catalog.Record, loaded *row.Loaded) (*catalog.Record, trust.Verdict, error) {
	at := -1
	if old != nil {
		at = slices.IndexFunc(old.Progress, func(p catalog.Progress) bool {
			return p.Load == loaded.Load && p.Loads()
		})
	}
	if at < 0 {
		return nil, 0, fmt.Errorf("publish artifact %s: %w", src.ID, record.ErrLost)
	}

	next := record.Copy(old, src.ID)
	next.Names = record.UnionNames(next.Names, src.Names)
	v := c.claim(src, old)
	if !c.apply(v, old, next, loaded) { // another ingest was faster
		next.Progress[at].Owner, next.Progress[at].Lease = record.Superseded, c.Now()
		return next, v, nil
	}
	if err := c.demote(ctx, src.ID, loaded, old.Published); err != nil {
		return nil, 0, err
	}
	next.Progress = slices.Delete(next.Progress, at, at+1)
	if p := old.Previous; p != nil && p.Load != loaded.Load {
		next.Progress = append(next.Progress, catalog.Progress{Load: p.Load, Owner: record.Superseded, Lease: c.Now()})
	}
	next.Previous, next.Published, next.State = old.Published, loaded, src.State
	return next, v, nil
}

// lacksEntry reports whether a load comes without the ledger entry of its object: single artifacts
// are copied, or the source has no entry.
func (c *copier) lacksEntry(ctx context.Context, l *row.Loaded) (bool, error) {
	if c.Artifacts != nil {
		return true, nil
	}
	o, err := c.from.Ledger.Get(ctx, l.Source.URL)
	return o == nil || o.State == catalog.ObjectLoading, err
}

// demote notes in the target's ledger that l replaces was. A nil was does nothing.
func (c *copier) demote(ctx context.Context, id symbol.ID, l, was *row.Loaded) error {
	if was == nil || record.IsFrom(was, l.Source.URL, l.Source.Member) {
		return nil
	}
	return ledger.Demote(ctx, c.to, was.Source.URL, id, was.Source.Member)
}
