// Package lines tells lines and columns of texts as source maps count them.
package lines

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Counter tells lines and columns of a text, front to back. Both count from 0, columns in UTF-16 units. A line ends with
// "\n", "\r\n" or "\r".
type Counter struct {
	text         []byte
	at           int
	line, column uint32
	end          int  // of the line, where its "\n" stands
	returns      bool // a "\r" alone ends a line
}

// NewCounter returns a counter at the beginning of text, which it keeps.
func NewCounter(text []byte) *Counter {
	c := &Counter{text: text}
	for at := 0; !c.returns; {
		n := bytes.IndexByte(text[at:], '\r')
		if n < 0 {
			break
		}
		at += n + 1
		c.returns = at == len(text) || text[at] != '\n'
	}
	c.end = c.lineEnd()
	return c
}

// lineEnd gives where the next "\n" stands, or the text ends.
func (c *Counter) lineEnd() int {
	if n := bytes.IndexByte(c.text[c.at:], '\n'); n >= 0 {
		return c.at + n
	}
	return len(c.text)
}

// Of returns the line, shifted left by 32 bits, and the column of an offset, which is none before the last one asked for.
// Offsets behind the text's end have the place of its end.
func (c *Counter) Of(offset int) uint64 {
	offset = min(offset, len(c.text))
	for c.end < offset {
		if c.returns {
			c.count(c.end)
		}
		c.at, c.line, c.column = c.end+1, c.line+1, 0
		c.end = c.lineEnd()
	}
	c.count(offset)
	return uint64(c.line)<<32 | uint64(c.column)
}

// count goes on to offset in the line.
func (c *Counter) count(offset int) {
	const ascii = 0x8080808080808080
	for c.at < offset {
		if c.at+8 <= len(c.text) && !c.returns {
			n := min(offset-c.at, 8)
			if b := binary.LittleEndian.Uint64(c.text[c.at:]); b<<(64-8*n)&ascii == 0 {
				c.at, c.column = c.at+n, c.column+uint32(n)
				continue
			}
		}
		switch b := c.text[c.at]; {
		case b == '\r' && (c.at+1 == len(c.text) || c.text[c.at+1] != '\n'):
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
}
