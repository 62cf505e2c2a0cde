package native

import (
	"bytes"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// text is b as a string that shares its bytes: symbol tables hold millions of
// names, and a copy of each would cost more than everything else done with
// them. Sections are never written to once they are handed out, and whoever
// keeps a name longer than the object clones it, as symbol.Run says.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// NameTable is a string table that is read by many, some of them hostile.
type NameTable struct {
	File    *Source
	Section string
	B       []byte
	Max     int64 // bytes of a name; longer ones are cut
	Spare   int64 // bytes that may be read beyond what the table's size allows
	read    int64
}

// At returns the NUL-terminated string at off, cut if it is too long, "" if there is none. Names may share their bytes,
// so a small table could ask for endless reading: a sound one is read about once.
func (n *NameTable) At(off uint64) (string, error) {
	if off >= uint64(len(n.B)) {
		return "", nil
	}
	b := n.B[off:]
	end := bytes.IndexByte(b, 0)
	const share = 64 // times the table
	if end < 0 {
		n.read += int64(len(b))
	} else {
		n.read += int64(end)
	}
	if n.read > 1<<20+share*int64(len(n.B))+n.Spare {
		return "", n.File.Limit(n.Section, off, "names that do not share their bytes without end")
	}
	if end < 0 {
		return "", nil
	}
	return symbol.ShortName(text(b[:end:end]), n.Max), nil
}

const partMark = ".__part."

// FunctionName returns the name of the function that a symbol is about. Where each basic block has a section of its own,
// compilers number the symbols of a function's blocks: foo.__part.3 is foo.
func FunctionName(symbol string) string {
	end := len(symbol)
	for end > 0 && symbol[end-1] >= '0' && symbol[end-1] <= '9' {
		end--
	}
	if end == len(symbol) || end <= len(partMark) || symbol[end-len(partMark):end] != partMark {
		return symbol
	}
	return symbol[:end-len(partMark)]
}
