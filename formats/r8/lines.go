package r8

import (
	"bytes"
	"context"
	"hash"
	"io"

	"github.com/symlake/symlake/formats"
)

// windowBytes is how much text is read at once: what stays in the processor's cache.
const windowBytes = 256 << 10

// lines walks the lines of an input from an offset on, window by window; where the input is in memory, a window is a piece
// of that. A line stays valid until release.
type lines struct {
	in    *formats.Input
	data  []byte // the window
	base  int64  // where it stands in the input
	at    int    // in data: the line that is next
	most  int    // bytes of a line
	spent [][]byte
	free  [][]byte  // that are read into; none where windows are pieces of the input
	sum   hash.Hash // of all that was read, unless nil
	taken int64     // up to there
}

func newLines(in *formats.Input, off int64) *lines {
	return &lines{in: in, base: off, most: int(in.Limits.LineBytes)}
}

// release gives up all lines but the one read last.
func (l *lines) release() {
	if len(l.spent) > 0 {
		l.give(l.spent...)
		l.spent = l.spent[:0]
	}
}

// give has windows read into again, unless they are the input's own memory.
func (l *lines) give(windows ...[]byte) {
	if l.in.Mapped == nil {
		l.free = append(l.free, windows...)
	}
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
	if line = rest[:n]; off == 0 {
		line = bytes.TrimPrefix(line, mark)
	}
	return line, off, false, true, nil
}

// window reads up to size bytes at off; those before the end of the input are all there.
func (l *lines) window(ctx context.Context, off int64, size int) (b []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m := l.in.Mapped; m != nil {
		b = m[off:min(off+int64(size), l.in.Size)]
		l.add(b, off)
		return b, nil
	}
	if n := len(l.free); n > 0 && cap(l.free[n-1]) >= size {
		b, l.free = l.free[n-1], l.free[:n-1]
	} else {
		b = make([]byte, max(size, int(min(windowBytes, l.in.Size))))
	}
	b = b[:min(int64(size), l.in.Size-off)]
	if got, err := l.in.Bytes.ReadAt(b, off); got < len(b) {
		if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, &formats.Error{Format: name, Offset: off + int64(got), Want: "more bytes than there are", Err: formats.ErrCorrupt}
		}
		return nil, err
	}
	l.add(b, off)
	return b, nil
}

// add adds a window to the sum. Windows begin with what the ones before ended in.
func (l *lines) add(b []byte, off int64) {
	if end := off + int64(len(b)); l.sum != nil && end > l.taken {
		l.sum.Write(b[l.taken-off:])
		l.taken = end
	}
}

// members passes the lines of the window that are about members, and says how many.
func (l *lines) members() (n int) {
	b := l.data[l.at:]
	for {
		i := 0
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		if i == 0 || i == len(b) || b[i] == '#' || b[i] == '\n' || b[i] == '\r' {
			break
		}
		end := bytes.IndexByte(b[i:], '\n')
		if end < 0 || i+end > l.most {
			break
		}
		b = b[i+end+1:]
		n++
	}
	l.at = len(l.data) - len(b)
	return n
}

// fill reads on until the window holds the end of the line, or more bytes than a line may have: then it skips the
// rest. n is the length of the line, -1 if the input ends first.
func (l *lines) fill(ctx context.Context) (n int, err error) {
	from := l.base + int64(l.at)
	for size := windowBytes; ; size *= 2 {
		b, err := l.window(ctx, from, size)
		if err != nil {
			return 0, err
		}
		l.set(b, from)
		if n = bytes.IndexByte(b, '\n'); n >= 0 || from+int64(len(b)) == l.in.Size {
			return n, nil
		}
		if size > l.most {
			break
		}
	}
	// Too long: its beginning is kept as a line of its own, the rest is passed over window by window.
	head := l.data[:l.most+1]
	for end := l.base + int64(len(l.data)); end < l.in.Size; {
		w, err := l.window(ctx, end, windowBytes)
		if err != nil {
			return 0, err
		}
		i := bytes.IndexByte(w, '\n')
		end += int64(len(w))
		l.give(w)
		if i >= 0 {
			b := append(bytes.Clone(head), w[i:]...)
			l.set(b, end-int64(len(b)))
			return len(head), nil
		}
	}
	l.set(bytes.Clone(head), l.in.Size-int64(len(head)))
	return -1, nil
}

// set makes b, which begins at base, the window.
func (l *lines) set(b []byte, base int64) {
	if len(l.data) > 0 {
		l.spent = append(l.spent, l.data)
	}
	l.data, l.base, l.at = b, base, 0
}
