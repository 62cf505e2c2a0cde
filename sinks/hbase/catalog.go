package hbase

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// values are the values of a column of the catalog's table. Those of records implement places.Rows.
type values struct {
	*store
	column client.Column
}

// One call to HBase carries at most callRecords records of the catalog, and stops at callBytes.
const (
	callRecords = 1024
	callBytes   = 4 << 20
)

// Read reads the rows with one Multi for each server and callRecords rows. A damaged region costs its own rows alone.
func (v values) Read(ctx context.Context, rows [][]byte) ([][]byte, error) {
	if err := v.fit(); err != nil {
		return nil, err
	}
	if len(rows) == 1 {
		cell, err := v.c.Get(ctx, v.catalog(), v.column, rows[0])
		if err != nil {
			return nil, contract(err)
		}
		return [][]byte{cell.Value}, nil
	}
	list, errs, failed := make([][]byte, 0, len(rows)), make(sinks.KeyErrors, 0, len(rows)), false
	for len(rows) > 0 {
		n := min(len(rows), callRecords)
		cells, bad := v.c.GetAll(ctx, v.catalog(), v.column, rows[:n])
		for i, cell := range cells {
			list, errs = append(list, cell.Value), append(errs, contract(bad[i]))
			failed = failed || bad[i] != nil
		}
		rows = rows[n:]
	}
	if failed {
		return list, errs
	}
	return list, nil
}

// Scan scans the rows.
func (v values) Scan(ctx context.Context, s sinks.Span, small bool, emit func(row, value []byte) error) error {
	var o client.ScanOptions
	if small {
		o = client.ScanOptions{FirstRows: smallRows, PageBytes: smallBytes}
	}
	return contract(v.c.Scan(ctx, v.catalog(), v.column, client.Span(s), o, func(cell client.Cell) error {
		return emit(cell.Row, cell.Value)
	}))
}

// The pages of a scan beside many others.
const (
	smallRows  = 64 // of the first page
	smallBytes = 256 << 10
)

// Delete marks the rows as deleted.
func (v values) Delete(ctx context.Context, rows [][]byte) error {
	if v.readOnly {
		return errReadOnly
	}
	cells := make([]client.Cell, len(rows))
	for i, row := range rows {
		cells[i] = client.Delete(row, v.column, client.Everlasting)
	}
	return contract(v.c.Write(ctx, v.catalog(), cells, client.SyncWAL, false))
}

// Check repeats what has no clear answer: what it reads back tells whether it was done. Records
// are sealed with a fresh nonce, and counters have an id or a number, so another writer's value is not the same.
func (v values) Check(ctx context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	if v.readOnly {
		for i := range errs {
			errs[i] = errReadOnly
		}
		return errs
	}
	var left []*swapping
	var puts []int // of the changes
	for i, ch := range changes {
		if ch.Same {
			puts = append(puts, i)
			continue
		}
		left = append(left, &swapping{at: i, Check: client.Check{Row: ch.Key, Old: ch.Old, Value: ch.New}})
	}
	v.putAll(ctx, changes, puts, errs)
	for len(left) > 0 {
		n, size := 0, 0
		for n < len(left) && n < callRecords && size < callBytes {
			size += len(left[n].Row) + len(left[n].Old) + len(left[n].Value)
			n++
		}
		for now := left[:n:n]; len(now) > 0; {
			now = v.checkSome(ctx, now, errs)
		}
		left = left[n:]
	}
	return errs
}

// putAll writes the values of changes, which say which, without a condition. It writes errs. A condition costs the server
// more than the write: a read of the row, a lock of its own, and an entry of its own in the log.
func (v values) putAll(ctx context.Context, changes []sinks.Change, which []int, errs []error) {
	for some := range slices.Chunk(which, callRecords) {
		cells := make([]client.Cell, len(some))
		for i, at := range some {
			cells[i] = client.Put(changes[at].Key, v.column, changes[at].New, client.Everlasting)
		}
		if err := v.c.Write(ctx, v.catalog(), cells, client.SyncWAL, false); err != nil {
			for _, at := range some {
				errs[at] = contract(err)
			}
		}
	}
}

// swapping is a change under way.
type swapping struct {
	client.Check
	at      int  // of the changes
	unclear bool // an attempt had no clear answer
}

// checkSome attempts changes of unlike rows. It writes errs, and returns the changes that are to be attempted again.
func (v values) checkSome(ctx context.Context, now []*swapping, errs []error) (again []*swapping) {
	checks := make([]*client.Check, len(now))
	for i, s := range now {
		checks[i] = &s.Check
	}
	v.c.CheckAndPutAll(ctx, v.catalog(), v.column, checks, false)

	var doubtful []*swapping
	for _, s := range now {
		switch {
		case s.Err == nil && s.Done:
		case s.Err == nil && !s.unclear:
			errs[s.at] = fmt.Errorf("%w: %x", sinks.ErrConflict, s.Row)
		case s.Err != nil && (!client.Unclear(s.Err) || ctx.Err() != nil):
			errs[s.at] = contract(s.Err)
		default:
			doubtful = append(doubtful, s)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	return v.settle(ctx, doubtful, errs)
}

// settle finds out about changes without a clear answer. It writes the new values once more where they are there
// already, and syncs the log: a value that a server shows may not be durable yet.
func (v values) settle(ctx context.Context, doubtful []*swapping, errs []error) (again []*swapping) {
	checks := make([]*client.Check, len(doubtful))
	for i, s := range doubtful {
		checks[i] = &client.Check{Row: s.Row, Old: s.Value, Value: s.Value}
	}
	v.c.CheckAndPutAll(ctx, v.catalog(), v.column, checks, true)
	var rows [][]byte
	var others []*swapping
	for i, s := range doubtful {
		switch k := checks[i]; {
		case k.Err == nil && k.Done:
		case k.Err == nil:
			rows, others = append(rows, s.Row), append(others, s)
		case !client.Unclear(k.Err) || ctx.Err() != nil:
			errs[s.at] = contract(k.Err)
		default:
			s.unclear = true
			again = append(again, s)
		}
	}
	if len(others) == 0 {
		return again
	}
	cells, bad := v.c.GetAll(ctx, v.catalog(), v.column, rows)
	for i, s := range others {
		switch {
		case bad[i] != nil:
			errs[s.at] = contract(bad[i])
		case client.Unsynced(s.Err): // written, and another process changed it since
			errs[s.at] = contract(s.Err)
		case !bytes.Equal(cells[i].Value, s.Old):
			errs[s.at] = fmt.Errorf("%w: %x", sinks.ErrConflict, s.Row)
		default:
			s.unclear = true
			again = append(again, s)
		}
	}
	return again
}
