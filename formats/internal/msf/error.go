package msf

import (
	"errors"
	"io"

	"github.com/symlake/symlake/formats"
)

func (f *File) corrupt(section string, off int64, want string) error {
	return &formats.Error{Format: f.format, Section: section, Offset: off, Want: want, Err: formats.ErrCorrupt}
}

// readError returns the error of a read. A file that ends early is corrupt.
func (f *File) readError(section string, off int64, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.corrupt(section, off, "a block inside the file")
	}
	return err
}
