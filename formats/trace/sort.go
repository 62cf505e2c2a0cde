package trace

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/symlake/symlake/formats"
)

// SortBytes is the memory for records at hand, unless Options say else; more records go to scratch in sorted
// runs.
const SortBytes = 24 << 20

const recordBytes = 3*8 + 2*4

// record is a stretch of time on a track, a moment, or a counter's value: its bits are the end then, and its name is noName.
type record struct {
	start, end, seq int64
	track, name     int32
}

const noName = -1

// compare orders by track, start, the longer before the shorter, and as they came.
func (a *record) compare(b *record) int {
	switch {
	case a.track != b.track:
		return cmp.Compare(a.track, b.track)
	case a.start != b.start:
		return cmp.Compare(a.start, b.start)
	case a.end != b.end && a.name != noName:
		return cmp.Compare(b.end, a.end)
	}
	return cmp.Compare(a.seq, b.seq)
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
	if len(s.at) == cap(s.at) {
		most := s.bytes / recordBytes
		if len(s.at) == most {
			if err := s.spill(); err != nil {
				return err
			}
		} else { // few steps: each is a copy, and the last is no larger than needed
			s.at = append(make([]record, 0, min(8*len(s.at)+512, most)), s.at...)
		}
	}
	s.at = append(s.at, r)
	return nil
}

// sort orders the records at hand: by track, then roughly by time, then neighbors exactly. Tracers of many
// calls writes them nearly in order of time, which parts them evenly.
func (s *sorter) sort() {
	tracks := int32(0)
	for i := range s.at {
		tracks = max(tracks, s.at[i].track)
	}
	ends := part(s.at, int(tracks)+1, func(r *record) int { return int(r.track) })
	from := 0
	for _, end := range ends {
		sortTrack(s.at[from:end])
		from = end
	}
}

// nearby is how many records of a track are sorted at once, on average, and nearbyParts how many such parts are made.
const (
	nearby      = 64
	nearbyParts = 1 << 14
)

func sortTrack(at []record) {
	exactly := func(at []record) {
		slices.SortFunc(at, func(a, b record) int { return a.compare(&b) })
	}
	if len(at) <= 2*nearby {
		exactly(at)
		return
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range at {
		first, last = min(first, at[i].start), max(last, at[i].start)
	}
	parts := min(len(at)/nearby, nearbyParts)
	shift := max(0, bits.Len64(uint64(last-first))-bits.Len(uint(parts))+1)
	from := 0
	for _, end := range part(at, int(uint64(last-first)>>shift)+1, func(r *record) int { return int(uint64(r.start-first) >> shift) }) {
		exactly(at[from:end])
		from = end
	}
}

// part moves records into parts by their number, in place, and gives where each part ends.
func part(at []record, parts int, of func(r *record) int) (ends []int) {
	if parts == 1 {
		return []int{len(at)}
	}
	next := make([]int, parts+1)
	for i := range at {
		next[of(&at[i])+1]++
	}
	for i := range parts {
		next[i+1] += next[i]
	}
	ends = slices.Clone(next[1:])
	for p, end := range ends {
		for i := next[p]; i < end; {
			if to := of(&at[i]); to == p {
				i++
			} else {
				at[i], at[next[to]] = at[next[to]], at[i]
				next[to]++
			}
		}
	}
	return ends
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
	var b []byte
	var last record
	size := int64(0)
	for i := range s.at {
		b = s.at[i].append(b[:0], &last)
		last = s.at[i]
		size += int64(len(b))
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(s.runs); n > 0 {
		size += s.runs[n-1]
	}
	s.runs = append(s.runs, size)
	s.at = s.at[:0]
	return nil
}

// maxRecordBytes is the longest that append writes.
const maxRecordBytes = 5 * binary.MaxVarintLen64

// append writes a record as what it differs by from the one before.
func (r *record) append(b []byte, last *record) []byte {
	b = binary.AppendUvarint(b, uint64(r.track-last.track))
	b = binary.AppendVarint(b, r.start-last.start)
	b = binary.AppendUvarint(b, uint64(r.end-r.start))
	b = binary.AppendUvarint(b, uint64(r.name-noName))
	return binary.AppendVarint(b, r.seq-last.seq)
}

// next reads what append wrote, into the record before; 0: it is not whole.
func (r *record) next(b []byte) (n int) {
	var v [5]uint64
	for i := range v {
		got, k := binary.Uvarint(b[n:])
		if k <= 0 {
			return 0
		}
		v[i] = got
		n += k
	}
	r.track += int32(v[0])
	r.start += unzigzag(v[1])
	r.end = r.start + int64(v[2])
	r.name = int32(v[3]) + noName
	r.seq += unzigzag(v[4])
	return n
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

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
	for i := len(m)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m) > 0 {
		if err := f(m[0].record); err != nil {
			return err
		}
		more, err := m[0].next()
		if err != nil {
			return err
		}
		if !more {
			last := len(m) - 1
			m[0] = m[last]
			m = m[:last]
		}
		m.down(0)
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
	b, err := r.in.Peek(maxRecordBytes)
	if len(b) == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	n := r.record.next(b)
	if n == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return false, err
	}
	r.in.Discard(n)
	return true, nil
}

// merge is a heap of runs by their first records.
type merge []*run

// down moves a run to where it belongs below its place.
func (m merge) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m); child++ {
			if m[child].compare(&m[least].record) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}
