package file

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
