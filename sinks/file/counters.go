package file

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// wholeCounter is a counter that is 1 if the others hold all records.
const wholeCounter = "whole"

// isCounted reports whether the database has counters that are whole. Databases of earlier versions have none.
func (c *conn) isCounted() (bool, error) {
	n, err := c.number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'counters'")
	if err != nil || n == 0 {
		return false, err
	}
	n, err = c.number("SELECT n FROM counters WHERE name = '" + wholeCounter + "'")
	return n == 1, err
}

// tally sums up the counts of a transaction: its changes mostly change the same few counters.
type tally struct {
	sums, most map[string]int64
}

func (t *tally) add(list []sinks.Count) {
	if t.sums == nil {
		t.sums, t.most = make(map[string]int64), make(map[string]int64)
	}
	for _, c := range list {
		if c.Most {
			t.most[c.Name] = max(t.most[c.Name], c.By)
		} else {
			t.sums[c.Name] += c.By
		}
	}
}

// count changes the counters in the transaction under way.
func (w *writer) count(t *tally) error {
	if !w.counts {
		return nil
	}
	for name, by := range t.sums {
		if by == 0 {
			continue
		}
		is, err := w.number("SELECT n FROM counters WHERE name = ?", name) // SQLite's own sums do not run over
		switch is += by; {
		case err != nil:
		case is == 0:
			_, err = w.exec("DELETE FROM counters WHERE name = ?", name)
		default:
			_, err = w.exec("REPLACE INTO counters(name, n) VALUES(?, ?)", name, is)
		}
		if err != nil {
			return err
		}
	}
	for name, n := range t.most {
		if _, err := w.exec("INSERT INTO counters(name, n) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET n = max(n, excluded.n)", name, n); err != nil {
			return err
		}
	}
	return nil
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
