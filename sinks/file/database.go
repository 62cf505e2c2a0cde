package file

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/symlake/symlake/sinks"
)

// busy is how long SQLite waits for another process's transaction; ours take milliseconds.
const (
	busyMillis = "10000"
	busy       = "_pragma=busy_timeout(" + busyMillis + ")"
	// writing is what the writer's connection needs besides: what is replaced is overwritten, since wrapped keys are
	// destroyed so; -wal shrinks to the limit after a large transaction.
	writing = "mode=rw&" + busy + "&_pragma=synchronous(FULL)&_pragma=secure_delete(ON)&_pragma=journal_size_limit(16777216)"
)

// dsn is SQLite's name for a database file; options are of its URI form and of the driver's.
func dsn(path, options string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options
}

// createDatabase makes an empty catalog, or what one lacks. A new one is made under another name, synced once instead
// of at each step, and renamed. Its caller keeps others out.
func createDatabase(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return createTables(path, "PRAGMA synchronous = FULL")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	made := path + ".tmp"
	for _, left := range []string{"", "-journal", "-wal", "-shm"} { // by one that was killed
		if err := os.Remove(made + left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := createTables(made, "PRAGMA synchronous = OFF", "PRAGMA journal_mode = OFF"); err != nil {
		return err
	}
	f, err := os.OpenFile(made, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(made, path)
}

// createTables makes what the database lacks, after the settings given.
func createTables(path string, settings ...string) error {
	db, err := sql.Open("sqlite", dsn(path, busy))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range append(settings,
		"BEGIN IMMEDIATE",
		"CREATE TABLE IF NOT EXISTS catalog(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
		"CREATE TABLE IF NOT EXISTS files(prefix BLOB PRIMARY KEY, file TEXT NOT NULL) WITHOUT ROWID",
		"CREATE INDEX IF NOT EXISTS files_by_file ON files(file)",
		"COMMIT",
		"PRAGMA journal_mode = WAL", // stays with the file
	) {
		if _, err := db.Exec(q); err != nil {
			return fmt.Errorf("%s: %w", catalogName, err)
		}
	}
	return db.Close() // the last to leave, it merges a -wal and removes it
}

// database is an open catalog.db: readers in parallel, and one writer that
// does what is asked of it in groups.
type database struct {
	path string
	ro   bool

	viewMu sync.Mutex
	view   *view // guarded by viewMu, like closed
	closed bool

	turn chan struct{} // holds one token: who has it writes
	mu   sync.Mutex
	todo []*change // guarded by mu
	conn *writer   // belongs to whose turn it is
}

func openDatabase(path string, readOnly bool) (*database, error) {
	d := &database{path: path, ro: readOnly, turn: make(chan struct{}, 1)}
	v, err := d.acquire()
	if err != nil {
		return nil, err
	}
	d.release(v, false)
	return d, nil
}

var errClosed = errors.New("store is closed")

// close waits for the transaction under way; reads end on their own.
func (d *database) close() error {
	d.viewMu.Lock()
	d.closed = true
	d.replace(nil)
	d.viewMu.Unlock()
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.conn == nil {
		return nil
	}
	err := d.conn.close()
	d.conn = nil
	return err
}

// change is one step of a transaction. run gives its own outcome in verdict,
// having changed nothing then; err takes the whole transaction back.
type change struct {
	run     func(w *writer) (verdict, err error)
	verdict error
	done    chan error
}

// apply runs a change in a transaction and waits until it is durable. Changes
// that come while another transaction is written share the next one.
func (d *database) apply(ctx context.Context, run func(w *writer) (verdict, err error)) error {
	if d.ro {
		return errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{run: run, done: make(chan error, 1)}
	d.mu.Lock()
	d.todo = append(d.todo, c)
	d.mu.Unlock()
	select {
	case err := <-c.done: // another one's turn did it
		return err
	case d.turn <- struct{}{}:
	}
	d.mu.Lock()
	group := d.todo
	d.todo = nil
	d.mu.Unlock()
	if len(group) > 0 { // without c, when the turn before had taken it
		err := d.write(group)
		for _, c := range group {
			if err != nil {
				c.done <- err
			} else {
				c.done <- c.verdict
			}
		}
	}
	<-d.turn
	return <-c.done
}

// write runs a group in one transaction.
func (d *database) write(group []*change) error {
	d.viewMu.Lock()
	closed := d.closed
	d.viewMu.Unlock()
	if closed {
		return errClosed
	}
	if d.conn == nil {
		w, err := openWriter(d.path)
		if err != nil {
			return named(err)
		}
		d.conn = w
	}
	return named(d.conn.transaction(group))
}

// writer is the one connection that writes, with what it says most.
type writer struct {
	db             *sql.DB
	conn           *sql.Conn
	begin, commit  *sql.Stmt
	get, put, drop *sql.Stmt // of the table catalog

	where, enter, leave, holds *sql.Stmt // of the table files
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

// back takes a failed transaction back, and the room it took in -wal if nobody
// reads: on a full disk that may be the last there was. What failed counts, not
// these: SQLite may have done the first, and does the second some day.
func (w *writer) back() {
	for _, q := range []string{"ROLLBACK", "PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA busy_timeout = " + busyMillis} {
		_ = w.exec(q)
	}
}

// named says in whose words an error of SQLite is, and knows damage.
func named(err error) error {
	if err == nil {
		return nil
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: %w", catalogName, sinks.ErrCorrupt, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%s: another process did not end its transaction: %w", catalogName, err)
	}
	return fmt.Errorf("%s: %w", catalogName, err)
}

// code is SQLite's primary result code, 0 if err is none of its.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
