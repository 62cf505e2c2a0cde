package r8

import (
	"bytes"
	"context"

	"github.com/symlake/symlake/formats"
)

// windowBytes is how much text is read at once where the input is not in memory.
const windowBytes = 1 << 20

// lines walks the lines of an input from an offset on. Lines stay valid after the next: a window
// is never written again.
type lines struct {
	in   *formats.Input
	data []byte // the window
	base int64  // where it stands in the input
	at   int    // in data: the line that is next
	most int    // bytes of a line
}

func newLines(in *formats.Input, off int64) *lines {
	l := &lines{in: in, base: off, most: int(in.Limits.LineBytes)}
	if in.Mapped != nil {
		l.data, l.base, l.at = in.Mapped, 0, int(off)
	}
	return l
}

// next gives a line without its end, and its offset. long says that the line is longer than the limit: then it is
// its beginning. ok is false at the end of the input.
func (l *lines) next(ctx context.Context) (line []byte, off int64, long, ok bool, err error) {
	rest := l.data[l.at:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 && l.base+int64(len(l.data)) < l.in.Size {
		if n, err = l.fill(ctx); err != nil {
			return nil, 0, false, false, err
		}
		rest = l.data[l.at:]
	}
	off = l.base + int64(l.at)
	if n < 0 {
		if n = len(rest); n == 0 {
			return nil, off, false, false, nil
		}
		l.at = len(l.data)
	} else {
		l.at += n + 1
	}
	if n > l.most {
		return rest[:l.most], off, true, true, nil
	}
	return rest[:n], off, false, true, nil
}

// fill reads on until the window holds the end of the line, or more of it than a line may have, whose rest is passed
// over; n is the length of the line, -1 if the input ends first.
func (l *lines) fill(ctx context.Context) (n int, err error) {
	from := l.base + int64(l.at)
	for size := int64(windowBytes); ; size *= 2 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		size = min(size, l.in.Size-from)
		if l.data, err = l.in.View(from, size); err != nil {
			return 0, err
		}
		l.base, l.at = from, 0
		if n = bytes.IndexByte(l.data, '\n'); n >= 0 || from+size == l.in.Size {
			return n, nil
		}
		if size > int64(l.most) {
			break
		}
	}
	// Too long: its beginning is kept as a line of its own, what follows is skipped window by window.
	head := l.data[: l.most+1 : l.most+1]
	for end := l.base + int64(len(l.data)); end < l.in.Size; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		w, err := l.in.View(end, min(windowBytes, l.in.Size-end))
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			l.data, l.base, l.at = append(head, w[i:]...), end+int64(i)-int64(len(head)), 0
			return len(head), nil
		}
		end += int64(len(w))
	}
	l.data, l.base, l.at = head, l.in.Size-int64(len(head)), 0
	return -1, nil
}
