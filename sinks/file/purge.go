package file

import (
	"context"
	"errors"
	"fmt"
)

// purge leaves nothing in catalog.db and beside it but the records as they are. Overwriting what is deleted is not
// enough: SQLite moves records between pages and leaves copies behind. So the
// database is written anew from its records, then over its old pages, and -wal is emptied. Readers
// that hold on to an older state are waited for, as long as a transaction would be.
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
	if err := d.conn.exec("VACUUM"); err != nil {
		return named(err)
	}
	var busy, pages, done int
	err := d.conn.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done)
	if err != nil {
		return named(err)
	}
	if busy != 0 {
		return fmt.Errorf("%s: %w", catalogName, errReaders)
	}
	return nil
}
