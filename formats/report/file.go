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
			f := &dialects[i].Files[k]
			switch {
			case !f.Begins(head):
			case f.Record != nil:
				return readRecords(in, f, dialects, o, emit)
			default:
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
	if err == nil && len(all) > MaxDocumentBytes && f.Long != nil {
		made, err := f.Long(all, in, o)
		if err == nil {
			err = o.full()
		}
		if err != nil {
			return nil, err
		}
		if made != nil {
			return bytes.NewReader(nil), emit(made)
		}
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

// readRecords reads in as records of f, and hands out each. It returns the rest, which is no record.
func readRecords(in *bufio.Reader, f *File, dialects []Dialect, o Options, emit func(*Report) error) (io.Reader, error) {
	for first := true; ; first = false {
		head, err := in.Peek(input.HeadBytes)
		size, ok := f.Record(head)
		if !ok || err != nil && !errors.Is(err, io.EOF) {
			return in, nil // the error is told where it is read
		}
		if size > int64(o.documentBytes()) {
			if err := passRecord(in, size, emit); err != nil {
				return nil, err
			}
			continue
		}
		record, err := io.ReadAll(io.LimitReader(in, size)) // its room grows with what there is
		parts := (*Parts)(nil)
		if int64(len(record)) == size {
			parts = f.Parts(record)
		}
		switch {
		case err != nil:
			return io.MultiReader(bytes.NewReader(record), failing{err}), nil
		case parts == nil && first:
			return io.MultiReader(bytes.NewReader(record), in), nil
		case parts == nil:
			parts = &Parts{}
		}
		if !o.Takes(2 * len(record)) {
			return nil, o.full()
		}
		if err := emit(readParts(record, parts, dialects, splitOnce, o)); err != nil {
			return nil, err
		}
		if err := o.full(); err != nil {
			return nil, err
		}
	}
}

// passRecord hands out a record that is too long as text.
func passRecord(in io.Reader, size int64, emit func(*Report) error) error {
	unread := []Unread{{Why: WhyPart}}
	for size > 0 {
		text := make([]byte, min(size, textBytes))
		n, err := io.ReadFull(in, text)
		if n == 0 {
			return nil // the error is told where the rest is read
		}
		if err := emit(&Report{Text: text[:n], Unread: unread}); err != nil {
			return err
		}
		unread = nil
		if err != nil {
			return nil
		}
		size -= int64(n)
	}
	return nil
}

// failing is a reader that ended with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
