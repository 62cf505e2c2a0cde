package hbase

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

const (
	// purgePoll is how often a compaction that was asked for is looked at.
	purgePoll = 200 * time.Millisecond
	// purgeRegions is how many regions are rewritten at once.
	purgeRegions = 8
)

// purge rewrites the catalog's files without replaced values: a flush writes the memory of the
// servers, then a major compaction keeps one version. It returns when the old files of all regions are out of the
// table; a region server moves them to the archive within
// hbase.hfile.compaction.discharger.interval (two minutes). A region that splits or merges meanwhile
// begins anew.
func (s *store) purge(ctx context.Context) (beyond []string, err error) {
	if s.readOnly {
		return nil, errReadOnly
	}
	t := s.catalog()
	beyond = []string{
		fmt.Sprintf("snapshots and backups of table %s", t),
		"files that HBase has replaced, its archive and old write-ahead logs, until its cleaners delete them (minutes, unless a snapshot or replication holds them)",
	}
	done := map[string]bool{} // by encoded name
	for {
		regions, err := s.c.Regions(ctx, t)
		if err != nil {
			return beyond, contract(err)
		}
		left := slices.DeleteFunc(slices.Clone(regions), func(r *client.Region) bool { return done[r.Encoded] })
		if len(left) == 0 {
			return beyond, nil
		}
		left = left[:min(len(left), purgeRegions)]
		errs := make([]error, len(left))
		var wg sync.WaitGroup
		for i, r := range left {
			wg.Go(func() { errs[i] = s.purgeRegion(ctx, t, r) })
		}
		wg.Wait()
		for i, err := range errs {
			switch {
			case err == nil:
				done[left[i].Encoded] = true
			case !client.Moved(err) || ctx.Err() != nil:
				return beyond, contract(err)
			}
		}
		if slices.ContainsFunc(errs, client.Moved) {
			if err := sleep(ctx, purgePoll); err != nil {
				return beyond, err
			}
		}
	}
}

// purgeRegion returns when the files that a region has now are out of the table.
func (s *store) purgeRegion(ctx context.Context, t client.Table, r *client.Region) error {
	if err := s.c.Flush(ctx, t, r); err != nil {
		return err
	}
	old, err := s.c.StoreFiles(ctx, t, r, catalogColumn.Family)
	if err != nil || len(old) == 0 {
		return err
	}
	if err := s.c.Compact(ctx, t, r, catalogColumn.Family, true); err != nil {
		return err
	}
	for {
		now, err := s.c.StoreFiles(ctx, t, r, catalogColumn.Family)
		if err != nil || !slices.ContainsFunc(now, func(f string) bool { return slices.Contains(old, f) }) {
			return err
		}
		if err := sleep(ctx, purgePoll); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
