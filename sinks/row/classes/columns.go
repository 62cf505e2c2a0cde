package classes

import (
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// The columns of a block of classes, in the order in which they stand. Those from colRef on are
// parted among the classes as colPart says. Durable.
const (
	colPart       = iota // per class, per column from colRef on: how many bytes of it are the class's
	colFresh             // per class: strings that stand first in it
	colClassLen          // per class: length of its name
	colClassName         // the names
	colRefLo             // per string: which one, low byte
	colRefHi             // the rest
	colFile              // per class, and per class that its members name: its source file
	colMethod            // per class: flags and members; per new method: what it is
	colOp                // per member: which method
	colShape             // per member: name, lines, rules
	colMinFirst          // lines in the program
	colMinLength         //
	colOrigFirst         // lines in the source
	colOrigLength        //
	colNewName           // per new name: its length
	colNewText           // the names
	colRule              // rules
	colSigLength         // per signature: its length
	colSigText           // the signatures
	colOrigNameLo        // per new method: its name, as strings
	colOrigNameHi
	colFreshLength // per string that stands here: its length
	colFreshText   // these
	classColumns
)

// parted is the first column that is parted among classes, and partedEnd the one after the last.
const (
	parted    = colRefLo
	partedEnd = colFreshLength
)

// classCoders say which coders columns are tried with. Numbers of few values take Huffman codes where these are near the
// least: a cold trace decodes them three times as fast, and all columns take 1 % more.
var classCoders = [classColumns]column.Trial{colClassName: column.TryZstd, colNewText: column.TryBoth, colSigText: column.TryZstd, colFreshText: column.TryZstd, colMethod: column.TryFast,
	colOp: column.TryFast, colShape: column.TryFast, colMinFirst: column.TryFast, colOrigNameLo: column.TryFast, colRule: column.TryBoth, colOrigFirst: column.TryBoth, colMinLength: column.TryBoth,
	colOrigLength: column.TryBoth}

// What a string is, in colRefLo and colRefHi together.
const (
	refFresh = 0 // the next string that stands here
	refBack  = 1 // a string that stands here; another pair says how far back
	refEmpty = 2
	refDict  = 3 // and up: number in the dictionary
)

// The flags of a class, in colMethod before the number of members.
const (
	classSynthesized = 1
	classFacts       = 2
)

// What a new method is, in colMethod.
const (
	methodField   = 1
	methodForeign = 2
	methodParams  = 4
)

// How a member's name is told, in colShape.
const (
	nameSame  = 0 // as the member before
	nameNew   = 1 // it stands here
	nameOwn   = 2 // as its method in the source
	nameNext  = 3 // as the member before, with the last byte raised by one
	nameCodes = 4
)

// shapeRules is what colShape has added for a member with rules.
const shapeRules = 9

// How a source file is told.
const (
	fileNone   = 0
	fileJava   = 1 // the class's simple name, up to its first $, and .java
	fileKotlin = 2 // that and .kt
	fileKt     = 3 // that without the Kt at its end, and .kt
	fileOther  = 4 // a string follows
)

// guessFile gives the source file that a code stands for; "" for fileNone and fileOther.
func guessFile(class string, code int) string {
	simple := simpleName(class)
	switch code {
	case fileJava:
		return simple + ".java"
	case fileKotlin:
		return simple + ".kt"
	case fileKt:
		if n := len(simple) - 2; n > 0 && simple[n:] == "Kt" {
			return simple[:n] + ".kt"
		}
	}
	return ""
}

// fileCode is the code for a source file.
func fileCode(class, file string) int {
	if file == "" {
		return fileNone
	}
	simple := simpleName(class)
	if len(simple) > 0 && len(file) >= len(simple) && file[:len(simple)] == simple {
		switch file[len(simple):] {
		case ".java":
			return fileJava
		case ".kt":
			return fileKotlin
		}
	}
	if n := len(simple) - 2; n > 0 && simple[n:] == "Kt" && len(file) == n+3 && file[:n] == simple[:n] && file[n:] == ".kt" {
		return fileKt
	}
	return fileOther
}

// simpleName is a class's name without its package, up to its first $.
func simpleName(class string) string {
	from := 0
	for i := 0; i < len(class); i++ {
		switch class[i] {
		case '.':
			from = i + 1
		}
	}
	s := class[from:]
	for i := 1; i < len(s); i++ {
		if s[i] == '$' {
			return s[:i]
		}
	}
	return s
}

// isRaised reports whether a letter or digit stays one when it is raised by one.
func isRaised(c byte) bool {
	return c >= 'a' && c < 'z' || c >= 'A' && c < 'Z' || c >= '0' && c < '9'
}

// isNext reports whether b is a with its last byte raised by one.
func isNext(a, b string) bool {
	n := len(a) - 1
	return n >= 0 && len(b) == len(a) && a[:n] == b[:n] && isRaised(a[n]) && b[n] == a[n]+1
}

// sortFiles sorts source files by class; there are few.
func sortFiles(files []symbol.ClassFile) {
	slices.SortFunc(files, func(a, b symbol.ClassFile) int { return strings.Compare(a.Class, b.Class) })
}
