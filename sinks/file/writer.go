package file

import (
	"context"
	"database/sql"
	"errors"
)

// change is one step of a transaction. run gives its own outcome in verdict,
// having changed nothing then; err takes the whole transaction back.
type change struct {
	run     func(w *writer) (verdict, err error)
	verdict error
	done    chan error
}

// writer is the one connection that writes, with what it says most.
type writer struct {
	db             *sql.DB
	conn           *sql.Conn
	begin, commit  *sql.Stmt
	get, put, drop *sql.Stmt // of the table catalog

	where, enter, leave, holds *sql.Stmt // of the table files
}

func (w *writer) close() error {
	var err error
	for _, s := range []*sql.Stmt{w.begin, w.commit, w.get, w.put, w.drop, w.where, w.enter, w.leave, w.holds} {
		if s != nil { // an open one would keep SQLite's connection, and with it the -wal, until the process ends
			err = errors.Join(err, s.Close())
		}
	}
	if w.conn != nil {
		err = errors.Join(err, w.conn.Close())
	}
	if w.db != nil {
		err = errors.Join(err, w.db.Close())
	}
	return err
}

func (w *writer) exec(query string) error {
	_, err := w.conn.ExecContext(context.Background(), query)
	return err
}

func (w *writer) transaction(group []*change) error {
	if _, err := w.begin.Exec(); err != nil {
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
	if _, err := w.commit.Exec(); err != nil {
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
		_ = w.exec(q)
	}
}

func openWriter(path string) (_ *writer, err error) {
	w := new(writer)
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.db, err = sql.Open("sqlite", dsn(path, writing)); err != nil {
		return nil, err
	}
	ctx := context.Background()
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.get, getQuery},
		{&w.put, "INSERT INTO catalog(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"},
		{&w.drop, "DELETE FROM catalog WHERE key = ?"},
		{&w.where, whereQuery},
		{&w.enter, "INSERT INTO files(prefix, file) VALUES(?, ?) ON CONFLICT(prefix) DO UPDATE SET file = excluded.file"},
		{&w.leave, "DELETE FROM files WHERE prefix = ?"},
		{&w.holds, holdsQuery},
	} {
		if *s.to, err = w.conn.PrepareContext(ctx, s.query); err != nil {
			return nil, err
		}
	}
	return w, nil
}
