package report

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats/internal/json"
)

// Parts are the texts in a record of a binary file, and the numbers in it that count their bytes.
type Parts struct {
	Texts   []Part
	Lengths []Length // of what is around texts; in any order, some perhaps twice
}

// Part is a text in a record.
type Part struct {
	Span [2]int
	// Class is the place of the name of the exception's class, if the record has it beside a stack that begins with it.
	Class [2]int
}

// Length is a number that says how many bytes stand behind it.
type Length struct {
	Span [2]int // of the number
	End  int    // of the bytes
	From int    // of the bytes; 0: they stand behind the number
	Kind LengthKind
}

// LengthKind is how a number is written.
type LengthKind uint8

// The kinds of numbers.
const (
	Varint    LengthKind = iota // of protobuf
	BigEndian                   // of four bytes
	Decimal                     // in digits
)

// changed returns the number of the bytes and more of them.
func (l *Length) changed(more int) []byte {
	return l.Kind.append(nil, l.End-max(l.From, l.Span[1])+more)
}

// append appends a number.
func (k LengthKind) append(to []byte, n int) []byte {
	switch k {
	case BigEndian:
		return binary.BigEndian.AppendUint32(to, uint32(n))
	case Decimal:
		return appendDecimal(to, n)
	}
	return binary.AppendUvarint(to, uint64(n))
}

// appendDecimal appends a number in digits.
func appendDecimal(to []byte, n int) []byte {
	if n >= 10 {
		to = appendDecimal(to, n/10)
	}
	return append(to, byte('0'+n%10))
}

// readParts makes a report of the texts in a record that have frames.
func readParts(record []byte, p *Parts, dialects []Dialect, split splitText, o Options) *Report {
	q := quotedReader{dialects: dialects, split: split, text: record, o: o, made: &Report{Text: record, json: true, lengths: p.Lengths, managed: o.Managed}}
	q.o.level++
	for i := range p.Texts {
		at := p.Texts[i].Span
		q.class = p.Texts[i].Class
		q.plain(at, &json.Text{Bytes: record[at[0]:at[1]]})
	}
	return q.made
}

// classEdit returns the edit that writes the class of the exception that a text began with before, and another one
// after it was answered.
func classEdit(text []byte, class [2]int, before, after []byte) (e edit, ok bool) {
	was, _, _ := bytes.Cut(before, []byte{'\n'})
	is, _, _ := bytes.Cut(after, []byte{'\n'})
	rest, begins := bytes.CutPrefix(was, text[class[0]:class[1]])
	if !begins || class[0] == class[1] {
		return edit{}, false
	}
	if at := bytes.Index(is, []byte(": ")); at >= 0 && bytes.HasPrefix(rest, []byte(": ")) {
		is = is[:at]
	} else if is, ok = bytes.CutSuffix(is, rest); !ok {
		return edit{}, false
	}
	if bytes.IndexByte(is, ' ') >= 0 || bytes.Equal(is, text[class[0]:class[1]]) {
		return edit{}, false
	}
	return edit{class, slices.Clone(is)}, true
}

// lengthEdits returns edits with the ones of the numbers that count bytes which they change. It sorts edits.
func lengthEdits(edits []edit, lengths []Length) []edit {
	lengths = slices.Clone(lengths)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.span[0], b.span[0]) })
	slices.SortFunc(lengths, func(a, b Length) int { return cmp.Compare(a.Span[0], b.Span[0]) })
	lengths = slices.Compact(lengths)
	all := slices.Clone(edits)
	type counted struct {
		Length
		more int // bytes that it counts in the edited text
	}
	var open []counted
	end := func(at int) {
		for len(open) > 0 && open[len(open)-1].End <= at {
			l := open[len(open)-1]
			open = open[:len(open)-1]
			if l.more == 0 {
				continue
			}
			number := l.changed(l.more)
			all = append(all, edit{l.Span, number})
			if len(open) > 0 {
				open[len(open)-1].more += l.more + len(number) - (l.Span[1] - l.Span[0])
			}
		}
	}
	for _, e := range edits {
		for len(lengths) > 0 && lengths[0].Span[0] < e.span[0] {
			end(lengths[0].Span[0])
			open = append(open, counted{Length: lengths[0]})
			lengths = lengths[1:]
		}
		end(e.span[0])
		if len(open) > 0 {
			open[len(open)-1].more += len(e.text) - (e.span[1] - e.span[0])
		}
	}
	end(int(^uint(0) >> 1))
	return all
}
