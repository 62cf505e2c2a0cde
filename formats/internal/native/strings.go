package native

import (
	"bytes"
	"unsafe"
)

// text is b as a string that shares its bytes: symbol tables hold millions of
// names, and a copy of each would cost more than everything else done with
// them. Sections are never written to once they are handed out, and whoever
// keeps a name longer than the object clones it, as symbol.Run says.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// cstring is the NUL-terminated string at off, without its end; false if it
// has more than max bytes or no end, so that no table can make its readers
// search all of it again and again.
func cstring(table []byte, off uint64, max int64) (string, bool) {
	if off >= uint64(len(table)) {
		return "", off == 0
	}
	b := table[off:]
	if int64(len(b)) > max+1 {
		b = b[:max+1]
	}
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", false
	}
	return text(b[:n:n]), true
}
