package pqfile

import (
	"errors"
	"io"
)

// errPanicked: the library for sealed files gave up where nothing was wrong with what it read or wrote to.
var errPanicked = errors.New("the Parquet library panicked")

// strict is a writer that the library for sealed files writes to. Where a write fails the library panics, passes over it, or
// says something of its own; strict keeps the first error, and writes nothing more after it. It hides all but Write, since the
// library closes what can be closed.
type strict struct {
	w   io.Writer
	err error
}

func (s *strict) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}

// settle, deferred, makes the first failed write the error of a call. It stands before the deferred call that recovers.
func (s *strict) settle(err *error) {
	if s.err != nil {
		*err = s.err
	}
}
