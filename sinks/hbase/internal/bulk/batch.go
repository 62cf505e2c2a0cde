package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// Options are for one batch.
type Options struct {
	// To is where the rows go.
	To Target
	// Generations gives the timestamps that the cells of loads have to carry.
	Generations func(ctx context.Context, prefixes [][]byte) ([]uint64, error)
	BufferBytes int         // of rows before they are written in order; 0: 8 MiB
	Bloom       hfile.Bloom // filter of the files
	Now         func() time.Time
}

// Target is one way to bring files of rows into a table.
type Target interface {
	// Begin gives the boundaries to cut at and the folder to stage in.
	Begin(ctx context.Context) (fs FileSystem, dir string, regions []Region, err error)
	// Deliver makes the rows of the files durable in the table. It may remove them.
	Deliver(ctx context.Context, files []*File) error
	// End is called once, after Deliver or without it; it removes the staging folder.
	End(ctx context.Context) error
}

const (
	defaultBuffer = 8 << 20
	// cleanupTime is how long the end of a batch may take when its context is over.
	cleanupTime = 20 * time.Second
)

// Batch is a sinks.Batch.
type Batch struct {
	o   Options
	ctx context.Context // of Begin: Write has none of its own
	err error

	order  sinks.Order
	chunks []chunk
	bytes  int

	begun bool
	stage *stage
}

// chunk is consecutive rows of one load.
type chunk struct {
	at   sinks.Prefix
	rows []sinks.Row
}

var errOver = errors.New("batch is already committed or aborted")

// New begins a batch; nothing is asked of the target before there are rows to write.
func New(ctx context.Context, o Options) *Batch {
	if o.BufferBytes == 0 {
		o.BufferBytes = defaultBuffer
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Batch{o: o, ctx: ctx}
}

// Write implements sinks.Batch.
func (b *Batch) Write(r sinks.Row) error {
	if b.err == nil {
		b.err = b.write(r)
	}
	return b.err
}

func (b *Batch) write(r sinks.Row) error {
	begins, err := b.order.Add(r.Key)
	if err != nil {
		return err
	}
	if begins || len(b.chunks) == 0 { // after a flush the load goes on
		b.chunks = append(b.chunks, chunk{at: sinks.Prefix(r.Key)})
	}
	c := &b.chunks[len(b.chunks)-1]
	c.rows = append(c.rows, r)
	if b.bytes += len(r.Key) + len(r.Value); b.bytes < b.o.BufferBytes {
		return nil
	}
	return b.Flush(b.ctx)
}

// Flush stages the buffered rows, in key order. Commit and a full buffer do so by themselves.
func (b *Batch) Flush(ctx context.Context) error {
	if len(b.chunks) == 0 {
		return nil
	}
	if !b.begun {
		b.begun = true
		fs, dir, regions, err := b.o.To.Begin(ctx)
		if err != nil {
			return err
		}
		b.stage = &stage{fs: fs, dir: dir, regions: regions, now: b.o.Now, bloom: b.o.Bloom}
	}
	slices.SortFunc(b.chunks, func(x, y chunk) int { return bytes.Compare(x.at[:], y.at[:]) })
	prefixes := make([][]byte, len(b.chunks))
	for i := range b.chunks {
		prefixes[i] = b.chunks[i].at[:]
	}
	stamps, err := b.o.Generations(ctx, prefixes)
	if err != nil {
		return fmt.Errorf("read generations of %d loads: %w", len(prefixes), err)
	}
	for i, c := range b.chunks {
		for _, r := range c.rows {
			if err := b.stage.add(ctx, r.Key, r.Value, stamps[i]); err != nil {
				return err
			}
		}
	}
	clear(b.chunks) // the rows go
	b.chunks, b.bytes = b.chunks[:0], 0
	return nil
}

// Commit implements sinks.Batch.
func (b *Batch) Commit(ctx context.Context) error {
	if b.err == nil {
		b.err = ctx.Err()
	}
	if b.err == nil {
		b.err = b.commit(ctx)
	}
	if b.err != nil {
		return b.err
	}
	// What cannot be removed now is found by the next clean-up.
	_ = b.end(ctx)
	return nil
}

func (b *Batch) commit(ctx context.Context) error {
	if err := b.Flush(ctx); err != nil {
		return err
	}
	if b.stage == nil {
		return nil
	}
	files, err := b.stage.finish(ctx)
	if err != nil {
		return err
	}
	return b.o.To.Deliver(ctx, files)
}

// Abort implements sinks.Batch.
func (b *Batch) Abort() {
	if b.err != errOver {
		_ = b.end(b.ctx)
	}
}

func (b *Batch) end(ctx context.Context) error {
	b.err = errOver
	b.chunks = nil
	if b.stage != nil {
		b.stage.abort()
		b.stage = nil
	}
	if !b.begun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	return b.o.To.End(ctx)
}
