package file

import "github.com/symlake/symlake/sinks"

// change is one step of a transaction. run gives its own outcome in verdict,
// having changed nothing then; err takes the whole transaction back.
type change struct {
	run     func(w *writer) (verdict, err error)
	verdict error
	done    chan error
}

// writer is the one connection that writes.
type writer struct {
	*conn
	counts bool // the database has counters, and they are whole
}

func (w *writer) transaction(group []*change) error {
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, c := range group {
		verdict, err := c.run(w)
		if err != nil {
			w.back()
			return err
		}
		c.verdict = verdict
	}
	if _, err := w.exec("COMMIT"); err != nil {
		w.back()
		return err
	}
	return nil
}

// back takes a failed transaction back. If no reader is active it also frees the room in -wal, which
// may be the last room of a full disk. Errors here do not count beside the failure: SQLite may have
// rolled back by itself, and empties -wal some day.
func (w *writer) back() {
	for _, q := range []string{"ROLLBACK", "PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA busy_timeout = " + busyMillis} {
		_, _ = w.exec(q)
	}
}

func openWriter(path string) (*writer, error) {
	c, err := connect(dsn(path, writing))
	if err != nil {
		return nil, err
	}
	w := &writer{conn: c}
	if w.counts, err = c.isCounted(); err != nil {
		c.close()
		return nil, err
	}
	return w, nil
}

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
