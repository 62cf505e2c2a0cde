package report

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// plainWindow is how many bytes ahead lineReader looks for bytes that make a line odd, at most.
const plainWindow = 2 << 10

// buffered reads lines of up to MaxLineBytes. A text in memory that is shorter needs no more room than itself.
func buffered(r io.Reader) *bufio.Reader {
	size := MaxLineBytes
	switch r := r.(type) {
	case *bytes.Reader:
		size = min(size, r.Len()+1)
	case *strings.Reader:
		size = min(size, r.Len()+1)
	}
	return bufio.NewReaderSize(r, max(size, fileBytes))
}

// lineReader cuts an input into lines, as scan.NextLine ends them.
type lineReader struct {
	in    *bufio.Reader
	plain int // so many of the next bytes are ASCII without "\r" and "\\"
}

// piece is a line with its line end, or a part of a line that is longer than the reader's buffer. The last line of an
// input may have no line end. Its bytes are valid until the next piece is read.
type piece struct {
	bytes        []byte
	begins, ends bool // a line
	odd          bool // there are bytes beyond ASCII, "\r" or "\\"
	last         bool // of the input
}

// next reads the piece behind p into p. Bytes come with a nil error.
func (l *lineReader) next(p *piece) error {
	p.begins, p.ends, p.odd = p.ends, true, true
	var err error
	for seen := 0; ; {
		p.bytes, _ = l.in.Peek(l.in.Buffered())
		if seen == 0 && l.isPlain(p.bytes) {
			p.bytes, p.odd = p.bytes[:bytes.IndexByte(p.bytes, '\n')+1], false
			break
		}
		if n := scan.NextLine(p.bytes[seen:]); n > 0 {
			p.bytes = p.bytes[:seen+n]
			break
		}
		if len(p.bytes) == l.in.Size() {
			p.ends = false
			break
		}
		seen = len(bytes.TrimRight(p.bytes, "\r"))
		if _, err = l.in.Peek(len(p.bytes) + 1); err != nil {
			p.bytes, _ = l.in.Peek(l.in.Buffered())
			p.last = true
			break
		}
	}
	_, _ = l.in.Discard(len(p.bytes)) // they are buffered
	l.plain -= min(l.plain, len(p.bytes))
	if len(p.bytes) > 0 {
		return nil
	}
	return err
}

// isPlain reports whether b begins with a whole line that is not odd.
func (l *lineReader) isPlain(b []byte) bool {
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
