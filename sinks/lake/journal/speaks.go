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

// Speaks reports whether an entry up to number names one of ids, as live or as gone. It costs
// the entries since the checkpoint before number, and of each part of that checkpoint the footer and a Bloom filter: no MAC of a
// part is checked. Where a filter cannot tell, as in a part of a sealed lake or of an earlier version, it reads the part.
// bucket.ErrNotFound: what it needs is gone.
func (l *Log) Speaks(ctx context.Context, number uint64, ids []symbol.ID) (bool, error) {
	if number == 0 || len(ids) == 0 {
		return false, nil
	}
	last, err := l.newestCheckpoint(ctx, number)
	if err != nil {
		return false, err
	}
	all, err := l.list(ctx, last+1)
	if err != nil {
		return false, err
	}
	if last == 0 && len(all) > 0 && all[0].Key != EntryKey(1) {
		return false, fmt.Errorf("entry 1 of the lake: %w", bucket.ErrNotFound)
	}
	for _, of := range all {
		if n, _ := EntryNumber(of.Key); n > number {
			break
		}
		e, err := l.entry(ctx, of)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if slices.Contains(e.Gone, ID(id)) || slices.ContainsFunc(e.Live, func(n Named) bool { return n.Artifact == id }) {
				return true, nil
			}
		}
	}
	if last == 0 {
		return false, nil
	}
	c, err := l.ReadCheckpoint(ctx, last)
	if err != nil {
		return false, err
	}
	for _, p := range c.Parts {
		if speaks, err := l.partSpeaks(ctx, p, ids); speaks || err != nil {
			return speaks, err
		}
	}
	return false, nil
}

func (l *Log) partSpeaks(ctx context.Context, p Part, ids []symbol.ID) (bool, error) {
	if p.Key == 0 {
		may, err := l.mayHold(ctx, p, ids)
		if err != nil || !may {
			return false, err
		}
	}
	changes, err := l.ReadPart(ctx, p)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ids, func(id symbol.ID) bool {
		_, told := changes.Live[id]
		return told
	}), nil
}

func (l *Log) mayHold(ctx context.Context, p Part, ids []symbol.ID) (may bool, err error) {
	of, _, err := l.Bucket.Stat(ctx, p.Path)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", l.Bucket.URL(p.Path), err)
	}
	r, err := l.Bucket.Open(ctx, of)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", l.Bucket.URL(p.Path), err)
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	if may, err = pqfilter.MayHold(r, of.Size, artifactColumn, texts); errors.Is(err, pqfilter.ErrDamaged) {
		err = l.broken(p.Path, err)
	}
	return may, errors.Join(err, r.Close())
}
