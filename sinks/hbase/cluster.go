package hbase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

const (
	// loadTimeout is how long a region server may take to copy a file, as it
	// does where renaming is copying.
	loadTimeout = 30 * time.Minute
	// loadPatience is how long a load that a server cannot do now is tried again.
	loadPatience = 2 * time.Minute
	// manyFiles of a region make a look-up read many: then a compaction is asked for.
	manyFiles = 10
)

// cluster is the rows' table as a bulk load sees it.
type cluster struct{ *writer }

// Regions implements bulk.Cluster.
func (c cluster) Regions(ctx context.Context, fresh bool) ([]bulk.Region, error) {
	list, err := c.read(ctx, fresh)
	if err != nil {
		return nil, err
	}
	out := make([]bulk.Region, len(list))
	for i, r := range list {
		out[i] = bulk.Region{Start: r.Start, End: r.End}
	}
	return out, nil
}

func (w *writer) read(ctx context.Context, fresh bool) ([]*client.Region, error) {
	w.mu.Lock()
	list := w.regions
	w.mu.Unlock()
	if list != nil && !fresh {
		return list, nil
	}
	list, err := w.c.Regions(ctx, w.rows)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.regions = list
	w.mu.Unlock()
	return list, nil
}

// region returns the region that holds row.
func (w *writer) region(ctx context.Context, row []byte, fresh bool) (*client.Region, error) {
	list, err := w.read(ctx, fresh)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(r *client.Region) bool { return r.Holds(row) })
	if i < 0 {
		return nil, fmt.Errorf("no region of table %s holds row %x", w.rows, row)
	}
	return list[i], nil
}

// Load implements bulk.Cluster.
func (c cluster) Load(ctx context.Context, row []byte, h bulk.Handover) (bool, error) {
	if err := c.heartbeat(ctx); err != nil {
		return false, err
	}
	token := ""
	if h.Secure {
		token = h.Dir
	}
	fresh := false
	wait := 50 * time.Millisecond
	for deadline := c.o.Now().Add(loadPatience); ; wait = min(2*wait, 2*time.Second) {
		r, err := c.region(ctx, row, fresh)
		if err != nil {
			return false, err
		}
		loaded, err := c.c.BulkLoadHFile(ctx, c.rows, r, rowFamily, []string{h.Path}, token, (*client.FileToken)(h.Token), loadTimeout)
		switch {
		case err == nil:
			return loaded, nil
		case client.Missing(err):
			return false, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		case client.Unclear(err):
			return false, fmt.Errorf("%w: %w", bulk.ErrUnclear, err)
		case !client.Moved(err) && !client.Busy(err) || c.o.Now().After(deadline):
			return false, err
		}
		fresh = true
		select {
		case <-ctx.Done():
			return false, errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// Keys implements bulk.Cluster.
func (c cluster) Keys(ctx context.Context, from, stop []byte, emit func(row []byte) error) error {
	o := client.ScanOptions{KeysOnly: true, Once: true}
	return c.c.Scan(ctx, c.rows, rowColumn(), client.Span{From: from, Stop: stop}, o, func(cell client.Cell) error { return emit(cell.Row) })
}

// Prepare implements bulk.Cluster.
func (c cluster) Prepare(ctx context.Context) (string, error) {
	dir, err := c.c.PrepareBulkLoad(ctx, c.rows)
	if err != nil {
		return "", err
	}
	if err := c.noteStaging(ctx, dir, c.o.Now()); err != nil {
		return "", errors.Join(err, c.c.CleanupBulkLoad(ctx, c.rows, dir))
	}
	return dir, nil
}

// Cleanup implements bulk.Cluster.
func (c cluster) Cleanup(ctx context.Context, dir string) error {
	c.mu.Lock()
	delete(c.staging, dir)
	c.mu.Unlock()
	return c.unstage(ctx, dir)
}
