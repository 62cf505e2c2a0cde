package security

import "errors"

// ErrRefused matches errors that trying again does not cure: settings, credentials or certificates have to change.
var ErrRefused = errors.New("refused for reasons of security")

// Refused marks err, so that errors.Is finds ErrRefused in it. The text stays as it is.
func Refused(err error) error { return &refused{err} }

type refused struct{ err error }

func (r *refused) Error() string        { return r.err.Error() }
func (r *refused) Unwrap() error        { return r.err }
func (r *refused) Is(target error) bool { return target == ErrRefused }
