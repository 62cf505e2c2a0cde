package report

import "io"

// Dialect is a family of reports that one system or one program writes. A dialect is a value without
// state: Split keeps the state of its lines in what Lines returns, for one input.
//
// A report comes in one of four carriages, and a dialect may read several: as a file that is no text,
// as a document that is read whole, as JSON, and as single lines between other text.
type Dialect struct {
	Name  string  // of its folder
	Forms []*Form // the reports that it reads

	Files     []File
	Documents []Document
	Objects   []Object
	Values    []Reader // readers of JSON that look for frames at any depth of a value
	// Vague: the lines say so little that the dialect reads no strings of JSON.
	Vague bool
	// Lines begins the reading of one input's lines; nil: the dialect reads no single lines.
	Lines func(b *Builder) Lines
}

// Reader makes a report of a text, and returns nil for any text that it does not know. If it found
// parts that look like frames and read none of them, it returns a report without threads, with Unread. The report
// keeps text. A reader that makes much of little asks Options.Takes for room.
type Reader func(text []byte, o Options) *Report

// File is a kind of report that is no text. Split reads it as a whole, and hands out text in its place.
type File struct {
	// Begins reports whether the first bytes of an input, up to 64, begin such a file.
	Begins func(head []byte) bool
	// Text renders a file as lines that dialects know. It returns false if the file is none after all,
	// or if there is no room for its text.
	Text func(b []byte, o Options) ([]byte, bool)
	// Read makes a report of a file, in place of Text. The report's text is a rendering.
	Read Reader
	// Long makes a report of a file that is longer than MaxDocumentBytes, beside Read. head is its beginning, and rest
	// follows; Long reads it to its end, and keeps what it needs. If it knows head for no such file, it returns nil before it
	// reads of rest. The error is rest's.
	Long func(head []byte, rest io.Reader, o Options) (*Report, error)
	// Record returns the length of the record that a part of the file, up to 64 bytes, begins with. Split reads such a
	// file record by record, and hands each out as it came, with answers in its texts. Record takes the place of Text.
	Record func(head []byte) (bytes int64, ok bool)
	// Parts finds the texts in a record; nil: the bytes are no record.
	Parts func(record []byte) *Parts
}

// Document is a kind of text that is read as a whole, because its frames mean something only beside
// other parts of it: a list of images, or the brackets of a JSON value.
type Document struct {
	// Begins reports whether a document may begin with a line, or with the beginning of a line that is
	// too long. Split asks it for each line of everything: it must be quick to say no.
	Begins func(line []byte) bool
	// Follow returns a function that sees a document from its first line on.
	Follow func() Follower
	// Read makes a report of a whole document, or of the part that a bound left of it. If it returns
	// nil, Split reads the lines one by one.
	Read Reader
	// Parts finds the texts in a document, in place of Read; nil: it is none.
	Parts func(text []byte) *Parts
}

// Follower sees a document's lines, or pieces of long ones, in order, and says how far it goes.
type Follower func(piece []byte) Extent

// Extent says whether a document goes on.
type Extent uint8

// The extents.
const (
	GoesOn      Extent = iota
	EndsHere           // the piece is the last of the document
	EndedBefore        // the piece is no part of it
)

// MaxIdleLines without a frame, an image or a thread's header end a document of lines.
const MaxIdleLines = 256

// Object is a kind of report that is a JSON object, alone or within lists and envelopes.
type Object struct {
	Member string // that all such objects have
	Read   Reader // gets the object's text
}

// Lines reads lines of one input, each for itself, with the state of one dialect. Functions that a
// dialect does not need are nil, but for Find.
type Lines struct {
	// Find reads a line that may be a frame. It sets f only if it returns true.
	Find func(l *Line, f *Found) bool
	// Add adds the frame that Find found last to the report, whose text ends with the line; nil: Split
	// adds f.Place.
	Add func(f *Found)
	// Ends reports whether a line that is a frame of no dialect begins a report, because the report so far
	// has frames of the dialect.
	Ends func(l *Line) bool
	// Header reads a line that is a frame of no dialect, before Split keeps it. It sets h only if it
	// returns true; then Split asks no other dialect.
	Header func(l *Line, h *Header) bool
	// Kept sees a line that is a frame of no dialect after Split has kept it, at span of the report's
	// text without its line end.
	Kept func(span [2]int)
	// Close completes a report that is about to be handed out.
	Close func()
	// Forget forgets the facts of a header: the next report has its own.
	Forget func()
}

// Parts are the texts in a record of a binary file or in a document, and the numbers in it that count their bytes.
type Parts struct {
	Texts   []Part
	Lengths []Length // of what is around texts; in any order, some perhaps twice
}

// Part is a text in a record.
type Part struct {
	Span [2]int
	// Class is the place of the name of the exception's class, if the record has it beside a stack that begins with it.
	Class [2]int
	// Doubled: the text stands in quotes, with two quotes for one.
	Doubled bool
}
