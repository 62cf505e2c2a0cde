package file

import (
	"context"
	"errors"
	"fmt"
)

// purge removes all replaced and deleted values from catalog.db and its side files. To overwrite
// deleted records is not enough: SQLite moves records between pages and leaves copies behind. So
// SQLite writes the database anew from its records, then over its old pages, and empties -wal. purge
// waits for readers of an older state as long as a transaction would.
func (s *store) purge(ctx context.Context) (beyond []string, err error) {
	beyond = []string{fmt.Sprintf("backups and snapshots of %s, and of the disk it is on", s.dir)}
	return beyond, s.db.purge(ctx)
}

var errReaders = errors.New("readers hold on to an older state of the catalog: try again")

func (d *database) purge(ctx context.Context) error {
	if d.ro {
		return errReadOnly
	}
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	if err := d.write(nil); err != nil { // opens the connection
		return err
	}
	if _, err := d.conn.exec("VACUUM"); err != nil {
		return named(err)
	}
	busy, err := d.conn.number("PRAGMA wal_checkpoint(TRUNCATE)") // the first of its three
	if err != nil {
		return named(err)
	}
	if busy != 0 {
		return fmt.Errorf("%s: %w", catalogName, errReaders)
	}
	return nil
}
