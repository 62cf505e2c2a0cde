// Package term talks to the person at the terminal, or to the log that takes their place: input that a signal ends,
// questions, progress, lines of tables.
package term

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal, where a person watches or types.
func isTerminal(stream any) bool {
	if i, ok := stream.(*input); ok {
		stream = i.from
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
