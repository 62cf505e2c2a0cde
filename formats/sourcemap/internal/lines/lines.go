// Package lines tells lines and columns of texts as source maps count them.
package lines

import (
	"encoding/binary"
	"unicode/utf8"
)

// Counter tells lines and columns of a text, front to back. Both count from 0, columns in UTF-16 units. A line ends with
// "\n", "\r\n" or "\r".
type Counter struct {
	text         []byte
	at           int
	line, column uint32
}

// NewCounter returns a counter at the beginning of text, which it keeps.
func NewCounter(text []byte) *Counter { return &Counter{text: text} }

// Of returns the line, shifted left by 32 bits, and the column of an offset, which is none before the last one asked for.
// Offsets behind the text's end have the place of its end.
func (c *Counter) Of(offset int) uint64 {
	const each = 0x0101010101010101
	offset = min(offset, len(c.text))
	for c.at < offset {
		if c.at+8 <= offset {
			// Eight bytes that are ASCII and end no line: none is below 0x0e.
			if b := binary.LittleEndian.Uint64(c.text[c.at:]); (b|(b-each*0x0e)&^b)&(each*0x80) == 0 {
				c.at, c.column = c.at+8, c.column+8
				continue
			}
		}
		switch b := c.text[c.at]; {
		case b == '\n', b == '\r' && (c.at+1 == len(c.text) || c.text[c.at+1] != '\n'):
			c.line, c.column, c.at = c.line+1, 0, c.at+1
		case b < utf8.RuneSelf:
			c.column, c.at = c.column+1, c.at+1
		default:
			r, n := utf8.DecodeRune(c.text[c.at:])
			if c.column++; r > 0xffff {
				c.column++
			}
			c.at += n
		}
	}
	return uint64(c.line)<<32 | uint64(c.column)
}
