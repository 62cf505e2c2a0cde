package scan

import (
	"strings"
	"unicode"
)

// OneLine returns name with U+FFFD in place of control characters. Anyone may make an object, and its
// names must not forge lines of a log or drive a terminal.
func OneLine(name string) string {
	if printable(name) || strings.IndexFunc(name, unicode.IsControl) < 0 {
		return name
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

// printable reports whether a name is printable ASCII, as nearly all names are.
func printable(name string) bool {
	for i := range len(name) {
		if name[i]-' ' >= 0x7f-' ' {
			return false
		}
	}
	return true
}
