package row

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// What copying a store takes besides its rows, which keep their keys and
// seals: the data key changes hands, and records are read in order.

// Adopt gives a copy of l, a load of the store that from's keys are of, whose
// data key is sealed under k's newest store key. The rows stay as they are.
func (k *Keyring) Adopt(from *Keyring, id symbol.ID, l *Loaded) (*Loaded, error) {
	secret, err := from.unwrapData(id, l)
	if err != nil {
		return nil, err
	}
	out := *l
	k.wrap(&out, id, secret)
	return &out, nil
}

// ArtifactsFrom is Artifacts from an ID on.
func (c *Catalog) ArtifactsFrom(ctx context.Context, from symbol.ID, emit func(*Record) error) error {
	s := prefixed([]byte{keyArtifact})
	s.From = artifactKey(from)
	return c.c.List(ctx, s, func(r sinks.Row) error {
		rec, err := c.record(ctx, r)
		if err != nil {
			return err
		}
		return emit(rec)
	})
}

// AllWaiters emits every waiter with the companion it lacks, in no order that means anything.
func (c *Catalog) AllWaiters(ctx context.Context, emit func(companion string, w Waiter) error) error {
	err := c.list(ctx, []byte{keyWaiter}, 0, func(f nameForm, id symbol.ID) error {
		return emit(f.Name, Waiter{id, f.Object, f.InVain})
	})
	if err != nil {
		return fmt.Errorf("list waiters: %w", err)
	}
	return nil
}

// ObjectsFrom is Objects of every URL from one on.
func (c *Catalog) ObjectsFrom(ctx context.Context, url string, emit func(*Object) error) error {
	s := prefixed([]byte{keyObject})
	s.From = objectKey(url)
	return c.c.List(ctx, s, func(r sinks.Row) error {
		o, err := c.object(ctx, r)
		if err != nil {
			return err
		}
		return emit(o)
	})
}
