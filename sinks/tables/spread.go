package tables

import (
	"encoding/binary"

	"github.com/symlake/symlake/sinks/scratch"
)

const (
	// spreadRows end a bucket.
	spreadRows = 1 << 20
	entryBytes = 8
	// numberBytes is what the answer of a row takes.
	numberBytes = 4
)

// newNumbers makes room for the answers of all rows, in memory or else in scratch.
func (u *unit) newNumbers() error {
	if _, err := u.answer.Add(nil); err != nil { // number 0 is none
		return err
	}
	if u.budget.Take(u.rows() * numberBytes) {
		for i := range u.segments {
			u.segments[i].numbers = make([]uint32, u.segments[i].rows)
		}
		return nil
	}
	if _, err := u.scratch(); err != nil {
		return err
	}
	s := &spread{}
	for i := range u.segments {
		last := len(s.buckets) - 1
		if last < 0 || s.buckets[last].rows >= spreadRows {
			s.buckets = append(s.buckets, bucketRows{})
			last++
		}
		b := &s.buckets[last]
		s.of, s.base = append(s.of, int32(last)), append(s.base, uint32(b.rows))
		b.rows += u.segments[i].rows
		b.left++
	}
	u.spread = s
	return nil
}

// spreader is the page being filled of each bucket, for one worker.
type spreader struct{ pages [][]byte }

// put notes the answer of a row.
func (u *unit) put(w *spreader, segment, row, number uint32) error {
	if u.spread == nil {
		u.segments[segment].numbers[row] = number
		return nil
	}
	if w.pages == nil {
		w.pages = make([][]byte, len(u.spread.buckets))
	}
	k := u.spread.of[segment]
	if w.pages[k] == nil {
		w.pages[k] = make([]byte, 0, scratch.PageBytes)
	}
	b := binary.LittleEndian.AppendUint32(w.pages[k], u.spread.base[segment]+row)
	w.pages[k] = binary.LittleEndian.AppendUint32(b, number)
	if len(w.pages[k])+entryBytes > scratch.PageBytes {
		return u.flushPage(w, int(k))
	}
	return nil
}

func (u *unit) flushPage(w *spreader, k int) error {
	at, err := u.file.Append(w.pages[k])
	if err != nil {
		return err
	}
	b := &u.spread.buckets[k]
	b.mu.Lock()
	b.pages = append(b.pages, page{at, len(w.pages[k])})
	b.mu.Unlock()
	u.j.spilled.Add(int64(len(w.pages[k])))
	w.pages[k] = w.pages[k][:0]
	return nil
}

// flush writes the pages that a worker still holds.
func (u *unit) flush(w *spreader) error {
	for k := range w.pages {
		if len(w.pages[k]) > 0 {
			if err := u.flushPage(w, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// take returns the answers of a segment. Call it once a segment.
func (u *unit) take(segment uint32) ([]uint32, error) {
	s := &u.segments[segment]
	if u.spread == nil {
		n := s.numbers
		s.numbers = nil
		u.budget.Give(int64(len(n)) * numberBytes)
		return n, nil
	}
	b := &u.spread.buckets[u.spread.of[segment]]
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = make([]uint32, b.rows)
		room := make([]byte, scratch.PageBytes)
		for _, p := range b.pages {
			if err := u.file.Read(p.at, room[:p.size]); err != nil {
				return nil, err
			}
			for e := room[:p.size]; len(e) > 0; e = e[entryBytes:] {
				b.all[binary.LittleEndian.Uint32(e)] = binary.LittleEndian.Uint32(e[4:])
			}
		}
	}
	from := u.spread.base[segment]
	n := b.all[from : int(from)+s.rows : int(from)+s.rows]
	if b.left--; b.left == 0 {
		b.all = nil
	}
	return n, nil
}
