package file

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
	for _, left := range []string{"", "-journal", "-wal", "-shm"} { // by a process that was killed
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
		"CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID",
		// Counters that began after the first record mean nothing.
		"INSERT INTO counters SELECT '"+wholeCounter+"', 1 WHERE NOT EXISTS(SELECT 1 FROM catalog) ON CONFLICT DO NOTHING",
		"COMMIT",
		"PRAGMA journal_mode = WAL", // stays with the file
	) {
		if _, err := db.Exec(q); err != nil {
			return fmt.Errorf("%s: %w", catalogName, err)
		}
	}
	return db.Close() // the last to leave, it merges a -wal and removes it
}
