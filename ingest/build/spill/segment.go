package spill

import (
	"encoding/binary"

	"github.com/symlake/symlake/sinks/scratch"
)

// segment is a sorted piece on disk: records of length, start, order (varints)
// and encoded run, cut into pages wherever they fill up.
type segment struct {
	pages []int64
	bytes int64
}

type writer struct {
	f    *scratch.File
	seg  segment
	page []byte
}

func newWriter(f *scratch.File) *writer {
	return &writer{f: f, page: make([]byte, 0, scratch.PageBytes)}
}

func (w *writer) add(c *cursor) error {
	var head [3 * binary.MaxVarintLen64]byte
	b := binary.AppendUvarint(head[:0], uint64(len(c.body)))
	b = binary.AppendUvarint(b, c.start)
	b = binary.AppendUvarint(b, uint64(c.order))
	if err := w.write(b); err != nil {
		return err
	}
	return w.write(c.body)
}

func (w *writer) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), scratch.PageBytes-len(w.page))
		w.page = append(w.page, b[:n]...)
		b = b[n:]
		if len(w.page) == scratch.PageBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) flush() error {
	if len(w.page) == 0 {
		return nil
	}
	n, err := w.f.Append(w.page)
	if err != nil {
		return err
	}
	w.seg.pages = append(w.seg.pages, n)
	w.seg.bytes += int64(len(w.page))
	w.page = w.page[:0]
	return nil
}

type reader struct {
	f    *scratch.File
	seg  segment
	left int64  // bytes of the segment not yet in page
	page []byte // the unread rest of the page
	full []byte // the page's memory
	body []byte // a run that crosses pages
}

func newReader(f *scratch.File, s segment) *reader {
	return &reader{f: f, seg: s, left: s.bytes, full: make([]byte, scratch.PageBytes)}
}

func (r *reader) next(c *cursor) (bool, error) {
	if r.left == 0 && len(r.page) == 0 {
		return false, nil
	}
	var head [3]uint64
	for i := range head {
		v, err := binary.ReadUvarint(r)
		if err != nil {
			return false, err
		}
		head[i] = v
	}
	c.start, c.order = head[1], Order(head[2])
	n := int(head[0])
	if n <= len(r.page) {
		c.body, r.page = r.page[:n:n], r.page[n:]
		return true, nil
	}
	r.body = resize(r.body, n)
	for to := r.body; len(to) > 0; {
		if len(r.page) == 0 {
			if err := r.fill(); err != nil {
				return false, err
			}
		}
		k := copy(to, r.page)
		to, r.page = to[k:], r.page[k:]
	}
	c.body = r.body
	return true, nil
}

func (r *reader) fill() error {
	if len(r.seg.pages) == 0 {
		return errDecode
	}
	n := min(r.left, scratch.PageBytes)
	r.page = r.full[:n]
	if err := r.f.Read(r.seg.pages[0], r.page); err != nil {
		return err
	}
	r.left -= n
	r.seg.pages = r.seg.pages[1:]
	return nil
}

// ReadByte makes a reader an io.ByteReader.
func (r *reader) ReadByte() (byte, error) {
	if len(r.page) == 0 {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	b := r.page[0]
	r.page = r.page[1:]
	return b, nil
}

// spill writes what the lane holds as one segment and forgets it.
func (l *Lane) spill() error {
	f, err := l.s.scratchFile()
	if err != nil {
		return err
	}
	l.sort()
	if err := l.write(f, l.cursors()); err != nil {
		return err
	}
	l.s.o.Budget.Give(l.held)
	l.refs, l.chunks, l.held = nil, nil, 0
	if len(l.sorted) < fanIn {
		return nil
	}
	var all []*cursor
	for _, s := range l.sorted {
		all = append(all, &cursor{seg: newReader(f, s)})
	}
	l.sorted = nil
	return l.write(f, all)
}

// write merges cursors into one segment.
func (l *Lane) write(f *scratch.File, from []*cursor) error {
	var h heap
	for _, c := range from {
		if err := h.push(c); err != nil {
			return err
		}
	}
	w := newWriter(f)
	for len(h) > 0 {
		if err := w.add(h[0]); err != nil {
			return err
		}
		if err := h.pop(); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	l.sorted = append(l.sorted, w.seg)
	l.s.spilled.Add(w.seg.bytes)
	return nil
}
