// Package exit gives errors the exit code that the process ends with. The codes are an interface for cron and Airflow.
package exit

import (
	"errors"
	"fmt"
)

// Exit codes: an interface for cron and Airflow.
const (
	Done       = 0
	Failed     = 1 // could not do its work: run it again
	WrongUsage = 2 // wrong usage or configuration: running it again will not help
	Rejected   = 3 // done, and something was newly rejected
)

// Error carries the code that an error ends the process with. A nil Err
// ends it without a word.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Usage is an error of the caller's: exit code 2.
func Usage(format string, args ...any) error {
	return &Error{Code: WrongUsage, Err: fmt.Errorf(format, args...)}
}

// Code is what err ends the process with.
func Code(err error) int {
	var e *Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &e):
		return e.Code
	}
	return Failed
}
