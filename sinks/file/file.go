package file

import (
	"errors"

	"github.com/symlake/symlake/sinks"
)

// ErrLocked: another process holds the store's ingest lock.
var ErrLocked = errors.New("store is locked by another process")

// Options are for Open; zero values are for a reader and writer.
type Options struct {
	ReadOnly bool // needs no write permission anywhere and creates nothing
}

// Create makes what is missing of a store in dir; a whole store stays as it is.
func Create(dir string) error { return errors.ErrUnsupported }

// Open opens the store in dir: sinks.ErrMissing when there is none.
func Open(dir string, o Options) (*sinks.Store, error) { return nil, errors.ErrUnsupported }

// Lock takes the store's one ingest lock, or ErrLocked at once. It goes with its process.
func Lock(dir string) (unlock func(), err error) { return nil, errors.ErrUnsupported }
