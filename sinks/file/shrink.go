package file

import (
	"context"
	"database/sql"
)

// Shrinking writes the catalog anew, without its unused pages. Meanwhile readers go on, and writers wait. So it is done where
// it pays, and where it ends long before another process's writer gives up (busyMillis).
const (
	shrinkFrom  = 1 << 20   // bytes of unused pages
	shrinkShare = 4         // unused pages are a part of the file above 1/shrinkShare
	shrinkUpTo  = 512 << 20 // bytes of used pages: about 4 s
)

// shrink gives unused pages of the catalog back to the file system, and returns their bytes. SQLite keeps pages that records
// left for later ones: many, after records became smaller.
func (d *database) shrink(ctx context.Context) (freed int64, err error) {
	d.turn <- struct{}{} // this process's own writers wait here
	defer func() { <-d.turn }()

	db, err := sql.Open("sqlite", dsn(d.path, writing))
	if err != nil {
		return 0, named(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)

	var size, all, unused int64
	for _, q := range []struct {
		query string
		to    *int64
	}{{"PRAGMA page_size", &size}, {"PRAGMA page_count", &all}, {"PRAGMA freelist_count", &unused}} {
		if err := db.QueryRowContext(ctx, q.query).Scan(q.to); err != nil {
			return 0, named(err)
		}
	}
	if unused*size < shrinkFrom || unused*shrinkShare < all || (all-unused)*size > shrinkUpTo {
		return 0, nil
	}

	// VACUUM is one transaction. What it cannot do, on a full disk for instance, leaves the catalog as it was.
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return 0, ctx.Err()
	}
	var after int64
	if err := db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&after); err != nil {
		return 0, named(err)
	}
	// The file itself shrinks when the pages are copied into it: now, or when no reader holds an older state.
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return max(all-after, 0) * size, named(err)
}
