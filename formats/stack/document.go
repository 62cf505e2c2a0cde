package stack

import "bytes"

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
	read func(text []byte, o Options) *Stack
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
var documents = [...]document{jsonReport, appleText, appleLines}

// inDocument gives b to the document that is being collected, or to one that
// begins with it; taken is false if there is none.
func (s *splitter) inDocument(b []byte, begins bool) (taken bool, err error) {
	if s.document != nil {
		switch e := s.follow(b); {
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
	for i := range documents {
		d := &documents[i]
		if !d.begins(b) {
			continue
		}
		s.document, s.follow, s.held = d, d.follow(), append([]byte(nil), b...)
		if s.follow(b) == endsHere {
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
	if stack := d.read(text, s.options); stack != nil {
		if err := s.next(); err != nil {
			return err
		}
		return s.emit(stack)
	}
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		take := s.text
		if n <= MaxLineBytes {
			take = s.line
		}
		if err := take(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
