package hbase

import (
	"context"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
)

// Begin implements sinks.Blocks.
func (w *writer) Begin(ctx context.Context) (sinks.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := bulk.Options{Now: w.o.Now, Generations: func(ctx context.Context, prefixes [][]byte) ([]uint64, error) {
		if err := w.heartbeat(ctx); err != nil {
			return nil, err
		}
		return w.stamps(ctx, prefixes)
	}}
	if w.o.Puts {
		o.To = &puts{w: w}
	} else {
		o.Bloom = w.bloom
		o.To = &bulk.Loader{Cluster: cluster{w}, Files: w.files, Done: w.loaded, Now: w.o.Now}
	}
	return bulk.New(ctx, o), nil
}
