package hbase

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// Tidy implements sinks.Blocks: it removes the staging folders of batches that
// died, and asks for major compactions where rows were dropped, without which
// they stay on disk. The bytes that HBase frees it does not tell.
func (w *writer) Tidy(ctx context.Context, before time.Time) (freed int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if silent := w.o.Now().Add(-stagingLease); silent.Before(before) {
		before = silent
	}
	var dead []string
	span := client.Span{From: stagingKey(""), Stop: []byte{stagingPrefix[0] + 1}}
	err = w.c.Scan(ctx, w.notes, stagingColumn(), span, client.ScanOptions{Once: true}, func(c client.Cell) error {
		dir := string(c.Row[len(stagingPrefix):])
		w.mu.Lock()
		_, ours := w.staging[dir]
		w.mu.Unlock()
		if !ours && len(c.Value) == 16 && time.UnixMilli(int64(binary.BigEndian.Uint64(c.Value[8:]))).Before(before) {
			dead = append(dead, dir)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("list staging folders: %w", err)
	}
	for _, dir := range dead {
		if err := w.unstage(ctx, dir); err != nil {
			return 0, err
		}
	}
	return 0, w.compactDropped(ctx)
}

// compactDropped asks for a major compaction of every region with dropped rows.
func (w *writer) compactDropped(ctx context.Context) error {
	w.mu.Lock()
	dropped := slices.Collect(maps.Values(w.dropped))
	clear(w.dropped)
	w.mu.Unlock()
	if len(dropped) == 0 {
		return nil
	}
	due, err := w.regionsOf(ctx, dropped)
	if err != nil {
		return err
	}
	for _, r := range due {
		if err := w.c.Compact(ctx, w.rows, r, rowFamily, true); err != nil {
			return err
		}
	}
	w.o.Notice(fmt.Sprintf("rows of %d loads were deleted: a major compaction of %d regions was asked for", len(dropped), len(due)))
	return nil
}

// regionsOf are the regions that hold rows, each once.
func (w *writer) regionsOf(ctx context.Context, rows [][]byte) ([]*client.Region, error) {
	list, err := w.read(ctx, true)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(r *client.Region) bool {
		return !slices.ContainsFunc(rows, r.Holds)
	}), nil
}

// loaded looks at the regions that got a file, and asks for a compaction where
// there are many by now. What fails here is no failure of the load.
func (w *writer) loaded(ctx context.Context, rows [][]byte) {
	due, err := w.regionsOf(ctx, rows)
	for _, r := range due {
		if err != nil {
			break
		}
		var files []string
		if files, err = w.c.StoreFiles(ctx, w.rows, r, rowFamily); err != nil || len(files) <= manyFiles {
			continue
		}
		if err = w.c.Compact(ctx, w.rows, r, rowFamily, false); err == nil {
			w.o.Notice(fmt.Sprintf("region %s of table %s has %d store files: a compaction was asked for", r.Encoded, w.rows, len(files)))
		}
	}
	if err != nil {
		w.o.Notice(fmt.Sprintf("count store files of table %s: %v", w.rows, err))
	}
}
