package file

import (
	"bytes"
	"context"
	"fmt"

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

func (c catalog) Swap(ctx context.Context, key, old, new []byte) error {
	err := c.db.apply(ctx, func(w *writer) (verdict, err error) {
		is, err := one(w.get, blob(key))
		switch {
		case err != nil:
			return nil, err
		case (is == nil) != (old == nil) || !bytes.Equal(is, old):
			return sinks.ErrConflict, nil
		case new != nil:
			_, err = w.put.Exec(blob(key), blob(new))
		case is != nil:
			_, err = w.drop.Exec(blob(key))
		}
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("swap %x: %w", key, err)
	}
	return nil
}

// List reads in one statement, which sees one state and holds up no writer.
func (c catalog) List(ctx context.Context, s sinks.Span, emit func(sinks.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, err := c.db.acquire()
	if err != nil {
		return fmt.Errorf("list %x: %w", s.From, err)
	}
	emitted, err := listView(ctx, v, s, emit)
	c.db.release(v, false)
	if err != nil && !emitted {
		return fmt.Errorf("list %x: %w", s.From, named(err))
	}
	return err
}

// listView gives emit's error as it is, then with emitted set.
func listView(ctx context.Context, v *view, s sinks.Span, emit func(sinks.Row) error) (emitted bool, err error) {
	query, args := "SELECT key, value FROM catalog WHERE key >= ?", []any{blob(s.From)}
	if s.Stop != nil {
		query, args = query+" AND key < ?", append(args, blob(s.Stop))
	}
	rows, err := v.db.Query(query+" ORDER BY key", args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var r sinks.Row
		if err := rows.Scan(&r.Key, &r.Value); err != nil {
			return false, err
		}
		if !v.unmoved() { // what came may be of two states
			return false, errMoved
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := emit(sinks.Row{Key: blob(r.Key), Value: blob(r.Value)}); err != nil {
			return true, err
		}
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if !v.unmoved() {
		return false, errMoved
	}
	return false, nil
}

// blob is b, never nil: SQLite has a NULL, which equals nothing.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
