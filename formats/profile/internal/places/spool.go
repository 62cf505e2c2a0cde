package places

import (
	"bufio"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/symlake/symlake/formats/profile"
)

// placeBytes is a place in a file: image and address, big-endian.
const placeBytes = 12

// errNoRoom says that places exceed their memory, and that they have no file.
var errNoRoom = errors.New("more places than memory holds, and no room on disk for them")

// Spool is distinct places without ids. It sorts them into runs of a file when they exceed its room. One goroutine.
type Spool struct {
	set  *Set
	room int64
	make func() (profile.Scratch, error)
	file profile.Scratch
	size int64
	runs []*run
}

// NewSpool returns an empty spool that takes room bytes at most. scratch makes its file; nil: none can be made. Close ends it.
func NewSpool(room int64, scratch func() (profile.Scratch, error)) *Spool {
	return &Spool{set: New(room), room: room, make: scratch}
}

// Add adds a place. The error is of the file, or says that there is none.
func (s *Spool) Add(p Place) error {
	if _, ok := s.set.Add(p); ok {
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	if _, ok := s.set.Add(p); !ok {
		return errNoRoom
	}
	return nil
}

// spill writes the places as a run.
func (s *Spool) spill() (err error) {
	if s.make == nil || s.set.n == 0 {
		return errNoRoom
	}
	if s.file == nil {
		file, err := s.make()
		if err != nil {
			return err // file may be a nil pointer, which is no nil
		}
		s.file = file
	}
	from := s.size
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, from), 64<<10)
	var b [placeBytes]byte
	for _, p := range s.set.order() {
		binary.BigEndian.PutUint32(b[:], p.image)
		binary.BigEndian.PutUint64(b[4:], p.address)
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	s.size += int64(s.set.n) * placeBytes
	s.runs = append(s.runs, &run{file: io.NewSectionReader(s.file, from, s.size-from)})
	s.set.clear()
	return w.Flush()
}

// Ask asks for all places, each once. The error is of the file, of o.Ask or of Asking.Answer.
func (s *Spool) Ask(ctx context.Context, o *profile.Options, how Asking) error {
	if len(s.runs) == 0 {
		return s.set.Ask(ctx, o, how)
	}
	if s.set.n > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.set = New(s.room) // its memory goes to the runs
	merged := make(merge, 0, len(s.runs))
	each := max(spoolPlaces*placeBytes, min(64<<10, int(s.room)/len(s.runs)))
	for _, r := range s.runs {
		r.from = bufio.NewReaderSize(r.file, each)
		if err := r.next(); err != nil {
			return err
		}
		merged = append(merged, r)
	}
	heap.Init(&merged)
	b := batch{Asking: how}
	for first, last := true, (Place{}); len(merged) > 0; first = false {
		r := merged[0]
		p := r.at
		switch err := r.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(&merged)
		case err != nil:
			return err
		default:
			heap.Fix(&merged, 0)
		}
		if !first && p == last {
			continue
		}
		last = p
		if err := b.add(ctx, o, None, p); err != nil {
			return err
		}
	}
	s.runs = nil
	return b.flush(ctx, o)
}

// Close removes the file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// run is sorted places of the file.
type run struct {
	file *io.SectionReader
	from *bufio.Reader
	at   Place // the next one
}

// next reads the next place; the error is io.EOF behind the last.
func (r *run) next() error {
	var b [placeBytes]byte
	if _, err := io.ReadFull(r.from, b[:]); err != nil {
		return err
	}
	r.at = Place{binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint64(b[4:])}
	return nil
}

// merge is runs by their next place.
type merge []*run

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, k int) bool { return compare(m[i].at, m[k].at) < 0 }
func (m merge) Swap(i, k int)      { m[i], m[k] = m[k], m[i] }
func (m *merge) Push(r any)        { *m = append(*m, r.(*run)) }

func (m *merge) Pop() any {
	r := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return r
}
