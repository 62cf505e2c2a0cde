package archive

import (
	"bufio"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// lazy is a compressed member. It is inflated from its start as far as the
// head, and spooled whole only when Fetch or a read beyond the head asks.
type lazy struct {
	ctx    context.Context
	parent *formats.Input // its Spool and limits count
	name   string
	size   int64 // as the archive says; -1: it does not
	// open starts inflating; done gives back what that took, once.
	open func() (r io.Reader, done func(), err error)

	mu    sync.Mutex
	r     io.Reader // nil: not started, or at its end
	done  func()
	head  []byte
	ended bool // head is all there is
	whole *formats.Input
	err   error // sticky
}

// input makes the member's input. If the archive does not say the member's size,
// input reads to the end of its head.
func (l *lazy) input() (*formats.Input, error) {
	in := *l.parent
	in.Name, in.Size, in.Bytes, in.Mapped = l.parent.Name+"!"+l.name, l.size, l, nil
	if l.size < 0 {
		l.mu.Lock()
		err := l.fill(formats.HeadBytes)
		l.mu.Unlock()
		if err != nil {
			return nil, errors.Join(err, l.release())
		}
		in.Size = int64(len(l.head))
	}
	in.Fetch = func(ctx context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.spool(ctx); err != nil {
			return err
		}
		in.Size, in.Bytes, in.Mapped = l.whole.Size, l.whole.Bytes, l.whole.Mapped
		return nil
	}
	in.Release = l.release
	return &in, nil
}

// ReadAt is safe for concurrent use.
func (l *lazy) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("archive: negative offset")
	}
	l.mu.Lock()
	end := off + int64(len(b))
	if l.whole == nil && end <= formats.HeadBytes {
		defer l.mu.Unlock()
		if err := l.fill(int(end)); err != nil {
			return 0, err
		}
		n := 0
		if off < int64(len(l.head)) {
			n = copy(b, l.head[off:])
		}
		if n < len(b) {
			return n, io.EOF
		}
		return n, nil
	}
	err := l.spool(l.ctx)
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return l.whole.Bytes.ReadAt(b, off)
}

// fill inflates until head holds n bytes or the member ends. Called locked.
func (l *lazy) fill(n int) error {
	if l.err != nil || l.ended || len(l.head) >= n {
		return l.err
	}
	if l.r == nil {
		if l.r, l.done, l.err = l.open(); l.err != nil {
			return l.err
		}
	}
	have := len(l.head)
	if cap(l.head) < n {
		l.head = append(make([]byte, 0, n), l.head...)
	}
	got, err := io.ReadFull(l.r, l.head[have:n])
	l.head = l.head[:have+got]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		l.ended, err = true, nil
	}
	l.err = err
	return err
}

// spool brings the whole member into reach. Called locked.
func (l *lazy) spool(ctx context.Context) error {
	if l.err != nil || l.whole != nil {
		return l.err
	}
	if err := l.fill(0); err != nil {
		return err
	}
	if l.r == nil {
		if l.r, l.done, l.err = l.open(); l.err != nil {
			return l.err
		}
	}
	stream := &spoolReader{ctx: ctx, l: l}
	whole, err := l.parent.Spool(l.name, l.size, stream)
	if err != nil {
		// Scratch that is full or a canceled job says nothing about the
		// member, but its stream is used up either way.
		l.err = err
		return err
	}
	l.whole, l.head = whole, nil
	l.stop()
	return nil
}

// release gives back the spooled bytes and the inflater.
func (l *lazy) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	whole := l.whole
	l.whole, l.head = nil, nil
	if l.err == nil {
		l.err = errors.New("archive: member " + l.name + " was released")
	}
	if whole != nil && whole.Release != nil {
		return whole.Release()
	}
	return nil
}

func (l *lazy) stop() {
	l.r = nil
	if l.done != nil {
		l.done()
		l.done = nil
	}
}

// spoolReader is the member from its first byte: the head that was read
// already, then the rest.
type spoolReader struct {
	ctx context.Context
	l   *lazy
	n   int // of head
}

func (s *spoolReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.n < len(s.l.head) {
		n := copy(p, s.l.head[s.n:])
		s.n += n
		return n, nil
	}
	if s.l.ended {
		return 0, io.EOF
	}
	return s.l.r.Read(p)
}

// inflating is a decompressor's output with its errors told apart: errors of the
// archive's reader come unchanged, all others are damage behind off.
type inflating struct {
	r       io.Reader
	src     *upstream.Reader
	buf     *bufio.Reader // of src, as r reads it; nil: what has been read does not tell where r is
	form    string
	section string
	off     int64
	// size and sum are compared at the end when size >= 0.
	size int64
	sum  uint32
	n    int64
	crc  uint32
}

func (d *inflating) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.n += int64(n)
	if d.size >= 0 {
		d.crc = crc32.Update(d.crc, crc32.IEEETable, p[:n])
		switch {
		case d.n > d.size, err == io.EOF && d.n < d.size:
			return n, bad(d.form, d.section, d.off, "the number of bytes the directory says", formats.ErrCorrupt)
		case d.n == d.size && (err == nil || err == io.EOF) && d.crc != d.sum:
			return n, bad(d.form, d.section, d.off, "bytes with the checksum of the directory", formats.ErrCorrupt)
		}
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, damage(d.form, d.section, d.off+consumed(d.src, d.buf), d.src, err)
}

// consumed is how far into src a decoder is that reads it through buf, in bytes.
func consumed(src *upstream.Reader, buf *bufio.Reader) int64 {
	if buf == nil {
		return 0
	}
	return src.N - int64(buf.Buffered())
}

// damage is a decompressor's error as ours.
func damage(form, section string, off int64, src *upstream.Reader, err error) error {
	if src.Err != nil {
		return src.Err
	}
	kind := formats.ErrCorrupt
	if tooMuch(err) {
		kind = formats.ErrLimit
	}
	return bad(form, section, off, "compressed data ("+err.Error()+")", kind)
}
