package iceberg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// Held returns times by table: data files of the table that the lake gave up later may still be named by a snapshot that
// readers use, and must stay. A table without snapshots has none. An error says that this is not known.
func (t *Tables) Held(ctx context.Context) (map[string]time.Time, error) {
	held := map[string]time.Time{}
	before := t.o.Now().Add(-t.o.Grace).UnixMilli()
	for _, s := range t.shapes {
		base, err := t.catalog.load(ctx, s.table.Name)
		if err != nil {
			return nil, fmt.Errorf("iceberg table %s in %s: %w", s.table.Name, t.catalog.name(), err)
		}
		if base != nil && len(base.Snapshots) > 0 {
			held[s.table.Name] = heldBy(base.Snapshots, before)
		}
	}
	return held, nil
}

// heldBy returns the time of the oldest state of the lake that a snapshot in use since a time shows. A foreign snapshot may
// name what the one of ours before it names.
func heldBy(all []snapshot, since int64) (until time.Time) {
	anchor := anchorOf(all, since)
	var last time.Time // of ours
	used := anchor == nil
	for i := range all {
		if made, err := time.Parse(time.RFC3339Nano, all[i].Summary[madeSummary]); err == nil {
			last = made
		}
		if first := !used && &all[i] == anchor || i == 0 && used; first {
			used, until = true, last
		}
		if used && last.Before(until) {
			until = last
		}
	}
	return until
}

// Clean deletes this package's files that no snapshot of their table names, once they are older than the grace and the time
// for which one snapshot stands. A table that cannot be read, or that others write, keeps its files. It returns how many
// files it deleted, or would delete.
func (t *Tables) Clean(ctx context.Context, dry bool) (n int, err error) {
	before := t.o.Now().Add(-t.o.Grace - 2*t.o.Grace/graceSlots)
	for _, s := range t.shapes {
		drop, cerr := t.unnamed(ctx, s, before)
		if cerr == nil && !dry && len(drop) > 0 {
			cerr = t.o.Bucket.Delete(ctx, drop)
		}
		if cerr != nil {
			err = errors.Join(err, fmt.Errorf("clean iceberg table %s in %s: %w", s.table.Name, t.catalog.name(), cerr))
			continue
		}
		n += len(drop)
	}
	return n, err
}

func (t *Tables) unnamed(ctx context.Context, s *shape, before time.Time) (drop []string, err error) {
	base, err := t.catalog.load(ctx, s.table.Name)
	if err != nil || base == nil {
		return nil, err
	}
	if err := t.check(s, base); err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for i := range base.Snapshots {
		x := &base.Snapshots[i]
		named[x.List] = true
		if !own(x) {
			return nil, fmt.Errorf("%w: snapshot %d is none of symlake's", ErrForeign, x.ID)
		}
		manifests, err := t.manifests(ctx, x)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			named[m.Path] = true
			for j := range m.entries {
				named[m.entries[j].File.Path] = true
			}
		}
	}
	folder := t.folder(s.table.Name)
	err = t.o.Bucket.List(ctx, folder, "", func(e bucket.Entry) error {
		if !named[t.location(e.Key)] && e.Modified.Before(before) && t.mine(folder, e.Key, base) {
			drop = append(drop, e.Key)
		}
		return nil
	})
	return drop, err
}

// mine reports whether this package wrote a file below a table's folder, and needs it no more unless a snapshot names it.
func (t *Tables) mine(folder, key string, base *standing) bool {
	dir, name, _ := strings.Cut(strings.TrimPrefix(key, folder), "/")
	switch {
	case strings.Contains(name, "/"):
		return false
	case dir == "metadata" && strings.HasPrefix(name, ownPrefix):
		return strings.HasSuffix(name, ".avro")
	case dir == "deletes" && strings.HasPrefix(name, ownPrefix):
		return strings.HasSuffix(name, ".parquet")
	case dir == "metadata" && strings.HasPrefix(name, "v") && strings.HasSuffix(name, ".metadata.json"):
		n, err := strconv.ParseUint(name[1:strings.IndexByte(name, '.')], 10, 63)
		return err == nil && n+keepVersions <= base.version
	}
	return false
}
