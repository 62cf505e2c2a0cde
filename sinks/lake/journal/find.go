package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfilter"
)

// Find returns what the log says of artifacts at an entry, as live or as gone. Artifacts that it does not speak of up to there
// are not in the result.
//
// It costs the entries since the checkpoint before, and of each part of that checkpoint the footer and a Bloom filter. Only if
// the filter lets an artifact pass does it read the part, and decode the row groups with such artifacts. Of parts in sealed lakes,
// or of earlier versions, it decodes all. bucket.ErrNotFound: what it needs is gone.
func (l *Log) Find(ctx context.Context, number uint64, ids []symbol.ID) (map[symbol.ID]Naming, error) {
	found := map[symbol.ID]Naming{}
	if number == 0 || len(ids) == 0 {
		return found, nil
	}
	last, err := l.newestCheckpoint(ctx, number)
	if err != nil {
		return nil, err
	}
	all, err := l.list(ctx, last+1)
	if err != nil {
		return nil, err
	}
	if last == 0 && len(all) > 0 && all[0].Key != EntryKey(1) {
		return nil, fmt.Errorf("entry 1 of the lake: %w", bucket.ErrNotFound)
	}
	recent := NewChanges()
	for _, of := range all {
		if n, _ := EntryNumber(of.Key); n > number {
			break
		}
		e, err := l.entry(ctx, of)
		if err != nil {
			return nil, err
		}
		recent.Add(e.Entry)
	}
	ids = take(found, recent, ids)
	if last == 0 {
		return found, nil
	}
	c, err := l.ReadCheckpoint(ctx, last)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(c.Parts) {
		if len(ids) == 0 {
			break
		}
		changes, err := l.partWith(ctx, p, ids)
		if err != nil {
			return nil, err
		}
		ids = take(found, changes, ids)
	}
	return found, nil
}

// take adds to found what changes say of ids, and returns the ids that they do not speak of.
func take(found map[symbol.ID]Naming, changes *Changes, ids []symbol.ID) (others []symbol.ID) {
	for _, id := range ids {
		if n, ok := changes.Live[id]; ok {
			found[id] = n
		} else {
			others = append(others, id)
		}
	}
	return others
}

// partWith reads the changes of a part, or those of its row groups that may speak of ids.
func (l *Log) partWith(ctx context.Context, p Part, ids []symbol.ID) (*Changes, error) {
	if p.Key != 0 {
		return l.ReadPart(ctx, p)
	}
	of, err := l.partEntry(ctx, p)
	if err != nil {
		return nil, err
	}
	groups, err := l.mayHold(ctx, p, of, ids)
	if err != nil || len(groups) == 0 {
		return NewChanges(), err
	}
	b, err := l.partBytes(ctx, p, of)
	if err != nil {
		return nil, err
	}
	c, err := decode(ctx, l.Keys, b, groups...)
	if err != nil {
		return nil, l.broken(p.Path, fmt.Errorf("a part of a checkpoint: %w", err))
	}
	return c, nil
}

// mayHold returns the row groups of a part that may speak of ids.
func (l *Log) mayHold(ctx context.Context, p Part, of bucket.Entry, ids []symbol.ID) (groups []int, err error) {
	r, err := l.Bucket.Open(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(p.Path), err)
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	if groups, err = pqfilter.Groups(r, of.Size, artifactColumn, texts); errors.Is(err, pqfilter.ErrDamaged) {
		err = l.broken(p.Path, err)
	}
	return groups, errors.Join(err, r.Close())
}
