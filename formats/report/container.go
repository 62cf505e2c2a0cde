package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// container is a kind of report that is no text. It is read as a whole, and
// becomes text before anything else sees it: what Split hands out of it is
// that text, not the bytes.
type container struct {
	begins func(head []byte) bool
	// text renders a container as lines that Split knows; false: it is none after all, or there is no room for it.
	text func(b []byte, o Options) ([]byte, bool)
	// stack makes a stack of it, in place of text.
	stack func(b []byte, o Options) *Report
}

// containerBytes of an input tell what it is.
const containerBytes = 64

var containers = [...]container{
	{begins: tombstoneBegins, text: tombstoneText},
	{begins: minidumpBegins, stack: readMinidump},
}

// contained reads the container that in is, if it is one, and gives what is to
// be read in its place: its text, or in as it was.
func (s *splitter) contained(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(containerBytes)
	if err != nil && !errors.Is(err, io.EOF) || len(head) == 0 {
		return in, nil // told where it is read
	}
	for i := range containers {
		c := &containers[i]
		if !c.begins(head) {
			continue
		}
		all, err := io.ReadAll(io.LimitReader(in, MaxDocumentBytes+1))
		var rest io.Reader = in
		if err != nil {
			rest = failing{err}
		}
		if err == nil && len(all) <= MaxDocumentBytes {
			if c.stack != nil {
				made := c.stack(all, s.options)
				if err := s.options.full(); err != nil {
					return nil, err
				}
				if made != nil {
					return bytes.NewReader(nil), s.emit(made)
				}
			} else {
				text, ok := c.text(all, s.options)
				if err := s.options.full(); err != nil {
					return nil, err
				}
				if ok {
					return bytes.NewReader(text), nil
				}
			}
		}
		return io.MultiReader(bytes.NewReader(all), rest), nil
	}
	return in, nil
}

// failing is a reader that ended with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
