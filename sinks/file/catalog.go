package file

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
)

// catalog is the table of that name.
type catalog struct{ db *database }

func (c catalog) Get(ctx context.Context, key []byte) (value []byte, err error) {
	// The context stays here: SQLite would need a goroutine to watch it, for a read of some 20 µs.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = c.db.read(func(c *conn) error {
		value, err = c.one(getQuery, key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get %x: %w", key, err)
	}
	return value, nil
}

// manyKeys are the keys of one statement that gets many records. Fewer keys than fewKeys are asked for one by one.
const manyKeys, fewKeys = 64, 8

// getManyQuery gets manyKeys records in the order of their keys. A key may stand there twice.
var getManyQuery = "SELECT key, value FROM catalog WHERE key IN (?" + strings.Repeat(", ?", manyKeys-1) + ") ORDER BY key"

// GetAll reads the records on one connection, many in a statement.
func (c catalog) GetAll(ctx context.Context, keys [][]byte) (values [][]byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sorted := make([]int, len(keys)) // indices of keys, in the order of keys
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	err = c.db.read(func(c *conn) error {
		values = make([][]byte, len(keys))
		for part := range slices.Chunk(sorted, manyKeys) {
			if err := c.getPart(keys, part, values); err != nil {
				return err
			}
		}
		return nil
	})
	return values, err
}

// getPart reads the values of the keys at sorted, at most manyKeys of them.
func (c *conn) getPart(keys [][]byte, sorted []int, values [][]byte) (err error) {
	if len(sorted) < fewKeys {
		for _, i := range sorted {
			if values[i], err = c.one(getQuery, keys[i]); err != nil {
				return fmt.Errorf("get %x: %w", keys[i], err)
			}
		}
		return nil
	}
	args := make([]any, manyKeys)
	for i := range args {
		args[i] = keys[sorted[min(i, len(sorted)-1)]]
	}
	next := 0
	err = c.each(getManyQuery, args, func(row []driver.Value) error {
		key, value := bytesOf(row[0]), bytesOf(row[1])
		for next < len(sorted) && bytes.Compare(keys[sorted[next]], key) < 0 {
			next++
		}
		for next < len(sorted) && bytes.Equal(keys[sorted[next]], key) {
			values[sorted[next]] = value
			next++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("get %d records from %x on: %w", len(sorted), keys[sorted[0]], err)
	}
	return nil
}

func (c catalog) Swap(ctx context.Context, key, old, new []byte) error {
	return c.SwapAll(ctx, []sinks.Change{{Key: key, Old: old, New: new}})[0]
}

// SwapAll makes one transaction of the changes, with one sync.
func (c catalog) SwapAll(ctx context.Context, changes []sinks.Change) []error {
	errs := make([]error, len(changes))
	if len(changes) == 0 {
		return errs
	}
	err := c.db.apply(ctx, func(w *writer) (verdict, err error) {
		var sums tally
		for i, ch := range changes {
			if errs[i], err = w.swap(ch); err != nil {
				return nil, err
			}
			if errs[i] == nil {
				sums.add(ch.Counts)
			}
		}
		return nil, w.count(&sums)
	})
	for i, ch := range changes {
		if err != nil { // the transaction was taken back
			errs[i] = err
		}
		if errs[i] != nil {
			errs[i] = fmt.Errorf("swap %x: %w", ch.Key, errs[i])
		}
	}
	return errs
}

// swap carries out one change in the transaction under way, mostly in one statement. conflict is nil or sinks.ErrConflict.
func (w *writer) swap(ch sinks.Change) (conflict, err error) {
	var n int64
	switch {
	case ch.Old == nil && ch.New == nil:
		is, err := w.one(getQuery, ch.Key)
		if err != nil || is == nil {
			return nil, err
		}
	case ch.Old == nil:
		n, err = w.exec("INSERT INTO catalog(key, value) VALUES(?, ?) ON CONFLICT(key) DO NOTHING", ch.Key, ch.New)
	case ch.New == nil:
		n, err = w.exec("DELETE FROM catalog WHERE key = ? AND value = ?", ch.Key, ch.Old)
	default:
		n, err = w.exec("UPDATE catalog SET value = ? WHERE key = ? AND value = ?", ch.New, ch.Key, ch.Old)
	}
	if err == nil && n == 0 {
		conflict = sinks.ErrConflict
	}
	return conflict, err
}

// A list holds back its first heldRows records, at most heldBytes, until they are certain to show one
// state of the catalog. If a writer comes before, the list reads them again.
const heldRows, heldBytes = 64, 1 << 20

// List reads in one statement, which sees one state and holds up no writer.
func (c catalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	for tries := 0; ; tries++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, err := c.db.acquire()
		if err != nil {
			return fmt.Errorf("list %x: %w", s.From, err)
		}
		var theirs error // emit's, which goes out as it is
		emitted := false
		err = listView(ctx, v, s, func(r sinks.Row) error {
			emitted = true
			theirs = emit(r)
			return theirs
		})
		again := err != nil && !emitted && c.db.ro && passing(err) && tries < maxTries
		c.db.release(v, again)
		switch {
		case theirs != nil:
			return theirs
		case err == nil:
			return nil
		case !again:
			return fmt.Errorf("list %x: %w", s.From, named(err))
		}
		time.Sleep(time.Duration(tries) * time.Millisecond)
	}
}

func listView(ctx context.Context, v *view, s sinks.Span, emit func(sinks.Row) error) error {
	query, args := "SELECT key, value FROM catalog WHERE key >= ?", []any{s.From}
	if s.Stop != nil {
		query, args = query+" AND key < ?", append(args, s.Stop)
	}
	var held []sinks.Row
	bytes := 0
	give := func() error {
		if !v.unmoved() { // what came may be of two states
			return errMoved
		}
		for _, r := range held {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(r); err != nil {
				return err
			}
		}
		held = held[:0]
		return nil
	}
	streams := v.still == nil // SQLite sees to the one state
	err := v.use(func(c *conn) error {
		return c.each(query+" ORDER BY key", args, func(values []driver.Value) error {
			r := sinks.Row{Key: bytesOf(values[0]), Value: bytesOf(values[1])}
			held = append(held, r)
			bytes += len(r.Key) + len(r.Value)
			if streams = streams || len(held) == heldRows || bytes >= heldBytes; streams {
				return give()
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return give()
}

// Counts implements sinks.Counter. It reads one state of the counters.
func (c catalog) Counts(ctx context.Context) (counts map[string]int64, whole bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	err = c.db.read(func(c *conn) error {
		counts, whole = map[string]int64{sinks.CountStored: 0}, false
		has, err := c.isCounted()
		if err != nil || !has {
			return err
		}
		return c.each("SELECT name, n FROM counters", nil, func(values []driver.Value) error {
			name := string(bytesOf(values[0]))
			n, _ := values[1].(int64)
			if name == wholeCounter {
				whole = n == 1
			} else if n != 0 {
				counts[name] = n
			}
			return nil
		})
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the counters: %w", err)
	}
	return counts, whole, nil
}
