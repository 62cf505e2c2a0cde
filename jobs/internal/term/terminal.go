// Package term talks to the person at the terminal, or to the log that takes their place: input that a signal ends,
// questions, tables, color, logs, and progress.
//
// What a person sees is decided by a [View]. A pipe, a file and cron's null device get plain lines for scripts, which
// no version changes.
package term

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// wrapper is a stream around another one.
type wrapper interface{ inner() any }

// terminalOf returns the terminal that a stream leads to; nil: it is none.
func terminalOf(stream any) *os.File {
	for {
		w, ok := stream.(wrapper)
		if !ok {
			break
		}
		stream = w.inner()
	}
	if f, ok := stream.(*os.File); ok && f != nil && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// isTerminal reports whether a stream is a terminal, where a person watches or types.
func isTerminal(stream any) bool { return terminalOf(stream) != nil }

// defaultWidth is the columns of a terminal that does not tell.
const defaultWidth = 80

// widthOf returns the columns of a terminal.
func widthOf(f *os.File) int {
	if f != nil {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return defaultWidth
}
