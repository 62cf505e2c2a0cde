package mapfile

import "github.com/symlake/symlake/formats"

// Name is the format's name in errors.
const Name = "sourcemap"

// Fault returns the error of a map that breaks its specification at off.
func Fault(section string, off int64, want string) error {
	return &formats.Error{Format: Name, Section: section, Offset: off, Want: want, Err: formats.ErrCorrupt}
}

// TooMuch returns the error of a map that exceeds a limit at off.
func TooMuch(section string, off int64, want string) error {
	return &formats.Error{Format: Name, Section: section, Offset: off, Want: want, Err: formats.ErrLimit}
}
