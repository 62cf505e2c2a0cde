package query

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
)

// sources are the inputs of a command, by name; - is standard input. A pipe is opened once, however often it is looked at.
type sources struct {
	p     *session.Session
	pipes map[string]*pipe
}

// pipe is an input that can be read once.
type pipe struct {
	*bufio.Reader
	close func() error
}

func newSources(p *session.Session) *sources { return &sources{p: p, pipes: map[string]*pipe{}} }

// open opens an input from its beginning.
func (s *sources) open(name string) (io.Reader, func() error, error) {
	if known := s.pipes[name]; known != nil {
		return known, known.close, nil
	}
	if name == "-" {
		s.pipes[name] = &pipe{bufio.NewReaderSize(s.p.In, profile.HeadBytes), func() error { return nil }}
		return s.open(name)
	}
	f, closeFile, err := term.OpenInput(s.p.Ctx, name)
	if err != nil || !term.Waits(f) {
		return f, closeFile, err
	}
	s.pipes[name] = &pipe{bufio.NewReaderSize(f, profile.HeadBytes), closeFile}
	return s.open(name)
}

// regular reports whether an input can be opened again.
func (s *sources) regular(name string) bool { return s.pipes[name] == nil }

// head returns the first bytes of an input, up to profile.HeadBytes. Of a log in a pipe it does not wait for so many.
func (s *sources) head(name string) ([]byte, error) {
	r, closeInput, err := s.open(name)
	if err != nil {
		return nil, err
	}
	if in := s.pipes[name]; in != nil {
		return in.head(name)
	}
	defer closeInput()
	head := make([]byte, profile.HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return head[:n], nil
}

// head returns the first bytes of a pipe.
func (p *pipe) head(name string) ([]byte, error) {
	for want := 1; ; {
		head, err := p.Peek(want)
		if err == nil {
			head, err = p.Peek(p.Buffered())
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read %s: %w", name, err)
		case err != nil, len(head) == profile.HeadBytes, isLog(head):
			return head, nil
		}
		want = len(head) + 1
	}
}

// isLog reports whether text begins as a log does: its writer may pause after each line.
func isLog(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	return whole && len(bytes.TrimSpace(line)) > 0 && line[0] != '{' && line[0] != '[' && !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != '\x1b' || r == 0xfffd })
}
