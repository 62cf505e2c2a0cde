// Package input reads the text of an input in lines, and in UTF-8.
package input

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// plainWindow is how many bytes ahead Reader looks for bytes that make a line odd, at most.
const plainWindow = 2 << 10

// HeadBytes of an input tell how it is encoded, and whether it is a file that is no text.
const HeadBytes = 64

// Buffered returns a reader of lines of up to scan.MaxLineBytes. A text in memory that is shorter needs no more room than itself.
func Buffered(r io.Reader) *bufio.Reader {
	size := scan.MaxLineBytes
	switch r := r.(type) {
	case *bytes.Reader:
		size = min(size, r.Len()+1)
	case *strings.Reader:
		size = min(size, r.Len()+1)
	}
	return bufio.NewReaderSize(r, max(size, HeadBytes))
}

// Reader cuts an input into lines, as scan.NextLine ends them.
type Reader struct {
	In *bufio.Reader

	plain int // so many of the next bytes are ASCII without "\r" and "\\"
}

// Piece is a line with its line end, or a part of a line that is longer than the reader's buffer. The last line of an
// input may have no line end. Its bytes are valid until the next piece is read.
type Piece struct {
	Bytes        []byte
	Begins, Ends bool // a line
	Odd          bool // there are bytes beyond ASCII, "\r" or "\\"
	Last         bool // of the input
}

// Next reads the piece behind p into p. Bytes come with a nil error.
func (l *Reader) Next(p *Piece) error {
	p.Begins, p.Ends, p.Odd = p.Ends, true, true
	var err error
	for seen := 0; ; {
		p.Bytes, _ = l.In.Peek(l.In.Buffered())
		if seen == 0 && l.isPlain(p.Bytes) {
			p.Bytes, p.Odd = p.Bytes[:bytes.IndexByte(p.Bytes, '\n')+1], false
			break
		}
		if n := scan.NextLine(p.Bytes[seen:]); n > 0 {
			p.Bytes = p.Bytes[:seen+n]
			break
		}
		if len(p.Bytes) == l.In.Size() {
			p.Ends = false
			break
		}
		seen = len(bytes.TrimRight(p.Bytes, "\r"))
		if _, err = l.In.Peek(len(p.Bytes) + 1); err != nil {
			p.Bytes, _ = l.In.Peek(l.In.Buffered())
			p.Last = true
			break
		}
	}
	_, _ = l.In.Discard(len(p.Bytes)) // they are buffered
	l.plain -= min(l.plain, len(p.Bytes))
	if len(p.Bytes) > 0 {
		return nil
	}
	return err
}

// isPlain reports whether b begins with a whole line that is not odd.
func (l *Reader) isPlain(b []byte) bool {
	end := bytes.IndexByte(b[:min(len(b), plainWindow)], '\n') + 1
	if end > l.plain {
		l.plain = plainBytes(b[:min(len(b), plainWindow)])
	}
	return end > 0 && end <= l.plain
}

// plainBytes returns how many bytes of b stand before the first that makes its line odd.
func plainBytes(b []byte) int {
	for _, c := range []byte("\r\\") {
		if at := bytes.IndexByte(b, c); at >= 0 {
			b = b[:at]
		}
	}
	for i, c := range b {
		if c >= 0x80 {
			return i
		}
	}
	return len(b)
}
