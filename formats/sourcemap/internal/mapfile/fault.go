// Package mapfile reads the parts of a source map. A first pass (Read) finds where they are, as a Layout
// that holds nothing of the map's size. Then MappingReader, ReadFunctionMaps and ReadScopes decode one
// part each. The package does not answer positions: formats/sourcemap does.
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
