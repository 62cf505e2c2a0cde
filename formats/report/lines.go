package report

import (
	"bufio"
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// lineReader cuts an input into lines, as scan.NextLine ends them.
type lineReader struct{ in *bufio.Reader }

// next returns the next line with its line end. ends is false for a piece of a line that is longer than the
// reader's buffer. Bytes come with a nil error; the last ones may have no line end. The line is valid until the
// next call.
func (l lineReader) next() (line []byte, ends bool, err error) {
	for seen := 0; ; {
		line, _ = l.in.Peek(l.in.Buffered())
		if n := scan.NextLine(line[seen:]); n > 0 {
			line, ends = line[:seen+n], true
			break
		}
		if len(line) == l.in.Size() {
			break
		}
		seen = len(bytes.TrimRight(line, "\r"))
		if _, err = l.in.Peek(len(line) + 1); err != nil {
			line, _ = l.in.Peek(l.in.Buffered())
			ends = true
			break
		}
	}
	_, _ = l.in.Discard(len(line)) // they are buffered
	if len(line) > 0 {
		err = nil
	}
	return line, ends, err
}
