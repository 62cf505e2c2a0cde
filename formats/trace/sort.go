package trace

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/symlake/symlake/formats"
)

// SortBytes is the memory for records at hand, unless Options say else; what is more goes to scratch in sorted
// runs.
const SortBytes = 24 << 20

const recordBytes = 40

// record is a stretch of time on a track, a moment, or a counter's value.
type record struct {
	track, name     int32
	start, end, seq int64
	value           float64
}

// compare orders by track, start, the longer before the shorter, and as they came.
func (a *record) compare(b *record) int {
	return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.seq, b.seq))
}

// sorter sorts records in bounded memory.
type sorter struct {
	scratch func() (Scratch, error)
	bytes   int // for at
	at      []record
	file    Scratch
	runs    []int64 // where each ends
}

func (s *sorter) add(r record) error {
	if len(s.at) == s.bytes/recordBytes {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.at = append(s.at, r)
	return nil
}

func (s *sorter) sort() {
	slices.SortFunc(s.at, func(a, b record) int { return a.compare(&b) })
}

// spill writes the records at hand as a run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.scratch == nil {
			return &formats.Error{Format: "chrome", Want: "fewer events, without scratch", Err: formats.ErrLimit}
		}
		if s.file, err = s.scratch(); err != nil {
			return err
		}
	}
	s.sort()
	w := bufio.NewWriterSize(s.file, 256<<10)
	var b [recordBytes]byte
	for i := range s.at {
		s.at[i].encode(&b)
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	end := int64(len(s.at)) * recordBytes
	if n := len(s.runs); n > 0 {
		end += s.runs[n-1]
	}
	s.runs = append(s.runs, end)
	s.at = s.at[:0]
	return nil
}

func (r *record) encode(b *[recordBytes]byte) {
	binary.LittleEndian.PutUint32(b[0:], uint32(r.track))
	binary.LittleEndian.PutUint32(b[4:], uint32(r.name))
	binary.LittleEndian.PutUint64(b[8:], uint64(r.start))
	binary.LittleEndian.PutUint64(b[16:], uint64(r.end))
	binary.LittleEndian.PutUint64(b[24:], uint64(r.seq))
	binary.LittleEndian.PutUint64(b[32:], math.Float64bits(r.value))
}

func (r *record) decode(b []byte) {
	r.track, r.name = int32(u32(b)), int32(u32(b[4:]))
	r.start, r.end, r.seq = int64(u64(b[8:])), int64(u64(b[16:])), int64(u64(b[24:]))
	r.value = math.Float64frombits(u64(b[32:]))
}

// each gives the records in order.
func (s *sorter) each(f func(record) error) error {
	if s.file == nil {
		s.sort()
		for _, r := range s.at {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.at = nil
	m := make(merge, 0, len(s.runs))
	share := min(max(s.bytes/len(s.runs), 4<<10), 256<<10)
	from := int64(0)
	for _, end := range s.runs {
		run := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, end-from), share)}
		from = end
		if more, err := run.next(); err != nil {
			return err
		} else if more {
			m = append(m, run)
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		if err := f(m[0].record); err != nil {
			return err
		}
		more, err := m[0].next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&m, 0)
		default:
			heap.Pop(&m)
		}
	}
	return nil
}

func (s *sorter) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// run is a sorted part of the scratch being read.
type run struct {
	record
	in *bufio.Reader
}

func (r *run) next() (bool, error) {
	var b [recordBytes]byte
	_, err := io.ReadFull(r.in, b[:])
	if errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	r.decode(b[:])
	return true, nil
}

// merge is a heap of runs by their first records.
type merge []*run

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return m[i].compare(&m[j].record) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*run)) }
func (m *merge) Pop() any {
	last := len(*m) - 1
	r := (*m)[last]
	*m = (*m)[:last]
	return r
}
