package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report/internal/input"
)

// close hands out the rest at the end of the input.
func (s *splitter) close() error {
	if s.json != nil {
		if err := s.endJSON(); err != nil {
			return err
		}
	}
	for s.document != nil {
		if err := s.endDocument(); err != nil {
			return err
		}
	}
	return s.flush()
}

// piece takes a piece of a text: a line with its line end, or a part of a line that is too long. plain is b as
// input.Plain returns it for whole lines.
func (s *splitter) piece(b, plain []byte, begins, ends bool) error {
	begins = begins || s.behind
	s.behind = false
	unmarked := plain
	if begins {
		unmarked = scan.Unmarked(plain, scan.LineMarks)
	}
	if n, err := s.inJSON(b, unmarked, begins, ends); n == len(b) || err != nil {
		return err
	} else if n > 0 {
		rest := b[n:]
		return s.piece(rest, input.Plain(rest), true, ends)
	}
	if taken, err := s.inDocument(b, unmarked, begins); taken || err != nil {
		return err
	}
	if taken, err := s.objectBehind(b, begins, ends); taken || err != nil {
		return err
	}
	if !begins || !ends {
		return s.text(b, b, len(b))
	}
	if err := s.line(b, plain); err != nil {
		return err
	}
	return s.err
}

// inDocument gives b, and plain, which is b without the marks before it, to the document that is
// being collected, or to a document that begins with it; taken is false if there is none.
func (s *splitter) inDocument(b, plain []byte, begins bool) (taken bool, err error) {
	for s.document != nil { // a document of a later kind may begin within
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
	for i := max(s.barred, 1) - 1; i < len(s.documents); i++ {
		d := &s.documents[i]
		if !d.Begins(plain) {
			continue
		}
		follow := d.Follow()
		e := follow(plain)
		if e == EndedBefore {
			continue
		}
		s.document, s.kind, s.follow, s.held = d, i+1, follow, append([]byte(nil), b...)
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
	plain := input.Plain(text)
	made := (*Report)(nil)
	if d.Parts == nil {
		made = d.Read(scan.Unmarked(plain, scan.LineMarks), s.options)
	} else if parts := d.Parts(plain); parts != nil {
		made = readParts(plain, parts, s.dialects, splitOnce, s.options)
	}
	if done, err := s.handOut(made, plain); done || err != nil {
		return err
	}
	return s.again(text)
}

// handOut hands out the report that a reader made of a text; false: the text has no frames that the reader knows.
func (s *splitter) handOut(made *Report, text []byte) (done bool, err error) {
	if made == nil {
		return false, nil
	}
	if len(made.Threads) > 0 {
		made.Text, made.managed = text, s.options.Managed
		if err := s.next(); err != nil {
			return true, err
		}
		return true, s.emit(made)
	}
	if len(made.Unread) > 0 && s.frames > 0 { // the parts belong to a report of their own
		if err := s.next(); err != nil {
			return false, err
		}
	}
	s.unread = append(s.unread, made.Unread...)
	return false, nil
}

// splitOnce splits a text that is in memory, as Split does.
func splitOnce(text []byte, dialects []Dialect, o Options, emit func(*Report) error) error {
	s := newSplitter(dialects, o, emit)
	if err := s.each(text); err != nil {
		return err
	}
	return s.close()
}

// again takes the lines of a text that was no document after all, one by one. Documents of a later
// kind may begin within them.
func (s *splitter) again(text []byte) error {
	before := s.barred
	s.barred = s.kind + 1
	defer func() { s.barred = before }()
	return s.each(text)
}

// each takes the lines of a text one by one.
func (s *splitter) each(text []byte) error {
	for len(text) > 0 {
		n := scan.NextLine(text)
		if n == 0 {
			n = len(text)
		}
		line := text[:n]
		if err := s.piece(line, input.Plain(line), true, n <= MaxLineBytes); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// inJSON gives a line, or a part of one, to the JSON value that is being collected, or that begins with it. same is b
// as it is to be read: marks of quoting are spaces. It returns how much of b it took: behind it another line begins.
func (s *splitter) inJSON(b, same []byte, begins, ends bool) (n int, err error) {
	first := s.json == nil
	if first && (!begins || s.barred > 0 || s.document != nil || !jsonBegins(same)) {
		return 0, nil
	}
	if len(same) != len(b) { // in JSON every space is a letter
		same = scan.Unmarked(b, scan.LineMarks)
	}
	if first {
		s.json = &json.Stream{Most: s.options.documentBytes(), Value: s.jsonPart, Long: s.jsonLong,
			Text: func(b []byte) error { return s.text(b, b, len(b)) }}
	}
	n, extent, err := s.json.Feed(b, same)
	switch {
	case err != nil || extent == json.GoesOn:
		return n, err
	case extent == json.NoPart && first && n == 0: // it is other text
		s.json = nil
		return 0, nil
	case extent == json.Whole && !s.json.Apart():
		rest := bytes.TrimLeft(same[n:], " \t\r\n,")
		if len(rest) == 0 {
			s.json.Append(b[n:])
			n = len(b)
		} else if !jsonBegins(rest) {
			return len(b), s.jsonInLine(b[n:], ends)
		} else {
			s.json.Append(b[n : len(b)-len(rest)])
			n = len(b) - len(rest)
		}
	}
	s.behind = n == len(b) && !ends
	return n, s.endJSON()
}

// beginsBehind returns where a JSON object may begin behind other text of a line, such as a log's; 0: nowhere.
func beginsBehind(line []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(line[at:], '{')
		if i < 0 {
			return 0
		}
		from := at + i
		if next := json.SkipBlank(line, from+1); from > 0 && next < len(line) && line[next] == '"' {
			return from
		}
		at = from + 1
	}
}

// objectBehind hands out a line with a JSON object behind other text, if the object has frames. Of a line that is too long,
// the object is collected as others are.
func (s *splitter) objectBehind(line []byte, begins, ends bool) (taken bool, err error) {
	if !begins || s.document != nil || s.barred > 0 {
		return false, nil
	}
	from := beginsBehind(line)
	if from == 0 {
		return false, nil
	}
	if !ends {
		if err := s.text(line[:from], line[:from], from); err != nil {
			return true, err
		}
		rest := bytes.Clone(line[from:])
		return true, s.piece(rest, rest, true, false)
	}
	w := json.Walker{Bytes: line, Pos: from}
	if w.Skip(); w.Failed || !s.options.Takes(documentRoom(line)) {
		return false, nil
	}
	object := bytes.Clone(line[from:w.Pos])
	made := readStrings(s.values.read(object, s.options), object, s.dialects, splitOnce, s.options)
	if made == nil || len(made.Threads) == 0 {
		return s.handOut(made, object)
	}
	before, behind := line[:from], bytes.Clone(line[w.Pos:])
	if err := s.text(before, before, from); err != nil {
		return true, err
	}
	if _, err := s.handOut(made, object); err != nil {
		return true, err
	}
	return true, s.text(behind, behind, len(behind))
}

// endJSON hands out the JSON value that was collected.
func (s *splitter) endJSON() error {
	stream := s.json
	s.json = nil
	if stream.Apart() {
		return stream.Close()
	}
	text := stream.Held()
	if done, err := s.readJSON(text); done || err != nil {
		return err
	}
	if s.stream && s.barred == 0 {
		if s.item = itemOf(text); s.item != nil {
			return nil
		}
	}
	if json.Valid(scan.Unmarked(text, scan.LineMarks)) { // no line of it is a frame: an answer there would break it
		return s.text(text, text, len(text))
	}
	s.kind = 0
	return s.again(text)
}

// jsonInLine hands out the JSON value that was collected, and the rest of its line.
func (s *splitter) jsonInLine(rest []byte, ends bool) error {
	text := s.json.Held()
	s.json, s.kind = nil, 0
	rest = bytes.Clone(rest)
	if done, err := s.readJSON(text); err != nil {
		return err
	} else if done {
		return s.piece(rest, input.Plain(rest), true, ends)
	}
	return s.again(append(text, rest...))
}

// readJSON hands out the report of a JSON value; false: there is none.
func (s *splitter) readJSON(text []byte) (done bool, err error) {
	if !s.options.Takes(documentRoom(text)) {
		return false, s.options.full()
	}
	same := scan.Unmarked(text, scan.LineMarks)
	return s.handOut(readStrings(s.values.read(same, s.options), same, s.dialects, splitOnce, s.options), text)
}

// jsonPart takes a value out of a value that is too long.
func (s *splitter) jsonPart(v []byte) error {
	if done, err := s.readJSON(v); done || err != nil {
		return err
	}
	return s.text(v, v, len(v))
}

// jsonLong notes a part of a value that is too long to be read.
func (s *splitter) jsonLong(path string) {
	s.unread = AddUnread(s.unread, Unread{Why: WhyPart, Path: path})
}

// mostEscapes is how many times a text that is a string in a string in a string is unescaped.
const mostEscapes = 3

// unescaped returns the lines of a stack that stands in one line, with "\n" and "\t" for line ends and tabs, as a
// string of a program or of JSON has them. It returns nil for a line that gets no more frames by it.
func (s *splitter) unescaped(line []byte) []byte {
	if !bytes.Contains(line, []byte(`\n`)) {
		return nil
	}
	best, most := []byte(nil), s.count(line, bytes.Index(line, []byte(`\n`)))
	for text, i := line, 0; i < mostEscapes && bytes.Contains(text, []byte(`\n`)); i++ {
		text = input.Unescape(text)
		if n := s.count(text, len(text)); n > most {
			best, most = text, n
		}
	}
	return best
}

// count returns how many frames the dialects find in a text alone, that begin before an index of their report.
func (s *splitter) count(text []byte, before int) (frames int) {
	probe := newSplitter(s.dialects, s.options, func(r *Report) error {
		for i := range r.Threads {
			for k := range r.Threads[i].Frames {
				if r.Threads[i].Frames[k].Span[0] < before {
					frames++
				}
			}
		}
		return nil
	})
	if probe.each(text) != nil || probe.close() != nil {
		return 0
	}
	return frames
}
