package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// fileBytes of an input tell whether it is a file that is no text.
const fileBytes = 64

// file reads the file that in is, if it is one, and returns the reader to go on with: of the file's
// text, or in unchanged.
func (s *splitter) file(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(fileBytes)
	if err != nil && !errors.Is(err, io.EOF) || len(head) == 0 {
		return in, nil // the error is told where it is read
	}
	for i := range s.dialects {
		for k := range s.dialects[i].Files {
			if f := &s.dialects[i].Files[k]; f.Begins(head) {
				return s.render(f, in)
			}
		}
	}
	return in, nil
}

// render reads in as f, and hands out its report or returns its text. If in is no such file after
// all, or too long, it returns all of in.
func (s *splitter) render(f *File, in io.Reader) (io.Reader, error) {
	all, err := io.ReadAll(io.LimitReader(in, MaxDocumentBytes+1))
	rest := in
	if err != nil {
		rest = failing{err}
	}
	if err == nil && len(all) <= MaxDocumentBytes {
		var text []byte
		var made *Report
		ok := false
		if f.Read != nil {
			made = f.Read(all, s.options)
			ok = made != nil
		} else {
			text, ok = f.Text(all, s.options)
		}
		if err := s.options.full(); err != nil {
			return nil, err
		}
		if made != nil {
			return bytes.NewReader(nil), s.emit(made)
		}
		if ok {
			return bytes.NewReader(text), nil
		}
	}
	return io.MultiReader(bytes.NewReader(all), rest), nil
}

// failing is a reader that ended with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
