package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// inDocument gives b, and plain, which is b without the marks before it, to the document that is
// being collected, or to one that begins with it; taken is false if there is none.
func (s *splitter) inDocument(b, plain []byte, begins bool) (taken bool, err error) {
	for s.document != nil { // one of a later kind may be found in what was none
		switch e := s.follow(plain); {
		case e == EndsHere:
			s.held = append(s.held, b...)
			return true, s.endDocument()
		case e == GoesOn && len(s.held)+len(b) <= MaxDocumentBytes:
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
	for i := s.barred; i < len(s.documents); i++ {
		d := &s.documents[i]
		if !d.Begins(plain) {
			continue
		}
		follow := d.Follow()
		e := follow(plain)
		if e == EndedBefore {
			continue
		}
		s.document, s.kind, s.follow, s.held = d, i, follow, append([]byte(nil), b...)
		if e == EndsHere {
			return true, s.endDocument()
		}
		return true, nil
	}
	return false, nil
}

// endDocument hands out the document that was collected.
func (s *splitter) endDocument() error {
	d, text := s.document, s.held
	s.document, s.follow, s.held = nil, nil, nil
	if !s.options.Takes(documentRoom(text)) {
		return s.options.full()
	}
	if made := d.Read(scan.Unmarked(text, scan.LineMarks), s.options); made != nil {
		made.Text = text
		if err := s.next(); err != nil {
			return err
		}
		return s.emit(made)
	}
	return s.again(text)
}

// again takes the lines of a text that was no document after all, one by one. Documents of a later
// kind may begin within them.
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
