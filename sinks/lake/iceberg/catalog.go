package iceberg

import (
	"context"
	"errors"
)

// catalog says which metadata a table has at present.
type catalog interface {
	// load returns a table as it stands; nil: there is none.
	load(ctx context.Context, table string) (*standing, error)
	// create makes a table without a snapshot. errChanged: another writer was faster.
	create(ctx context.Context, s *shape, m *metadata) error
	// commit replaces base. errChanged: the table is no longer base. errUnclear: it may have been done.
	commit(ctx context.Context, table string, base *standing, c *change) error
	// name is what people call it.
	name() string
	// moves reports whether a table at another place is this lake's all the same.
	moves() bool
}

// standing is a table at a moment.
type standing struct {
	*metadata
	version uint64 // of the file system
	hint    string // content of version-hint.text
}

var (
	errChanged = errors.New("the table changed meanwhile")
	errUnclear = errors.New("the catalog did not say whether it committed")
)

// ErrForeign says that another writer has changed a table: it stays as it is.
var ErrForeign = errors.New("another writer has changed the table")

// ErrCatalog says that the catalog refused, or could not be reached.
var ErrCatalog = errors.New("the catalog refused")
