package file

import (
	"bytes"
	"context"
	"fmt"
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
	err = c.db.read(func(v *view) error {
		value, err = one(v.get, blob(key))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get %x: %w", key, err)
	}
	return value, nil
}

// GetAll reads the records one after the other, on one connection.
func (c catalog) GetAll(ctx context.Context, keys [][]byte) (values [][]byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = c.db.read(func(v *view) error {
		values = make([][]byte, len(keys))
		for i, key := range keys {
			if values[i], err = one(v.get, blob(key)); err != nil {
				return fmt.Errorf("get %x: %w", key, err)
			}
		}
		return nil
	})
	return values, err
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
		for i, ch := range changes {
			if errs[i], err = w.swap(ch); err != nil {
				return nil, err
			}
		}
		return nil, nil
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

// swap carries out one change in the transaction under way. conflict is nil or sinks.ErrConflict.
func (w *writer) swap(ch sinks.Change) (conflict, err error) {
	is, err := one(w.get, blob(ch.Key))
	switch {
	case err != nil:
		return nil, err
	case (is == nil) != (ch.Old == nil) || !bytes.Equal(is, ch.Old):
		return sinks.ErrConflict, nil
	case ch.New != nil:
		_, err = w.put.Exec(blob(ch.Key), blob(ch.New))
	case is != nil:
		_, err = w.drop.Exec(blob(ch.Key))
	}
	return nil, err
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
	query, args := "SELECT key, value FROM catalog WHERE key >= ?", []any{blob(s.From)}
	if s.Stop != nil {
		query, args = query+" AND key < ?", append(args, blob(s.Stop))
	}
	rows, err := v.db.Query(query+" ORDER BY key", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
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
	for rows.Next() {
		var r sinks.Row
		if err := rows.Scan(&r.Key, &r.Value); err != nil {
			return err
		}
		held = append(held, sinks.Row{Key: blob(r.Key), Value: blob(r.Value)})
		bytes += len(r.Key) + len(r.Value)
		if streams = streams || len(held) == heldRows || bytes >= heldBytes; streams {
			if err := give(); err != nil {
				return err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return give()
}

// blob is b, never nil: SQLite has a NULL, which equals nothing.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
