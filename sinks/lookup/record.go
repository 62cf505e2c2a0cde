package lookup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
)

// record returns what the client believes about an artifact; now is the caller's
// clock. An error is ctx's; every other failure is the entry's status.
func (c *Client) record(ctx context.Context, id symbol.ID, now time.Time) (*entry, error) {
	e, ok := c.recs.Get(id)
	if ok && now.Before(e.until) {
		return e, nil
	}
	return c.recordPast(ctx, id, true, func(e *entry) bool { return !now.Before(e.until) })
}

// recordAfter reads an artifact's record once past the cache, unless somebody
// did so after old was read.
func (c *Client) recordAfter(ctx context.Context, id symbol.ID, old *entry) (*entry, error) {
	return c.recordPast(ctx, id, false, func(e *entry) bool { return e == old })
}

// recordPast reads a record unless it is cached and not stale. old: a found record may stand in for
// a while when the catalog does not answer.
func (c *Client) recordPast(ctx context.Context, id symbol.ID, old bool, stale func(*entry) bool) (*entry, error) {
	cached := func() (*entry, bool) {
		e, ok := c.recs.Get(id)
		return e, ok && !stale(e)
	}
	e, err := c.recFlights.do(ctx, id, cached, func() (*entry, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e, err := c.readRecord(ctx, id)
		if err != nil {
			return nil, err
		}
		if e.status == symbol.Unavailable { // a failure is not believed, not even for a moment
			last, ok := c.recs.Get(id)
			if !old || !ok || last.status != symbol.Found || !c.stands(last.read) {
				return e, nil
			}
			again := *last
			again.until = c.o.Now().Add(c.o.NegativeTTL)
			e = &again
		}
		if err := room.Take(ctx, e.bytes()); err != nil {
			return nil, err
		}
		c.recs.Set(id, e)
		return e, nil
	})
	if err == nil {
		return e, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &entry{status: symbol.Unavailable, err: fmt.Errorf("artifact %s: %w", id, err)}, nil
}

// stands reports whether what the catalog said then may stand in while it does not answer.
func (c *Client) stands(read time.Time) bool { return c.o.Now().Before(read.Add(c.o.StaleTTL)) }

// readRecord reads and opens the record of an artifact. The error is ctx's.
func (c *Client) readRecord(ctx context.Context, id symbol.ID) (*entry, error) {
	began := time.Now()
	rec, l, err := c.openRecord(ctx, id)
	if err != nil && isContext(err) && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	now := c.o.Now()
	e := &entry{rec: rec, load: l, read: now, until: now.Add(c.o.NegativeTTL)}
	var lacks *absence
	switch {
	case err == nil:
		e.status, e.until = symbol.Found, now.Add(c.o.CatalogTTL)
	case errors.As(err, &lacks):
		e.status, e.err = lacks.status, err
	default:
		e.status, e.err = statusOf(err), fmt.Errorf("artifact %s: %w", id, err)
	}
	told := Read{From: LevelCatalog, Rows: 1}
	if rec != nil {
		told.Hits = 1
	}
	if e.status == symbol.Unavailable {
		told.Err = err
	}
	c.o.Observer.read(told, began)
	return e, nil
}

// absence is the reason why a name or record leads to no rows.
type absence struct {
	status symbol.Status
	reason string
	others bool // the name leads to artifacts that do not fit
}

func (a *absence) Error() string { return a.reason }

func lacking(s symbol.Status, format string, args ...any) error {
	return &absence{status: s, reason: fmt.Sprintf(format, args...)}
}

// artifact reads a record. The first time it reads the store's keys side by side with it. The store hears which rows
// will be asked for next.
func (c *Client) artifact(ctx context.Context, id symbol.ID) (*keyset, *catalog.Record, error) {
	if x, ok := c.store.Blocks.(sinks.Expecter); ok {
		x.Expect(ctx, id[:])
	}
	if c.keys.now.Load() != nil {
		k, err := c.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		rec, err := k.catalog.Artifacts.Get(ctx, id)
		return k, rec, err
	}
	var value []byte
	var failed error
	read := make(chan struct{})
	go func() {
		defer close(read)
		value, failed = c.store.Catalog.Get(ctx, catalog.ArtifactKey(id))
	}()
	k, err := c.open(ctx)
	<-read
	if err != nil {
		return nil, nil, err
	}
	if failed != nil {
		return nil, nil, fmt.Errorf("read record of artifact %s: %w", id, failed)
	}
	rec, err := k.catalog.Artifacts.Open(ctx, id, value)
	return k, rec, err
}

func (c *Client) openRecord(ctx context.Context, id symbol.ID) (*catalog.Record, *load, error) {
	k, rec, err := c.artifact(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if rec == nil {
		return nil, nil, lacking(symbol.NoArtifact, "artifact %s: nothing is stored under this id", id)
	}
	if rec.State == catalog.Shredded {
		return rec, nil, row.ErrShredded
	}
	if rec.State == catalog.Forgotten {
		return rec, nil, lacking(symbol.NoArtifact, "artifact %s: it was forgotten on purpose; ingest --force brings it back", id)
	}
	pub := rec.Published
	if pub == nil {
		for _, p := range rec.Progress {
			if c.o.Now().Before(p.Lease) {
				return rec, nil, lacking(symbol.Loading, "artifact %s: its first load is under way", id)
			}
		}
		if len(rec.Progress) > 0 {
			return rec, nil, lacking(symbol.Pending, "artifact %s: its first load was given up; the next run loads it again", id)
		}
		return rec, nil, lacking(symbol.NoArtifact, "artifact %s: no load is published", id)
	}
	if old, ok := c.recs.Get(id); ok && old.load != nil && sameLoad(old.load.loaded, pub) {
		return rec, old.load, nil // its blocks are cached under it
	}
	opened, err := loads.Open(k.ring, id, pub)
	if err != nil {
		return rec, nil, fmt.Errorf("load %x: %w", pub.Load, err)
	}
	return rec, &load{id: id, artifact: &pub.Artifact, loaded: pub, opened: opened}, nil
}

// sameLoad reports whether b is a, wrapped keys included: a shredded or
// rotated load must be opened anew.
func sameLoad(a, b *row.Loaded) bool {
	return a.Load == b.Load && a.KeyVersion == b.KeyVersion && string(a.WrappedKey) == string(b.WrappedKey)
}
