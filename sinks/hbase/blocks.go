package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// blocks implements sinks.Blocks.
type blocks struct{ *store }

// contract makes a client's error one of the contract's.
func contract(err error) error {
	if errors.Is(err, client.ErrNoTable) {
		return fmt.Errorf("%w: %w", sinks.ErrLost, err)
	}
	if errors.Is(err, client.ErrDamaged) {
		return fmt.Errorf("%w: %w", sinks.ErrCorrupt, err)
	}
	return err
}

func (b blocks) First(ctx context.Context, spans []sinks.Span, found func(i int, r sinks.Row, err error)) error {
	if err := b.fit(); err != nil {
		for i := range spans {
			found(i, sinks.Row{}, err)
		}
		return ctx.Err()
	}
	list := make([]client.Span, len(spans))
	for i, s := range spans {
		list[i] = client.Span(s)
	}
	return b.c.First(ctx, b.store.blocks(), blocksColumn, list, func(i int, cell client.Cell, err error) {
		if err != nil {
			found(i, sinks.Row{}, contract(err))
			return
		}
		found(i, sinks.Row{Key: cell.Row, Value: cell.Value}, nil)
	})
}

// Expect implements sinks.Expecter.
func (b blocks) Expect(ctx context.Context, prefix []byte) {
	b.c.Expect(ctx, b.store.blocks(), prefix)
}

func (b blocks) Scan(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.fit(); err != nil {
		return err
	}
	return contract(b.c.Scan(ctx, b.store.blocks(), blocksColumn, client.Span(s), client.ScanOptions{Once: true}, func(cell client.Cell) error {
		return emit(sinks.Row{Key: cell.Row, Value: cell.Value})
	}))
}

// dropRows is how many rows one transaction marks as deleted. A small load needs one transaction.
const dropRows = 4096

func (b blocks) Drop(ctx context.Context, prefixes [][]byte) error {
	if b.readOnly {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, p := range prefixes {
		if len(p) != sinks.PrefixBytes {
			return fmt.Errorf("prefix %x has %d bytes, want %d", p, len(p), sinks.PrefixBytes)
		}
	}
	for _, p := range prefixes {
		if err := b.drop(ctx, p); err != nil {
			return contract(err)
		}
	}
	return nil
}

// drop ends the load's generation, then marks what it has. A load without rows has none to end.
func (b blocks) drop(ctx context.Context, prefix []byte) error {
	var generation uint64
	var marks []client.Cell
	flush := func() error {
		if len(marks) == 0 {
			return nil
		}
		err := b.c.Write(ctx, b.store.blocks(), marks, client.SyncWAL, true)
		marks = marks[:0]
		return err
	}
	span := client.Span{From: prefix, Stop: sinks.Prefix(prefix).Next()}
	err := b.c.Scan(ctx, b.store.blocks(), blocksColumn, span, client.ScanOptions{KeysOnly: true, Once: true}, func(cell client.Cell) error {
		if generation == 0 {
			var err error
			if generation, err = b.endGeneration(ctx, prefix); err != nil {
				return err
			}
			b.w.noteDropped(prefix)
		}
		if marks = append(marks, client.Delete(cell.Row, blocksColumn, generation)); len(marks) < dropRows {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// endGeneration raises the number that the load's next rows get, and returns the one before.
func (b blocks) endGeneration(ctx context.Context, prefix []byte) (uint64, error) {
	for {
		cell, err := b.c.Get(ctx, b.store.blocks(), generationColumn, prefix)
		if err != nil {
			return 0, err
		}
		now, err := generation(prefix, cell)
		if err != nil {
			return 0, err
		}
		done, err := b.c.CheckAndPut(ctx, b.store.blocks(), generationColumn, prefix, cell.Value, binary.BigEndian.AppendUint64(nil, now+1))
		switch {
		case err != nil && (!client.Unclear(err) || ctx.Err() != nil):
			return 0, err
		case done:
			return now, nil
		}
		// Another one raised it, or we did without hearing of it: one more does no harm.
	}
}

// firstGeneration is the generation of a load that was never dropped. Durable.
const firstGeneration = client.Everlasting + 1

// generation reads the number of a load. Old numbers count from 0: their rows are below every new one.
func generation(prefix []byte, cell client.Cell) (uint64, error) {
	if cell.Row == nil {
		return firstGeneration, nil
	}
	if len(cell.Value) == 8 {
		switch n := binary.BigEndian.Uint64(cell.Value); {
		case n == 0 || n >= client.Latest:
		case n < client.Everlasting:
			return client.Everlasting + n, nil
		default:
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: generation of load %x is %x", sinks.ErrCorrupt, prefix, cell.Value)
}

// generations are the timestamps of the rows that loads get now.
func (b blocks) generations(ctx context.Context, prefixes [][]byte) ([]uint64, error) {
	const atOnce = 1000
	list := make([]uint64, 0, len(prefixes))
	for some := range slices.Chunk(prefixes, atOnce) {
		cells, errs := b.c.GetAll(ctx, b.store.blocks(), generationColumn, some)
		for i, cell := range cells {
			if errs[i] != nil {
				return nil, errs[i]
			}
			n, err := generation(some[i], cell)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// Begin implements sinks.Blocks.
func (b blocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if b.readOnly {
		return nil, errReadOnly
	}
	return b.w.Begin(ctx)
}

// Tidy implements sinks.Blocks. It also moves ledger rows of older programs.
func (b blocks) Tidy(ctx context.Context, before time.Time) (freed int64, err error) {
	if b.readOnly {
		return 0, errReadOnly
	}
	moved, err := b.records.Move(ctx)
	if moved > 0 {
		b.w.o.Notice(fmt.Sprintf("table %s: %d ledger rows of an older program were moved", b.store.catalog(), moved))
	}
	if err != nil {
		return 0, err
	}
	return b.w.Tidy(ctx, before)
}
