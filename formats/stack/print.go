package stack

import (
	"io"

	"github.com/symlake/symlake/formats/symbol"
)

// Print writes s with its answers, [thread][frame].
func Print(w io.Writer, s *Stack, answers [][]symbol.Answer) error {
	_, err := w.Write(s.Text)
	return err
}
