package file

import (
	"bytes"
	"os"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// output is one file of a batch while it is written.
type output struct {
	name string
	file *os.File
	*hfile.Writer
	loads []sinks.Prefix
}

// write appends rows of one load.
func (o *output) write(rows []sinks.Row) error {
	for _, r := range rows {
		if err := o.Append(r.Key, r.Value); err != nil {
			return err
		}
	}
	return nil
}

// small is a load that shares a file.
type small struct {
	at   sinks.Prefix
	rows []sinks.Row
}

func comparePrefix(x, y small) int { return bytes.Compare(x.at[:], y.at[:]) }
