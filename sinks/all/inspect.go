package all

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// loadRows is what a file holds of one load.
type loadRows struct {
	Artifact string `json:"artifact"`
	Load     string `json:"load"`
	Rows     int    `json:"rows"`
	Bytes    int    `json:"bytes"` // keys and sealed values
	First    string `json:"first"` // the keys after the prefix
	Last     string `json:"last"`
}

// Inspect prints the contents of a file of a store, one load a line. known is false, and
// nothing is printed, if path is not a file that a store writes.
func Inspect(ctx context.Context, path string, w io.Writer, asJSON bool) (known bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	head := make([]byte, 8)
	if n, err := f.ReadAt(head, 0); !st.Mode().IsRegular() || err != nil || !hfile.Begins(head[:n]) {
		return false, nil
	}
	r, err := hfile.Open(f, st.Size())
	if err != nil {
		return true, fmt.Errorf("%s: %w", path, err)
	}
	var loads []*loadRows
	var prefix []byte
	err = r.Scan(nil, nil, func(c hfile.Cell) error {
		if len(c.Row) < sinks.PrefixBytes {
			return fmt.Errorf("%s: row key %x is shorter than a prefix", path, c.Row)
		}
		rest := fmt.Sprintf("%x", c.Row[sinks.PrefixBytes:])
		if prefix == nil || !bytes.Equal(prefix, c.Row[:sinks.PrefixBytes]) {
			prefix = bytes.Clone(c.Row[:sinks.PrefixBytes])
			loads = append(loads, &loadRows{Artifact: fmt.Sprintf("%x", prefix[:16]), Load: fmt.Sprintf("%x", prefix[16:]), First: rest})
		}
		l := loads[len(loads)-1]
		l.Rows++
		l.Bytes += len(c.Row) + len(c.Value)
		l.Last = rest
		return ctx.Err()
	})
	for _, l := range loads {
		var perr error
		if asJSON {
			perr = json.NewEncoder(w).Encode(l)
		} else {
			_, perr = fmt.Fprintf(w, "artifact %s load %s: %d rows, %d bytes, keys %s to %s\n", l.Artifact, l.Load, l.Rows, l.Bytes, l.First, l.Last)
		}
		err = errors.Join(err, perr)
	}
	return true, err
}
