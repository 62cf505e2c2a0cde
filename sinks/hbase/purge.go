package hbase

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// purgePoll is how often a compaction that was asked for is looked at.
const purgePoll = 200 * time.Millisecond

// purge rewrites the catalog's files without replaced values: a flush writes the memory of the
// servers, then a major compaction keeps one version. It returns when the old files are out of the
// table; a region server moves them to the archive within
// hbase.hfile.compaction.discharger.interval (two minutes).
func (s *store) purge(ctx context.Context) (beyond []string, err error) {
	if s.readOnly {
		return nil, errReadOnly
	}
	t := s.catalog()
	beyond = []string{
		fmt.Sprintf("snapshots and backups of table %s", t),
		"files that HBase has replaced, its archive and old write-ahead logs, until its cleaners delete them (minutes, unless a snapshot or replication holds them)",
	}
	regions, err := s.c.Regions(ctx, t)
	if err != nil {
		return beyond, contract(err)
	}
	for _, r := range regions {
		if err := s.c.Flush(ctx, t, r); err != nil {
			return beyond, contract(err)
		}
		old, err := s.c.StoreFiles(ctx, t, r, catalogColumn.Family)
		if err == nil {
			err = s.c.Compact(ctx, t, r, catalogColumn.Family, true)
		}
		for err == nil {
			var now []string
			now, err = s.c.StoreFiles(ctx, t, r, catalogColumn.Family)
			if err == nil && !slices.ContainsFunc(now, func(f string) bool { return slices.Contains(old, f) }) {
				break
			}
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(purgePoll):
			}
		}
		if err != nil {
			return beyond, contract(err)
		}
	}
	return beyond, nil
}
