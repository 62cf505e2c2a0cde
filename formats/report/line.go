package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Line is a line of an input, as dialects see it.
type Line struct {
	// Text is the line without its line end, and without the sequences at its end that set a terminal's
	// colors. Spaces stand in place of marks of quoting. It is valid until the next line is read.
	Text []byte
	Raw  []byte // Text with its marks of quoting

	bytes   int // of the line with its line end
	whole   int // of the line without its line end
	prefix  int // as scan.LogPrefix returns it; -1: not computed yet
	address int8
	before  func() []byte
}

// Prefix returns the length of a log's prefix before the message, 0 if there is none. Computing it
// costs more than all else that most lines need, so look for cheaper signs first.
func (l *Line) Prefix() int {
	if l.prefix < 0 {
		l.prefix = scan.LogPrefix(l.Text)
	}
	return l.prefix
}

// HasAddress reports whether 0x stands in the line.
func (l *Line) HasAddress() bool {
	if l.address == 0 {
		l.address = -1
		if bytes.Contains(l.Text, scan.HexMark) {
			l.address = 1
		}
	}
	return l.address > 0
}

// Bytes returns the length of the line with its line end.
func (l *Line) Bytes() int { return l.bytes }

// Before returns the line of the report before this one, without marks of quoting; nil if there is none.
func (l *Line) Before() []byte { return l.before() }

// Found is a frame in a line.
type Found struct {
	Form *Form
	// Number is the frame's place in its thread, as the line says it; -1: the line does not say it. A
	// frame 0 behind others begins a thread or a report.
	Number int
	// Room is the memory to ask for, in bytes, beside the text's.
	Room  int
	Place Place // unless the dialect adds its frames itself
}

// Header is the facts that a line says about the frames behind it.
type Header struct {
	Begins Begin
	Thread bool   // a thread begins
	Arch   string // the report's architecture; "": not said
	ID     uint64 // of the thread; 0: not said
	Name   string // of the thread
}

// Begin says whether a report begins with a header.
type Begin uint8

// The ways in which a report begins.
const (
	BeginsNothing Begin = iota
	BeginsTrace         // a trace begins, unless its frames are still to come; its frame 0 begins another
	BeginsLate          // a dump begins, unless its frames are still to come
	BeginsDump          // a dump begins; its frame 0 begins a thread
)
