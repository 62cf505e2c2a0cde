package report

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/symlake/symlake/formats/report/internal/input"
)

// readFile reads the file that in is, if it is one, and returns the reader to go on with: of the file's
// text, or in unchanged.
func readFile(in *bufio.Reader, dialects []Dialect, o Options, emit func(*Report) error) (io.Reader, error) {
	head, err := in.Peek(input.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) || len(head) == 0 {
		return in, nil // the error is told where it is read
	}
	for i := range dialects {
		for k := range dialects[i].Files {
			if f := &dialects[i].Files[k]; f.Begins(head) {
				return render(in, f, o, emit)
			}
		}
	}
	return in, nil
}

// render reads in as f, and hands out its report or returns its text. If in is no such file after
// all, or too long, it returns all of in.
func render(in io.Reader, f *File, o Options, emit func(*Report) error) (io.Reader, error) {
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
			made = f.Read(all, o)
			ok = made != nil
		} else {
			text, ok = f.Text(all, o)
		}
		if err := o.full(); err != nil {
			return nil, err
		}
		if made != nil {
			return bytes.NewReader(nil), emit(made)
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
