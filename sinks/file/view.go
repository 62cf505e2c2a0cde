package file

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// view is a way to read the database. SQLite's own way for readers that may
// not write needs its side files (-wal, -shm), which are there only while a
// writer is, or after one died. Without changes in them the database is whole
// in its one file, and is opened as immutable: then SQLite takes no lock and
// would not notice a writer, so every answer is checked against the file's state.
type view struct {
	db         *sql.DB
	get, where *sql.Stmt
	path       string
	still      os.FileInfo // immutable: the file as it was when it was opened; else nil
	refs       int         // guarded by database.viewMu, like old
	old        bool        // replaced: the last to release it closes it
}

// errMoved: a writer came while an immutable view was read.
var errMoved = errors.New("the catalog was changed while it was read: run it again")

// errNoIndex says that a writer died and its -shm is gone; a reader cannot make one. A writer that
// closes removes -shm just before -wal, so the error may pass.
var errNoIndex = errors.New("holds changes but its -shm is missing: open the store once for writing")

func openView(path string, readOnly bool) (*view, error) {
	v := &view{path: path}
	options := "mode=rw&" + busy
	if readOnly {
		info, err := settled(path)
		if err != nil {
			return nil, err
		}
		switch {
		case !pending(path):
			options = "mode=ro&immutable=1"
			v.still = info
		case size(path+"-shm") < 0:
			return nil, fmt.Errorf("%s-wal %w", path, errNoIndex)
		default:
			options = "mode=ro&readonly_shm=1&" + busy
		}
	}
	var err error
	if v.db, err = sql.Open("sqlite", dsn(path, options)); err != nil {
		return nil, err
	}
	v.db.SetMaxIdleConns(4)
	if v.get, err = v.db.Prepare(getQuery); err == nil {
		v.where, err = v.db.Prepare(whereQuery)
	}
	if err != nil {
		moved := !v.unmoved()
		v.close()
		if moved {
			err = errMoved
		}
		return nil, err
	}
	return v, nil
}

func (v *view) close() {
	for _, s := range []*sql.Stmt{v.get, v.where} {
		if s != nil {
			s.Close() // only read with, like db
		}
	}
	v.db.Close()
}

// size of a file, -1 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// settled returns the state of a file once its time of change tells that state from every later one.
// Clocks of file systems tick up to every 10 ms, so settled looks at a file that just changed again
// after its tick.
func settled(path string) (os.FileInfo, error) {
	const ticks = 20 * time.Millisecond
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	age := time.Since(info.ModTime())
	if age > ticks {
		return info, nil
	}
	time.Sleep(min(ticks, ticks-age))
	return os.Stat(path)
}

// pending reports whether changes may stand beside the database's one file. A -wal is 32 bytes of
// header, then changes. A writer that was killed may leave the header alone; SQLite cannot read such
// a -wal without writing, and tries for 10 s.
func pending(path string) bool { return size(path+"-wal") > 32 }

// fresh tells whether what v shows is the newest: a writer that came since puts its changes in -wal first.
func (v *view) fresh() bool { return v.still == nil || v.unmoved() && !pending(v.path) }

// unmoved tells whether what v just read was of one state of the file.
func (v *view) unmoved() bool {
	if v.still == nil {
		return true
	}
	info, err := os.Stat(v.path)
	return err == nil && os.SameFile(info, v.still) && info.Size() == v.still.Size() && info.ModTime().Equal(v.still.ModTime())
}

// passing tells the errors of a read-only view that a new view cures.
func passing(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY:
		return true
	}
	return errors.Is(err, errMoved) || errors.Is(err, errNoIndex)
}

// one gives the only column of the one row a statement finds; nil if none.
func one(s *sql.Stmt, arg []byte) ([]byte, error) {
	var b []byte
	switch err := s.QueryRow(arg).Scan(&b); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case b == nil:
		return []byte{}, nil
	}
	return b, nil
}
