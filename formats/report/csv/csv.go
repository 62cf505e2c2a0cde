// Package csv reads tables of text that consoles of stores and databases export, with stacks in quoted fields.
package csv

import (
	"bytes"
	"slices"

	"github.com/symlake/symlake/formats/report"
)

// Dialect reads tables with a line of names first, and commas, semicolons or tabs between fields (RFC 4180). The stacks in
// their quoted fields are of other dialects; a field may also be a JSON event.
var Dialect = report.Dialect{
	Name: "csv",
	Documents: []report.Document{{
		Begins: func(line []byte) bool { return headerOf(line) != nil },
		Follow: func() report.Follower { return new(follower).follow },
		Parts:  parts,
	}},
}

// header is the first line of a table.
type header struct {
	separator byte
	fields    int
}

const (
	mostNames     = 16 << 10 // bytes of a header
	mostNameBytes = 64
)

// words stand in the names of columns that have stacks.
var words = [][]byte{[]byte("stack"), []byte("trace"), []byte("exception"), []byte("report"), []byte("error"), []byte("crash"),
	[]byte("thread"), []byte("message"), []byte("event"), []byte("payload"), []byte("log")}

// mayHaveStacks reports whether a column may have stacks, by its name.
func mayHaveStacks(name []byte) bool {
	name = bytes.ToLower(name)
	return slices.ContainsFunc(words, func(word []byte) bool { return bytes.Contains(name, word) })
}

// headerOf returns the header that a line is; nil: it is none.
func headerOf(line []byte) *header {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 || len(line) > mostNames || !mayBeHeader(line) {
		return nil
	}
	for _, separator := range []byte(",;\t") {
		if bytes.IndexByte(line, separator) < 0 {
			continue
		}
		if fields, ok := columns(line, separator); ok {
			return &header{separator, fields}
		}
	}
	return nil
}

// mayBeHeader reports whether every byte of a line may stand in a header. Most lines fail early.
func mayBeHeader(line []byte) bool {
	for _, c := range line {
		if !isNameByte(c) && c != '"' && c != ',' && c != ';' && c != '\t' {
			return false
		}
	}
	return true
}

// columns counts the columns that a header names; ok is false if it is none, or if no column may have stacks.
func columns(line []byte, separator byte) (count int, ok bool) {
	for name := range bytes.SplitSeq(line, []byte{separator}) {
		count++
		if unquoted, begins := bytes.CutPrefix(name, []byte{'"'}); begins {
			if name, begins = bytes.CutSuffix(unquoted, []byte{'"'}); !begins {
				return 0, false
			}
		}
		if len(name) == 0 || len(name) > mostNameBytes || bytes.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) }) {
			return 0, false
		}
		ok = ok || mayHaveStacks(name)
	}
	return count, ok
}

// isNameByte reports whether c may stand in the name of a column.
func isNameByte(c byte) bool {
	return c == '_' || c == ' ' || c == '.' || c == '-' || c == '/' || c == '(' || c == ')' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// place is where a byte stands in a record.
type place uint8

const (
	atField  place = iota // a field begins
	inField               // that is not quoted
	inQuotes              // of a field
	atQuote               // behind a quote, which ends the field, or is the first of two
)

// reader goes through records.
type reader struct {
	header
	place place
	count int // fields of the record, but for the last
}

// next takes a byte. ends: the record ends with it.
func (r *reader) next(c byte) (ends bool) {
	switch r.place {
	case inQuotes:
		if c == '"' {
			r.place = atQuote
		}
		return false
	case atQuote:
		if c == '"' {
			r.place = inQuotes
			return false
		}
	case atField:
		if c == '"' {
			r.place = inQuotes
			return false
		}
	}
	switch c {
	case r.separator:
		r.place = atField
		r.count++
	case '\n':
		return true
	default:
		r.place = inField
	}
	return false
}

// begin begins a record. It reports whether the one before had as many fields as the header.
func (r *reader) begin() bool {
	whole := r.count+1 == r.fields
	r.place, r.count = atField, 0
	return whole
}

// follower sees a table's lines.
type follower struct {
	reader
	began bool
}

// follow ends a table before the first record with another number of fields than the header.
func (f *follower) follow(piece []byte) report.Extent {
	if !f.began {
		h := headerOf(piece)
		if h == nil {
			return report.EndedBefore
		}
		f.began, f.header = true, *h
		return report.GoesOn
	}
	for _, c := range piece {
		if f.next(c) && !f.begin() {
			return report.EndedBefore
		}
	}
	return report.GoesOn
}

// parts finds the quoted fields of a table.
func parts(text []byte) *report.Parts {
	from := bytes.IndexByte(text, '\n') + 1
	h := headerOf(text[:from])
	if h == nil {
		return nil
	}
	r := reader{header: *h}
	found := &report.Parts{}
	record := 0 // parts before the record at hand
	field := 0
	for i := from; i <= len(text); i++ {
		c := byte('\n')
		if i < len(text) {
			c = text[i]
		}
		before := r.place
		ends := r.next(c)
		if before == atField {
			field = i
		}
		if before == atQuote && r.place != inQuotes {
			found.Texts = append(found.Texts, report.Part{Span: [2]int{field + 1, i - 1}, Doubled: true})
		}
		if ends {
			if !r.begin() {
				found.Texts = found.Texts[:record]
				break
			}
			record = len(found.Texts)
		}
	}
	if len(found.Texts) == 0 {
		return nil
	}
	return found
}
