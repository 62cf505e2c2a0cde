package catalog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Artifacts are the "a" records.
type Artifacts struct {
	records
	lag *lag
}

// ArtifactKey is the key of an artifact's record.
func ArtifactKey(id symbol.ID) []byte { return artifactKey(id) }

func artifactKey(id symbol.ID) []byte { return append([]byte{row.RecordArtifact}, id[:]...) }

// Get returns the record of an artifact, or nil, nil.
func (a Artifacts) Get(ctx context.Context, id symbol.ID) (*Record, error) {
	return get(ctx, a.records, "record of artifact", id, artifactKey(id), a.read)
}

// Open reads the record of an artifact from the value that the store has under ArtifactKey. Of a nil value it returns nil.
func (a Artifacts) Open(ctx context.Context, id symbol.ID, value []byte) (*Record, error) {
	if value == nil {
		return nil, nil
	}
	return a.read(ctx, sinks.Row{Key: artifactKey(id), Value: value})
}

// Each emits the record of every artifact, ascending by ID.
func (a Artifacts) Each(ctx context.Context, emit func(*Record) error) error {
	return a.From(ctx, symbol.ID{}, emit)
}

// From emits the records as Each does, beginning with an ID.
func (a Artifacts) From(ctx context.Context, from symbol.ID, emit func(*Record) error) error {
	s := sinks.Under([]byte{row.RecordArtifact})
	s.From = artifactKey(from)
	return each(ctx, a.records, s, a.read, emit)
}

// Swap replaces old by new in one step. old is nil (the store must have no record), or a record that
// this process read or wrote. new nil deletes. sinks.ErrConflict: the store's record is not old. If the lake is to say
// something else of the artifact from then on, Swap notes that first: see Lakes. It also notes new work for gc.
func (a Artifacts) Swap(ctx context.Context, old, new *Record) error {
	of := cmp.Or(old, new)
	if of == nil {
		return nil
	}
	if err := a.note(ctx, Change[Record]{old, new}); err != nil {
		return fmt.Errorf("swap record of artifact %s: %w", of.ID, err)
	}
	key := func(r *Record) []byte { return artifactKey(r.ID) }
	if err := swap(ctx, a.records, old, new, key, new); err != nil {
		return fmt.Errorf("swap record of artifact %s: %w", of.ID, err)
	}
	return nil
}

// note notes that the lake is to follow changes that show, and that gc has work where a change brings some.
func (a Artifacts) note(ctx context.Context, changes ...Change[Record]) error {
	var garbage []symbol.ID
	for _, c := range changes {
		if shows(c.Old, c.New) {
			if err := a.lag.change(ctx, a.records, cmp.Or(c.Old, c.New).ID); err != nil {
				return err
			}
		}
		if c.New.HasGarbage() && !c.Old.HasGarbage() {
			garbage = append(garbage, c.New.ID)
		}
	}
	return Obligations{a.records}.AddGarbage(ctx, garbage)
}

// SwapAll swaps the records of unlike artifacts as Swap does, in one request, and returns an error for each.
func (a Artifacts) SwapAll(ctx context.Context, changes []Change[Record]) []error {
	if err := a.note(ctx, changes...); err != nil {
		return slices.Repeat([]error{fmt.Errorf("swap records of %d artifacts: %w", len(changes), err)}, len(changes))
	}
	return swapAll(ctx, a.records, changes, func(r *Record) []byte { return artifactKey(r.ID) },
		func(r *Record) string { return "record of artifact " + r.ID.String() })
}

// GetAll returns the records of artifacts in one request. An absent record is nil. A record of known that this process read or
// wrote, and that is still the store's, is returned itself: opening it again would cost more than reading it.
func (a Artifacts) GetAll(ctx context.Context, ids []symbol.ID, known map[symbol.ID]*Record) ([]*Record, error) {
	keys := make([][]byte, len(ids))
	for i, id := range ids {
		keys[i] = artifactKey(id)
	}
	values, err := a.store.GetAll(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read records of %d artifacts: %w", len(ids), err)
	}
	records := make([]*Record, len(ids))
	for i, id := range ids {
		if is := known[id]; is != nil && is.raw != nil && bytes.Equal(is.raw, values[i]) {
			records[i] = is
			continue
		}
		if records[i], err = a.Open(ctx, id, values[i]); err != nil {
			return nil, err
		}
	}
	return records, nil
}

func (a Artifacts) read(ctx context.Context, r sinks.Row) (*Record, error) {
	rec := &Record{}
	err := row.ErrUnauthentic
	if len(r.Key) == 1+len(rec.ID) {
		copy(rec.ID[:], r.Key[1:])
		err = a.open(ctx, r, rec)
	}
	if err != nil {
		return nil, fmt.Errorf("record of artifact %x: %w", r.Key[1:], err)
	}
	rec.raw = r.Value

	// The ring has no store to ask when it opens a load. So it takes hold of the store keys now. A
	// key that is gone seals its load alone; opening that load tells.
	for _, l := range []*row.Loaded{rec.Published, rec.Previous} {
		if l != nil && len(l.WrappedKey) > 0 {
			if err := a.ring.Hold(ctx, l.KeyVersion); err != nil && !errors.Is(err, row.ErrSealed) {
				return nil, err
			}
		}
	}
	return rec, nil
}
