package pile

import (
	"encoding/binary"

	"github.com/symlake/symlake/sinks/scratch"
)

// Record is one frame on its way to its answer.
type Record struct {
	key   uint64 // place << slotBits | segment << rowBits | row
	Value uint64 // counts from the place
}

const (
	slotBits = 40
	rowBits  = 26 // as many rows as a row group may have: pqfile.MaxGroupRows

	// MaxSegments bounds the numbers of segments.
	MaxSegments = 1 << (slotBits - rowBits)
	// MaxPlaces bounds the numbers of places.
	MaxPlaces = 1 << (64 - slotBits)
	// RecordBytes is the size of a record, in memory and in scratch.
	RecordBytes = 16
)

// NewRecord returns the record of a row of a segment.
func NewRecord(place, segment uint32, row int, value uint64) Record {
	return Record{uint64(place)<<slotBits | uint64(segment)<<rowBits | uint64(row), value}
}

// Place returns the number of the place.
func (r Record) Place() uint32 { return uint32(r.key >> slotBits) }

// Segment returns the number of the segment.
func (r Record) Segment() uint32 { return uint32(r.key>>rowBits) & (MaxSegments - 1) }

// Row returns the number of the row in its segment.
func (r Record) Row() uint32 { return uint32(r.key) & (1<<rowBits - 1) }

// Less orders records by place and value.
func (r Record) Less(o Record) bool {
	if a, b := r.Place(), o.Place(); a != b {
		return a < b
	}
	return r.Value < o.Value
}

const digitBits = 11

// SortRecords sorts records by place and value, digit by digit. spare is as long as all; sorted and other are the two, in
// either order.
func SortRecords(all, spare []Record) (sorted, other []Record) {
	var differ Record
	for i := range all {
		differ.key |= all[i].key ^ all[0].key
		differ.Value |= all[i].Value ^ all[0].Value
	}
	var next [1 << digitBits]uint32
	digit := func(differ uint64, of func(*Record) uint64) {
		for shift := 0; shift < 64 && differ>>shift != 0; shift += digitBits {
			const mask = 1<<digitBits - 1
			if differ>>shift&mask == 0 {
				continue
			}
			clear(next[:])
			for i := range all {
				next[of(&all[i])>>shift&mask]++
			}
			at := uint32(0)
			for d, n := range next {
				next[d] = at
				at += n
			}
			for i := range all {
				d := of(&all[i]) >> shift & mask
				spare[next[d]] = all[i]
				next[d]++
			}
			all, spare = spare, all
		}
	}
	digit(differ.Value, func(r *Record) uint64 { return r.Value })
	digit(differ.key>>slotBits, func(r *Record) uint64 { return r.key >> slotBits })
	return all, spare
}

// Sorter merges sorted runs. A worker sorts the records it holds and keeps them as a run, or spills them to scratch when the
// budget is used up.
type Sorter struct {
	File *scratch.File
	Runs []Run
}

// Run holds sorted records, in memory or in pages of scratch.
type Run struct {
	Records []Record
	pages   []int64
	last    int // records of the last page
}

// pageRecords fill a page of scratch.
const pageRecords = scratch.PageBytes / RecordBytes

// Spill writes sorted records to scratch.
func Spill(f *scratch.File, sorted []Record) (Run, error) {
	var r Run
	page := make([]byte, 0, scratch.PageBytes)
	for len(sorted) > 0 {
		n := min(len(sorted), pageRecords)
		page = page[:0]
		for _, x := range sorted[:n] {
			page = binary.LittleEndian.AppendUint64(page, x.key)
			page = binary.LittleEndian.AppendUint64(page, x.Value)
		}
		at, err := f.Append(page)
		if err != nil {
			return Run{}, err
		}
		r.pages, r.last, sorted = append(r.pages, at), n, sorted[n:]
	}
	return r, nil
}

// cursor walks a run.
type cursor struct {
	Run
	file *scratch.File
	room []Record
}

// fill reads records if none are left. It returns false at the end.
func (c *cursor) fill() (bool, error) {
	if len(c.Records) > 0 {
		return true, nil
	}
	if len(c.pages) == 0 {
		return false, nil
	}
	n := pageRecords
	if len(c.pages) == 1 {
		n = c.last
	}
	page := make([]byte, n*RecordBytes)
	if err := c.file.Read(c.pages[0], page); err != nil {
		return false, err
	}
	c.pages = c.pages[1:]
	if c.room == nil {
		c.room = make([]Record, pageRecords)
	}
	for i := range n {
		c.room[i] = Record{binary.LittleEndian.Uint64(page[i*RecordBytes:]), binary.LittleEndian.Uint64(page[i*RecordBytes+8:])}
	}
	c.Records = c.room[:n]
	return true, nil
}

// Merge fills to with the next records of all cursors in order and returns their number, which is less than len(to) only at
// the end. Between calls the cursors stay sorted by their first record.
func Merge(cursors *[]*cursor, to []Record) (int, error) {
	cs := *cursors
	n := 0
	for n < len(to) && len(cs) > 0 {
		c := cs[0]
		// The first cursor gives its records until the next cursor has a lower one.
		for {
			to[n] = c.Records[0]
			c.Records = c.Records[1:]
			n++
			if len(c.Records) == 0 || n == len(to) || len(cs) > 1 && cs[1].Records[0].Less(c.Records[0]) {
				break
			}
		}
		ok, err := c.fill()
		if err != nil {
			return n, err
		}
		if !ok {
			cs = cs[1:]
			continue
		}
		for i := 1; i < len(cs) && cs[i].Records[0].Less(cs[i-1].Records[0]); i++ {
			cs[i-1], cs[i] = cs[i], cs[i-1]
		}
	}
	*cursors = cs
	return n, nil
}

// Start opens cursors over all runs.
func (s *Sorter) Start() ([]*cursor, error) {
	var cs []*cursor
	for _, r := range s.Runs {
		c := &cursor{Run: r, file: s.File}
		if ok, err := c.fill(); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		cs = append(cs, c)
		for i := len(cs) - 1; i > 0 && cs[i].Records[0].Less(cs[i-1].Records[0]); i-- {
			cs[i-1], cs[i] = cs[i], cs[i-1]
		}
	}
	return cs, nil
}
