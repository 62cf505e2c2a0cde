package sourcemap

import "github.com/symlake/symlake/formats"

// name is the format's name in errors.
const name = "sourcemap"

// fault returns the error of a map that breaks its specification at off.
func fault(section string, off int64, want string) error {
	return &formats.Error{Format: name, Section: section, Offset: off, Want: want, Err: formats.ErrCorrupt}
}

// tooMuch returns the error of a map that exceeds a limit at off.
func tooMuch(section string, off int64, want string) error {
	return &formats.Error{Format: name, Section: section, Offset: off, Want: want, Err: formats.ErrLimit}
}
