package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// nameDigits: 8 random bytes of the batch and a count of 8, in hex, as HBase wants an HFile called.
const nameDigits = 32

// output is one file of a batch while it is written.
type output struct {
	name string
	file *os.File
	*hfile.Writer
	loads []sinks.Prefix
}

// create opens the next file of the batch. The first one is kept open and
// locked until the batch is over: by that Tidy knows that it lives.
func (b *batch) create() (*output, error) {
	name := fmt.Sprintf("%s%016x", b.id, len(b.names))
	path := b.temporary(name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return nil, err
	}
	b.names = append(b.names, name)
	b.open = f
	if b.alive == nil {
		b.alive = f
		if _, err := flock(f, true); err != nil { // at most Tidy has it, for a moment
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return &output{name: name, file: f, Writer: hfile.NewWriter(f, hfile.Options{Created: b.now()})}, nil
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

// finish completes and syncs a file, and enters its loads in what the batch will commit.
func (b *batch) finish(o *output) error {
	if err := errors.Join(o.Close(), o.file.Sync()); err != nil {
		return err
	}
	if b.open = nil; o.file != b.alive {
		if err := o.file.Close(); err != nil {
			return err
		}
	}
	for _, at := range o.loads {
		b.done = append(b.done, loadOf{at, o.name})
	}
	return nil
}

// temporary is where a file stands until its batch is committed.
func (s *store) temporary(name string) string {
	return filepath.Join(s.dir, blocksName, name[:2], name+".tmp")
}

// small is a load that shares a file.
type small struct {
	at   sinks.Prefix
	rows []sinks.Row
}

func comparePrefix(x, y small) int { return bytes.Compare(x.at[:], y.at[:]) }
