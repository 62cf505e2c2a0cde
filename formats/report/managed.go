package report

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/internal/scan"
)

// School is a tradition of retracing: the lines that it keeps, and how it prints them.
type School uint8

// The schools.
const (
	// Own is R8's, bettered where R8 is known to miss: the class of an exception with a
	// ": " in its message, a second class name in such a line, the source file of a part
	// of a Kotlin multi-file class.
	Own  School = iota
	R8          // byte for byte what R8's retrace prints
	List        // synthesized frames stay, alternatives are listed in the mapping's order and not marked, an unknown line is 0
)

// ParseSchool reads a flag's value: r8 or list; "" is Own.
func ParseSchool(s string) (School, error) {
	if i := slices.Index(schoolNames[:], s); i >= 0 {
		return School(i), nil
	}
	return 0, fmt.Errorf("school %q: want r8 or list", s)
}

// String is what ParseSchool reads.
func (s School) String() string { return schoolNames[s] }

var schoolNames = [...]string{Own: "", R8: "r8", List: "list"}

// ManagedOptions say how lines of Java and Kotlin are read, retraced and printed.
type ManagedOptions struct {
	School  School
	Verbose bool // print what a method returns and takes
	// All looks for class names in every line, as R8's retrace does: for text with a
	// known mapping. Without it only lines near frames are looked at.
	All bool
	// Line reads lines in place of the package's grammar; nil: the grammar.
	Line *Expression
}

// Managed is a line of Java or Kotlin: a frame, or a line that only names classes.
type Managed struct {
	Class  string // as printed, without module and class loader; "": an expression's line without one
	Method string // "": the line names classes only
	Field  string // by an expression
	File   string // as printed
	Line   int    // -1: not printed, or no number
	Thrown string // the class that the line says was thrown; "": none
	// Types are further types that the line names: classes behind Class, what a method takes or
	// returns. Arrays keep their brackets. The retracer fills in their Original.
	Types []Type

	Lined  bool // the line has a place for a number, if an empty one
	Filed  bool // the line has a place for a file name, if an empty one
	Params bool // Types holds what the method takes, all of it, and no file or line is printed
}

// Type is a type's name in a line.
type Type struct {
	Name     string // as printed
	Original string // "": as printed
	// Thrown: the name is meant only if it is an exception's, or has a package; else it
	// may be a word of a message.
	Thrown bool
}

// MapIDPrefix begins a file name that names the mapping.
const MapIDPrefix = "r8-map-id-"

// MapID returns the id of the mapping that a frame's file name holds, 7 to 64 digits of hex; "" if it holds none.
func MapID(file string) string {
	id := []byte(file)
	if !bytes.HasPrefix(id, []byte(MapIDPrefix)) {
		return ""
	}
	id = bytes.ToLower(id[len(MapIDPrefix):])
	if len(id) < 7 || len(id) > 64 || !scan.IsHex(id) {
		return ""
	}
	return string(id)
}
