package jobs

import (
	"errors"
	"fmt"
)

// Exit codes: an interface for cron and Airflow.
const (
	exitDone     = 0
	exitFailed   = 1 // could not do its work: run it again
	exitUsage    = 2 // wrong usage or configuration: running it again will not help
	exitRejected = 3 // done, and something was newly rejected
)

// exitError carries the code that an error ends the process with. A nil Err
// ends it without a word.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// usage is an error of the caller's: exit code 2.
func usage(format string, args ...any) error {
	return &exitError{Code: exitUsage, Err: fmt.Errorf(format, args...)}
}

// exitCode is what err ends the process with.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return e.Code
	}
	return exitFailed
}
