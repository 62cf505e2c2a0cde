package report

import "bytes"

// About the memory of an element of a document.
const (
	elementRoom = 640
	newlineRoom = 64 // of a line within a string of JSON, which seldom is a frame
)

// bound is the room of a Split; its first error stays.
type bound struct {
	take func(bytes int64) error
	err  error
}

// Takes asks for room for so many bytes. If it returns false there is none left, and Split ends with the reason.
func (o *Options) Takes(bytes int) bool {
	b := o.bound
	if b == nil || b.take == nil {
		return true
	}
	if b.err == nil {
		b.err = b.take(int64(bytes))
	}
	return b.err == nil
}

// full is the reason why there is no room left.
func (o *Options) full() error {
	if o.bound == nil {
		return nil
	}
	return o.bound.err
}

// documentRoom is what reading a document may take: all that readers keep stands on a line or in an object of its own.
func documentRoom(text []byte) int {
	elements := bytes.Count(text, []byte{'\n'}) + bytes.Count(text, []byte{'{'})
	return 2*len(text) + elementRoom*elements + newlineRoom*bytes.Count(text, []byte(`\n`))
}

// Options says what the text does not.
type Options struct {
	Artifacts []string // names for frames that name no artifact, best first
	Frame0    Frame0   // zero: as the stack's format has it
	// IsolateStart and VMStart are where the instructions of a Dart program were mapped, for
	// addresses without a header that says so; 0: not known.
	IsolateStart, VMStart uint64
	// Units are the artifacts of a Dart program's deferred loading units, by number.
	Units   map[int]string
	Managed ManagedOptions
	// Steps bounds the work of Managed.Line on a whole text; 0: there is no bound. See ErrExpression.
	Steps int64
	// DocumentBytes is the length of a JSON value that is read whole. A longer one is taken apart: its elements are
	// read, each for itself. 0: MaxDocumentBytes.
	DocumentBytes int

	bound *bound // of the Split at work
	level int    // of strings around the text
}

// documentBytes returns the length of a JSON value that is read whole.
func (o *Options) documentBytes() int {
	if o.DocumentBytes > 0 {
		return o.DocumentBytes
	}
	return MaxDocumentBytes
}
