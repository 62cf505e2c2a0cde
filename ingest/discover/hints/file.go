package hints

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symlake/symlake/ingest/discover"
)

// File is messages in a file, one a line: what a webhook, Kafka or NATS consumer wrote. They are taken once a run; whoever
// writes the file clears it.
type File struct {
	path string
	in   *bufio.Reader // nil: not open
	f    *os.File
}

var _ discover.Hints = (*File)(nil)

// OpenFile takes the path of a file of messages.
func OpenFile(path string) *File { return &File{path: path} }

// Take implements ingest.Hints.
func (h *File) Take(context.Context) ([]discover.Hint, error) {
	if h.in == nil {
		f, err := os.Open(h.path)
		if err != nil {
			return nil, fmt.Errorf("open hints: %w", err)
		}
		h.f, h.in = f, bufio.NewReaderSize(f, maxEventBytes)
	}
	var hints []discover.Hint
	for len(hints) < takeMessages {
		line, err := h.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // no message is so long
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = h.in.ReadSlice('\n')
			}
			line = nil
		}
		if u := URLs(line); len(u) > 0 {
			hints = append(hints, discover.Hint{URLs: u})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read hints %s: %w", h.path, err)
		}
	}
	if len(hints) == 0 {
		return nil, h.f.Close()
	}
	return hints, nil
}

// Done implements ingest.Hints.
func (h *File) Done(context.Context, []discover.Hint) error { return nil }
