package hbase

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// batch gathers rows and puts them through the write-ahead log.
type batch struct {
	blocks
	err   error
	seen  map[[sinks.PrefixBytes]byte]int // place in prefixes
	loads [][]byte
	rows  []sinks.Row
	load  []int // of each row
}

var errOver = errors.New("batch is already committed or aborted")

const putBytes = 4 << 20

func (b blocks) Begin(ctx context.Context) (sinks.Batch, error) {
	if b.readOnly {
		return nil, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &batch{blocks: b, seen: make(map[[sinks.PrefixBytes]byte]int)}, nil
}

func (b *batch) Write(r sinks.Row) error {
	if b.err == nil {
		b.err = b.write(r)
	}
	return b.err
}

func (b *batch) write(r sinks.Row) error {
	if len(r.Key) < sinks.PrefixBytes {
		return fmt.Errorf("key %x is shorter than a prefix (%d bytes)", r.Key, sinks.PrefixBytes)
	}
	at := [sinks.PrefixBytes]byte(r.Key)
	i, ok := b.seen[at]
	if !ok {
		i = len(b.loads)
		b.seen[at], b.loads = i, append(b.loads, at[:])
	} else if last := b.rows[len(b.rows)-1].Key; b.load[len(b.rows)-1] != i || string(last) >= string(r.Key) {
		return fmt.Errorf("key %x after %x: keys of a load must ascend, and come together", r.Key, last)
	}
	b.rows, b.load = append(b.rows, r), append(b.load, i)
	return nil
}

func (b *batch) Commit(ctx context.Context) error {
	if b.err == nil {
		b.err = ctx.Err()
	}
	if b.err == nil {
		b.err = contract(b.commit(ctx))
	}
	if b.err != nil {
		return b.err
	}
	b.err = errOver
	return nil
}

func (b *batch) commit(ctx context.Context) error {
	at, err := b.generations(ctx, b.loads)
	if err != nil {
		return err
	}
	var cells []client.Cell
	size := 0
	for i, r := range b.rows {
		cells = append(cells, client.Put(r.Key, blocksColumn, r.Value, at[b.load[i]]))
		if size += len(r.Value); size < putBytes && i < len(b.rows)-1 {
			continue
		}
		if err := b.c.Write(ctx, b.store.blocks(), cells, client.SyncWAL, true); err != nil {
			return err
		}
		cells, size = cells[:0], 0
	}
	return nil
}

func (b *batch) Abort() {
	if b.err == nil {
		b.err = errOver
	}
	b.rows = nil
}
