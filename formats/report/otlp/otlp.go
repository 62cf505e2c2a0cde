// Package otlp reads logs and traces of OpenTelemetry, as its protocol writes them in protobuf.
package otlp

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/report"
)

// Dialect reads requests and files of OTLP with logs or spans. The stacks in them are of other dialects.
//
// A message alone has no length. All that it consists of are resources, and a reader takes them one by one: that is how
// a message of any size is read, and how messages one behind the other are. Files have a length before each message: a
// varint, four bytes (the collector's file exporter), or a byte and four bytes (gRPC).
var Dialect = report.Dialect{
	Name: "otlp",
	Files: []report.File{
		carriage{}.file(),
		carriage{prefix: delimited}.file(),
		carriage{prefix: bigEndian}.file(),
		carriage{prefix: framed}.file(),
	},
}

// carriage is how messages stand in a file.
type carriage struct{ prefix prefix }

// prefix is what stands before each message.
type prefix uint8

const (
	nothing   prefix = iota // the records are resources
	delimited               // a varint
	bigEndian               // four bytes
	framed                  // a byte of zero, and four bytes
)

// file returns the carriage's way to be read.
func (c carriage) file() report.File {
	return report.File{Begins: c.begins, Record: c.record, Parts: c.parts}
}

// mostBytes is the length of the longest message that a prefix may name.
const mostBytes = 1 << 31

// length returns the number that head begins with, and where it and its message begin; ok is false if there is none.
func (c carriage) length(head []byte) (l report.Length, message int, ok bool) {
	switch c.prefix {
	case nothing:
		if len(head) == 0 || head[0] != resourceTag {
			return l, 0, false
		}
		v, n := binary.Uvarint(head[1:])
		if n <= 0 || v > mostBytes {
			return l, 0, false
		}
		return report.Length{Span: [2]int{1, 1 + n}, End: 1 + n + int(v)}, 0, true
	case delimited:
		v, n := binary.Uvarint(head)
		if n <= 0 || v > mostBytes {
			return l, 0, false
		}
		return report.Length{Span: [2]int{0, n}, End: n + int(v)}, n, true
	}
	at := 0
	if c.prefix == framed {
		at = 1
	}
	if len(head) < at+4 || at > 0 && head[0] != 0 {
		return l, 0, false
	}
	v := binary.BigEndian.Uint32(head[at:])
	if v > mostBytes {
		return l, 0, false
	}
	return report.Length{Span: [2]int{at, at + 4}, End: at + 4 + int(v), Kind: report.BigEndian}, at + 4, true
}

// begins reports whether head begins a file.
func (c carriage) begins(head []byte) bool {
	l, at, ok := c.length(head)
	if !ok || at == l.End || len(head) <= at {
		return false
	}
	for _, m := range []field{logs, traces} {
		r := reader{b: head, cut: true}
		if r.message(m, at, l.End, 0) && r.strings > 0 {
			return true
		}
	}
	return false
}

// record returns the length of the record that head begins with.
func (c carriage) record(head []byte) (bytes int64, ok bool) {
	l, _, ok := c.length(head)
	return int64(l.End), ok
}

// parts finds the texts in a record.
func (c carriage) parts(record []byte) *report.Parts {
	l, at, ok := c.length(record)
	if !ok || l.End != len(record) {
		return nil
	}
	for _, m := range []field{logs, traces} {
		r := reader{b: record, found: &report.Parts{}}
		if at > 0 {
			r.lengths = append(r.lengths, l)
		}
		if r.message(m, at, l.End, 0) {
			return r.found
		}
	}
	return nil
}
