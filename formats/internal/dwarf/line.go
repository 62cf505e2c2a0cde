package dwarf

import (
	"slices"
)

// Lines runs the line number program of the open unit. keep tells of each
// sequence whether it is code of the image. A row that says what the one before
// it says is left out, unless repeats are asked for: of interest is then which
// addresses have rows. An error is one of the input, or of limits: damage is
// counted in Broken.
func (r *Reader) Lines(keep func(low, high uint64) bool, repeats bool) (*Lines, error) {
	l := &r.line
	l.repeats = repeats
	if err := r.lineHeader(); err != nil || l.header.bad {
		return &l.Lines, err
	}
	h := &l.header
	if err := r.home.charge(&r.home.line, h.program, int(h.end-h.program)); err != nil {
		return nil, err
	}
	l.prepare()
	l.reserve(int(h.end - h.program))
	l.begin()
	s := &r.home.line
	var err error
	for off := h.program; off < h.end && err == nil; {
		b := s.b
		final := true
		if b != nil {
			b = b[off:h.end:h.end]
		} else {
			n := min(h.end-off, windowBytes)
			if uint64(cap(l.room)) < n {
				l.room = make([]byte, n)
			}
			if b = r.readAt(s, off, l.room[:n]); b == nil {
				return nil, r.err
			}
			final = off+n == h.end
		}
		var n int
		n, err = l.run(b, off, final, r.home, keep)
		off += uint64(n)
	}
	if len(l.rows) > l.start || err != nil {
		l.rows = l.rows[:l.start] // a sequence without an end
		l.Broken++
	}
	l.order()
	return &l.Lines, nil
}

// order sorts the sequences and cuts overlapping ones.
func (l *Lines) order() {
	s := l.Sequences
	less := func(a, b Sequence) int {
		switch {
		case a.Low < b.Low || a.Low == b.Low && a.first < b.first:
			return -1
		case a.Low > b.Low || a.Low == b.Low && a.first > b.first:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(s, less) {
		slices.SortFunc(s, less)
	}
	n, end := 0, uint64(0)
	for i := range s {
		s[i].Low = max(s[i].Low, end)
		if s[i].Low < s[i].High {
			end = s[i].High
			s[n] = s[i]
			n++
		}
	}
	l.Sequences = s[:n]
}
