// Package failure tells errors of an object from errors of the environment.
package failure

import (
	"errors"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/hostfile"
)

var (
	// ErrTime says that an object took longer than its budget.
	ErrTime = errors.New("limits.time")
	// ErrDeadline says that the run's time was over.
	ErrDeadline = errors.New("the run's deadline has passed")
)

// environmental is an error of the store, the lake or the disk.
type environmental struct{ error }

func (e environmental) Unwrap() error { return e.error }

// Environment marks an error of the store, the lake or the disk: no object is to blame. nil stays nil.
func Environment(err error) error {
	if err == nil {
		return nil
	}
	return environmental{err}
}

// IsObjects reports whether a failure may be the object's own: its bytes cannot be had.
func IsObjects(err error) bool {
	var env environmental
	switch {
	case errors.As(err, &env), errors.Is(err, bucket.ErrChanged):
		return false
	}
	return !hostfile.Full(err)
}
