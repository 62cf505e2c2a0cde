package hbase

import (
	"context"
	"os"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// putsBytes is how much one call carries; far below what a server takes.
const putsBytes = 2 << 20

// puts is the way of a batch into the table where HBase's file system is out of
// reach: rows wait in a local file until Commit, since a Put is seen at once.
type puts struct {
	w   *writer
	dir string
}

// Begin implements bulk.Target.
func (p *puts) Begin(ctx context.Context) (bulk.FileSystem, string, []bulk.Region, error) {
	if s := p.w.o.Scratch; s != "" {
		if err := os.MkdirAll(s, 0o700); err != nil {
			return nil, "", nil, err
		}
	}
	dir, err := os.MkdirTemp(p.w.o.Scratch, "symlake-puts-")
	if err != nil {
		return nil, "", nil, err
	}
	p.dir = dir
	files, err := p.w.files(ctx, dir)
	return files, dir, bulk.Boundaries(nil), err
}

// Deliver implements bulk.Target. The client slows down while a region is too busy, and repeats
// cells that HBase did not take: the same cell twice is one.
func (p *puts) Deliver(ctx context.Context, files []*bulk.File) error {
	var cells []client.Cell
	bytes := 0
	flush := func() error {
		err := p.w.c.Write(ctx, p.w.rows, cells, client.TableDefault, false)
		cells, bytes = cells[:0], 0
		return err
	}
	for _, f := range files {
		err := f.Each(ctx, func(row, value []byte, stamp uint64) error {
			cells = append(cells, client.Put(row, rowColumn(), value, stamp))
			if bytes += len(row) + len(value); bytes < putsBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	if len(cells) == 0 {
		return nil
	}
	return flush()
}

// End implements bulk.Target.
func (p *puts) End(context.Context) error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}
