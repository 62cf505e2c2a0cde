package report

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/json"
)

const (
	// mostLevels is how often a text is unescaped: it may be a string in JSON in a string of JSON.
	mostLevels = 3
	// leastQuoted is the length of the shortest string that is looked at.
	leastQuoted = 12
)

// splitText splits a text that is in memory.
type splitText func(text []byte, dialects []Dialect, o Options, emit func(*Report) error) error

// readStrings adds the reports in the strings of a JSON text to the report that was read of the text's
// objects, or makes one of them; made may be nil. Strings that hold a frame of made are read already.
func readStrings(made *Report, text []byte, dialects []Dialect, split splitText, o Options) *Report {
	if made != nil {
		made.json, made.own, made.ownWords = true, len(made.Threads), len(made.Words)
	}
	if o.level >= mostLevels {
		return made
	}
	q := quotedReader{dialects: dialects, split: split, text: text, o: o, made: made}
	q.o.level++
	q.names.text = text
	if made != nil {
		q.taken = spansOf(made)
	}
	eachString(text, q.string, q.list)
	return q.made
}

// spansOf returns the spans of a report's frames in the order of the text.
func spansOf(r *Report) (spans [][2]int) {
	for t := range r.Threads {
		for i := range r.Threads[t].Frames {
			spans = append(spans, r.Threads[t].Frames[i].Span)
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	return spans
}

// eachString visits the insides of strings that are no names of members, in order. Of a list of strings it visits the whole
// list first, from the inside of its first string to the inside of its last; lines reports whether that is enough.
func eachString(text []byte, visit func(from, to int), lines func(from, to int) bool) {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '"')
		if i < 0 {
			return
		}
		from := at + i + 1
		end := json.StringEnd(text, from)
		if end < 0 { // the text was cut
			visit(from, from+json.CutEnd(text[from:]))
			return
		}
		at = end + 1
		if isFirst(text[:from-1]) {
			if last, ok := json.ListEnd(text, from); ok && lines(from, last) {
				at = last + 1
				continue
			}
		}
		if next := json.SkipBlank(text, at); next < len(text) && text[next] == ':' {
			continue
		}
		visit(from, end)
	}
}

// isFirst reports whether what follows behind before is the first element of a list.
func isFirst(before []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(before, " \t\r\n"), []byte{'['})
}

// quotedReader reads the strings of one JSON text.
type quotedReader struct {
	dialects []Dialect
	split    splitText
	text     []byte
	o        Options
	made     *Report  // so far; nil: nothing is read
	taken    [][2]int // spans of frames that stand behind the strings read so far
	names    classNames
	class    [2]int // of the exception of the text at hand; see Part
	doubled  bool   // see Part
	name     []byte // of the member that gets the text at hand; see quoted
}

// isTaken reports whether a frame of the report that is made already stands within [from, to), or around it.
func (q *quotedReader) isTaken(from, to int) bool {
	for len(q.taken) > 0 && q.taken[0][1] <= from {
		q.taken = q.taken[1:]
	}
	return len(q.taken) > 0 && q.taken[0][0] < to
}

// list reads the reports in the strings of a list as lines of one text. It returns false if there are none.
func (q *quotedReader) list(from, to int) bool {
	raw := q.text[from:to]
	if !hasPlaces(raw) || isSource(q.text[:from-1]) || q.isTaken(from, to) || !q.o.Takes(2*len(raw)) {
		return false
	}
	text := json.DecodeList(raw)
	return text != nil && q.plain([2]int{from, to}, text)
}

// string reads the reports in the string [from, to).
func (q *quotedReader) string(from, to int) {
	if q.isTaken(from, to) {
		return
	}
	if q.names.met([2]int{from, to}) {
		q.made.strings[len(q.made.strings)-1].class = [2]int{from, to}
	}
	if to-from < leastQuoted || q.encoded(from, to) || !mayHoldReport(q.text[from:to]) {
		return
	}
	text := json.Decode(q.text[from:to])
	for text.Levels < mostLevels && isEscaped(text.Bytes) {
		text = text.Again()
	}
	q.plain([2]int{from, to}, text)
}

// plain reads the reports in a text that stands at span. It returns false if no report has frames.
func (q *quotedReader) plain(span [2]int, text *json.Text) bool {
	found := &quoted{span: span, levels: text.Levels, list: text.List, class: q.class, name: q.name, doubled: q.doubled}
	frames := 0
	err := q.split(text.Bytes, q.lineDialects(), q.o, func(r *Report) error {
		found.reports = append(found.reports, r)
		found.threads += len(r.Threads)
		found.words += len(r.Words)
		frames += r.Frames()
		return nil
	})
	if err != nil || frames == 0 || !q.o.Takes(frames*FrameRoom) {
		if !text.List { // its strings are read one by one
			q.unread(found)
		}
		return false
	}
	q.add(found, text)
	return true
}

const (
	// leastEncoded is the length of the shortest string that is looked at as base64.
	leastEncoded = 64
	// headEncoded is how much of it tells whether it holds a report.
	headEncoded = 1 << 10
)

// encoded reads the reports in base64: a file such as a tombstone, or a text. It returns false if the string [from, to)
// is no base64.
func (q *quotedReader) encoded(from, to int) bool {
	raw := q.text[from:to]
	if len(raw) < leastEncoded || !isBase64(raw[:leastEncoded]) {
		return false
	}
	head := decodeBase64(raw[:min(len(raw), headEncoded)])
	var file *File
	for i := range q.dialects {
		for k := range q.dialects[i].Files {
			if f := &q.dialects[i].Files[k]; file == nil && f.Text != nil && len(head) > 0 && f.Begins(head) {
				file = f
			}
		}
	}
	isText := bytes.IndexByte(head, '\n') >= 0 && bytes.IndexByte(head, 0) < 0 && utf8.Valid(head[:bytes.LastIndexByte(head, '\n')])
	if file == nil && !isText || !q.o.Takes(2*len(raw)) {
		return file != nil || isText
	}
	text, ok := decodeBase64(raw), true
	if file != nil {
		text, ok = file.Text(text, q.o)
	}
	name := memberName(q.text[:from-1])
	switch {
	case !ok || len(text) == 0:
		return true
	case name == nil:
		q.made = cmp.Or(q.made, &Report{Text: q.text, json: true})
		q.made.Unread = AddUnread(q.made.Unread, Unread{Why: WhyList})
		return true
	}
	q.name = name
	q.plain([2]int{to + 1, to + 1}, &json.Text{Bytes: text})
	q.name = nil
	return true
}

// isBase64 reports whether b is of the letters of base64, or of URLs' base64, or of escapes in JSON.
func isBase64(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && r != '+' && r != '/' && r != '-' && r != '_' && r != '=' && r != '\\'
	})
}

// decodeBase64 returns the bytes that the inside of a string spells in base64, up to the first that it cannot; it may end
// anywhere.
func decodeBase64(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = json.AppendUnescaped(nil, raw)
	}
	letters := make([]byte, 0, len(raw))
	for _, c := range raw {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '\r', '\n', ' ', '=':
			continue
		}
		letters = append(letters, c)
	}
	if len(letters)%4 == 1 {
		letters = letters[:len(letters)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(letters)))
	n, _ := base64.RawStdEncoding.Decode(out, letters)
	return out[:n]
}

// lineDialects returns the dialects with lines that are sure enough for strings of any meaning.
func (q *quotedReader) lineDialects() []Dialect {
	if !slices.ContainsFunc(q.dialects, func(d Dialect) bool { return d.Vague }) {
		return q.dialects
	}
	q.dialects = slices.DeleteFunc(slices.Clone(q.dialects), func(d Dialect) bool { return d.Vague })
	return q.dialects
}

// unread keeps what a string without frames says of parts that look like frames.
func (q *quotedReader) unread(found *quoted) {
	for _, r := range found.reports {
		for _, u := range r.Unread {
			if q.made == nil {
				q.made = &Report{Text: q.text, json: true}
			}
			if u.Path != "" {
				u.Path = "|fromjson|" + u.Path
			}
			q.made.Unread = AddUnread(q.made.Unread, u)
		}
	}
}

// add adds the threads and words of a string's reports, with their places in the text around them.
func (q *quotedReader) add(found *quoted, text *json.Text) {
	if q.made == nil {
		q.made = &Report{Text: q.text, json: true}
	}
	places := placesOf(found, text)
	places.exact = places.exact && found.name == nil && (!found.doubled || len(text.Bytes) == found.span[1]-found.span[0])
	for _, r := range found.reports {
		if r.Form != nil && q.made.Form == nil {
			q.made.Form, q.made.Arch = r.Form, r.Arch
			if r.Form.Quoted != nil {
				q.made.Form = r.Form.Quoted
			}
		}
		for t := range r.Threads {
			thread := r.Threads[t]
			thread.Frames = slices.Clone(thread.Frames)
			for i := range thread.Frames {
				f := &thread.Frames[i]
				f.Span = places.of(f.Span, found.span[0])
				if !places.exact {
					f.Layout = Layout{} // of a line that does not stand there
				}
				if q.made.InString != nil {
					q.made.InString(f)
				}
			}
			q.made.Threads = append(q.made.Threads, thread)
		}
		for _, w := range r.Words {
			w.Span = places.of(w.Span, found.span[0])
			q.made.Words = append(q.made.Words, w)
		}
		places.next(len(r.Text))
	}
	q.unread(found)
	if found.levels == 1 {
		found.class = q.names.of(text.Bytes)
	}
	q.made.strings = append(q.made.strings, *found)
}

// mayHoldReport rules most strings out. A text of several lines may hold frames if it has one of their signs; a line
// alone must begin as a frame does. JSON in a string is looked at if it has strings of its own.
func mayHoldReport(raw []byte) bool {
	trimmed := bytes.TrimLeft(raw, " \t")
	if len(trimmed) < leastQuoted {
		return false
	}
	switch c := trimmed[0]; {
	case (c == '{' || c == '[') && bytes.Contains(raw, []byte(`\"`)):
		return true
	case bytes.Contains(raw, []byte(`\n`)), bytes.Contains(raw, []byte(`\r`)), bytes.Contains(raw, []byte(`\u000a`)):
		return hasSigns(raw)
	case bytes.HasPrefix(trimmed, []byte("at ")), bytes.HasPrefix(trimmed, []byte(`\tat `)):
		return bytes.HasSuffix(bytes.TrimRight(raw, " "), []byte{')'}) || bytes.Count(raw, []byte{':'}) > 1
	case c == '#' && '0' <= trimmed[1] && trimmed[1] <= '9':
		return true
	case '0' <= c && c <= '9' && bytes.Contains(raw, []byte(" 0x")):
		return true
	case bytes.HasPrefix(trimmed, []byte("native: #")):
		return true
	}
	return false
}

// places finds where bytes of a string's reports stand in the text around the string.
type places struct {
	text  *json.Text
	at    int  // where the report at hand begins in text
	exact bool // the reports' texts are the string's
}

// placesOf returns the places of a string's reports.
func placesOf(q *quoted, d *json.Text) *places {
	rest := d.Bytes
	for _, r := range q.reports {
		if !bytes.HasPrefix(rest, r.Text) {
			return &places{text: d}
		}
		rest = rest[len(r.Text):]
	}
	return &places{text: d, exact: true}
}

// next goes on behind a report with n bytes.
func (p *places) next(n int) { p.at += n }

// of returns the place of a span in the text around a string that begins at from. Of texts that came out with other
// spaces only the string is known.
func (p *places) of(span [2]int, from int) [2]int {
	if !p.exact {
		return [2]int{from, from}
	}
	return [2]int{from + p.text.Raw(p.at+span[0]), from + p.text.Raw(p.at+span[1])}
}

// isEscaped reports whether a text is one line with line ends that are escaped once more.
func isEscaped(text []byte) bool {
	return bytes.IndexByte(text, '\n') < 0 && bytes.Contains(text, []byte(`\n`)) && !jsonBegins(text)
}

// readParts makes a report of the texts in a record that have frames.
func readParts(record []byte, p *Parts, dialects []Dialect, split splitText, o Options) *Report {
	q := quotedReader{dialects: dialects, split: split, text: record, o: o, made: &Report{Text: record, json: true, lengths: p.Lengths, managed: o.Managed}}
	q.o.level++
	for i := range p.Texts {
		at := p.Texts[i].Span
		q.class, q.doubled = p.Texts[i].Class, p.Texts[i].Doubled
		text := record[at[0]:at[1]]
		if q.doubled {
			text = bytes.ReplaceAll(text, []byte(`""`), []byte{'"'})
		}
		q.plain(at, &json.Text{Bytes: text})
	}
	return q.made
}
