package tables

import (
	"io"

	"github.com/symlake/symlake/sinks/internal/answers"
)

// output is a file being written.
type output struct {
	io.Writer
	n        int64
	rows     uint64
	frames   uint64
	statuses map[string]uint64
	again    uint64
}

func (w *output) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += int64(n)
	return n, err
}

// count notes rows of a status.
func (w *output) count(status string, rows uint64, again bool) {
	w.statuses[status] += rows
	w.rows += rows
	if again {
		w.again += rows
	}
}

// note counts a row that was written.
func (w *output) note(x *answers.Answer, texts []string) {
	status := texts[x.Status]
	w.count(status, 1, !isFinal(status))
	if n := len(x.Lines); n > 0 {
		w.frames += uint64(x.Lines[n-1].Frame) + 1
	}
}
