package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Catalog is a store's catalog as typed records: sealed on the way in,
// authenticated on the way out. A record that does not open is an error
// (row.ErrUnauthentic, row.ErrSealed) that names it, never an absent one. Safe for
// concurrent use.
type Catalog struct {
	c sinks.Catalog
	k *row.Keyring
}

// New wraps the catalog of the store that k's keys came from.
func New(c sinks.Catalog, k *row.Keyring) *Catalog { return &Catalog{c: c, k: k} }

// Artifact gives the record of an artifact, or nil, nil.
func (c *Catalog) Artifact(ctx context.Context, id symbol.ID) (*Record, error) {
	key := artifactKey(id)
	value, err := c.c.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read record of artifact %s: %w", id, err)
	}
	if value == nil {
		return nil, nil
	}
	return c.record(ctx, sinks.Row{Key: key, Value: value})
}

// Artifacts emits every artifact's record, ascending by ID.
func (c *Catalog) Artifacts(ctx context.Context, emit func(*Record) error) error {
	return c.c.List(ctx, sinks.Under([]byte{row.RecordArtifact}), func(r sinks.Row) error {
		rec, err := c.record(ctx, r)
		if err != nil {
			return err
		}
		return emit(rec)
	})
}

// ArtifactsFrom is Artifacts from an ID on.
func (c *Catalog) ArtifactsFrom(ctx context.Context, from symbol.ID, emit func(*Record) error) error {
	s := sinks.Under([]byte{row.RecordArtifact})
	s.From = artifactKey(from)
	return c.c.List(ctx, s, func(r sinks.Row) error {
		rec, err := c.record(ctx, r)
		if err != nil {
			return err
		}
		return emit(rec)
	})
}

func (c *Catalog) record(ctx context.Context, r sinks.Row) (*Record, error) {
	plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("record of artifact %x: %w", r.Key[1:], err)
	}
	rec, err := unmarshalRecord(plain)
	if err != nil {
		return nil, fmt.Errorf("record of artifact %x: %w: %w", r.Key[1:], row.ErrUnauthentic, err)
	}
	if string(artifactKey(rec.ID)) != string(r.Key) {
		return nil, fmt.Errorf("record of artifact %x: %w: it speaks of %s", r.Key[1:], row.ErrUnauthentic, rec.ID)
	}
	rec.raw = r.Value
	// row.Keyring.Open has no store to ask: hold now what it will need. One that
	// is gone seals that load alone, and Open says so.
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if l != nil && len(l.WrappedKey) > 0 {
			if err := c.k.Hold(ctx, l.KeyVersion); err != nil && !errors.Is(err, row.ErrSealed) {
				return nil, err
			}
		}
	}
	return rec, nil
}

// SwapArtifact replaces old by new in one step. old is nil (there must be
// none), a record as read, or one that an earlier swap wrote; new nil deletes.
// sinks.ErrConflict when the store's record is not old.
func (c *Catalog) SwapArtifact(ctx context.Context, old, new *Record) error {
	var id symbol.ID
	var was, value []byte
	switch {
	case old != nil:
		id, was = old.ID, old.raw
		if was == nil {
			return fmt.Errorf("swap record of artifact %s: the old record was never read", id)
		}
		if new != nil && new.ID != id {
			return fmt.Errorf("swap record of artifact %s: the new one is of %s", id, new.ID)
		}
	case new != nil:
		id = new.ID
	default:
		return nil
	}
	key := artifactKey(id)
	if new != nil {
		plain, err := marshalRecord(new)
		if err != nil {
			return fmt.Errorf("swap record of artifact %s: %w", id, err)
		}
		value = c.k.SealRecord(key, plain)
	}
	if err := c.c.Swap(ctx, key, was, value); err != nil {
		return fmt.Errorf("swap record of artifact %s: %w", id, err)
	}
	if new != nil {
		new.raw = value
	}
	return nil
}
