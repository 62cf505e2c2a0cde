package file

import (
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/symlake/symlake/sinks"
)

// busy is how long SQLite waits for another process's transaction; ours take milliseconds.
const (
	busyMillis = "10000"
	busy       = "_pragma=busy_timeout(" + busyMillis + ")"
	// writing holds the writer's own settings. SQLite overwrites replaced values, which destroys wrapped
	// keys; -wal shrinks to the limit after a large transaction.
	writing = "mode=rw&" + busy + "&_pragma=synchronous(FULL)&_pragma=secure_delete(ON)&_pragma=journal_size_limit(16777216)" +
		"&_pragma=cache_size(-32768)&_pragma=wal_autocheckpoint(4096)"
)

// dsn is SQLite's name for a database file; options are of its URI form and of the driver's.
func dsn(path, options string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + options
}

var errClosed = errors.New("store is closed")

// named adds the catalog's name to an error of SQLite, and marks damage as sinks.ErrCorrupt.
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

const (
	getQuery   = "SELECT value FROM catalog WHERE key = ?"
	whereQuery = "SELECT file FROM files WHERE prefix = ?"
	holdsQuery = "SELECT EXISTS(SELECT 1 FROM files WHERE file = ?)"
)

// wholeCounter is a counter that is 1 if the others hold all records.
const wholeCounter = "whole"
