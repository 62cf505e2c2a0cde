package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// document is a kind of text that is read as a whole, because its frames mean
// something only beside what stands elsewhere in it: a list of images, or the
// brackets of a JSON value.
type document struct {
	// begins tells from a line, or from the beginning of one that is too long,
	// whether a document may begin with it. It is asked for each line of
	// everything: it must be quick to say no.
	begins func(line []byte) bool
	// follow hears a document from its first line on.
	follow func() follower
	// read makes a stack of a whole document, or of what a bound left of it;
	// nil: it is none after all, and its lines are read one by one. The stack
	// keeps text.
	read func(text []byte, o Options) *Report
}

// follower hears a document's lines, or pieces of long ones, in order, and
// says how far it goes.
type follower func(piece []byte) extent

type extent uint8

const (
	goesOn extent = iota
	endsHere
	endedBefore // the piece is no part of it
)

// documents are tried in order.
var documents = [...]document{jsonReport, swiftText, walkText, appleText, appleLines}

// inDocument gives b, and plain, which is b without what was put before it, to the document that is being
// collected, or to one that begins with it; taken is false if there is none.
func (s *splitter) inDocument(b, plain []byte, begins bool) (taken bool, err error) {
	for s.document != nil { // one of a later kind may be found in what was none
		switch e := s.follow(plain); {
		case e == endsHere:
			s.held = append(s.held, b...)
			return true, s.endDocument()
		case e == goesOn && len(s.held)+len(b) <= MaxDocumentBytes:
			s.held = append(s.held, b...)
			return true, nil
		}
		if err := s.endDocument(); err != nil {
			return true, err
		}
	}
	if !begins {
		return false, nil
	}
	for i := s.barred; i < len(documents); i++ {
		d := &documents[i]
		if !d.begins(plain) {
			continue
		}
		follow := d.follow()
		e := follow(plain)
		if e == endedBefore {
			continue
		}
		s.document, s.kind, s.follow, s.held = d, i, follow, append([]byte(nil), b...)
		if e == endsHere {
			return true, s.endDocument()
		}
		return true, nil
	}
	return false, nil
}

// endDocument hands out what was collected.
func (s *splitter) endDocument() error {
	d, text := s.document, s.held
	s.document, s.follow, s.held = nil, nil, nil
	if !s.options.takes(documentRoom(text)) {
		return s.options.full()
	}
	if stack := d.read(scan.Unmarked(text, scan.LineMarks), s.options); stack != nil {
		stack.Text = text
		if err := s.next(); err != nil {
			return err
		}
		return s.emit(stack)
	}
	return s.again(text)
}

// again takes lines that a document was collected of, one by one, where it was none after all.
// Others of a later kind may begin within them.
func (s *splitter) again(text []byte) error {
	before := s.barred
	s.barred = s.kind + 1
	defer func() { s.barred = before }()
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		if err := s.piece(text[:n], true, n <= MaxLineBytes); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
