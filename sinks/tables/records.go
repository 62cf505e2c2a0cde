package tables

import (
	"encoding/binary"

	"github.com/symlake/symlake/sinks/scratch"
)

// record is one frame on its way to its answer.
type record struct {
	key   uint64 // place << slotBits | slot
	value uint64 // what counts from the place
}

// A slot is a row: its segment, and its number there.
const (
	slotBits    = 40
	rowBits     = 26 // parquet.MaxGroupRows
	maxSegments = 1 << (slotBits - rowBits)
	maxPlaces   = 1 << (64 - slotBits)
	recordBytes = 16
)

func (r record) place() uint32   { return uint32(r.key >> slotBits) }
func (r record) segment() uint32 { return uint32(r.key>>rowBits) & (maxSegments - 1) }
func (r record) row() uint32     { return uint32(r.key) & (1<<rowBits - 1) }

// less orders records by place and value.
func (r record) less(o record) bool {
	if a, b := r.place(), o.place(); a != b {
		return a < b
	}
	return r.value < o.value
}

const digitBits = 11

// sortRecords sorts by place and value, digit by digit; spare is as long. What comes back is one of the two.
func sortRecords(all, spare []record) (sorted, other []record) {
	var differ record
	for i := range all {
		differ.key |= all[i].key ^ all[0].key
		differ.value |= all[i].value ^ all[0].value
	}
	var next [1 << digitBits]uint32
	digit := func(differ uint64, of func(*record) uint64) {
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
	digit(differ.value, func(r *record) uint64 { return r.value })
	digit(differ.key>>slotBits, func(r *record) uint64 { return r.key >> slotBits })
	return all, spare
}

// sorter sorts records inside a budget: lanes, one a worker, sort what they hold and put it into scratch when it is
// full; merge hands everything out in order.
type sorter struct {
	file *scratch.File
	runs []run
}

// run is sorted records: in memory, or pages of scratch.
type run struct {
	records []record
	pages   []int64
	last    int // records of the last page
}

// pageRecords fill a page of scratch.
const pageRecords = scratch.PageBytes / recordBytes

// spill writes sorted records to scratch.
func spill(f *scratch.File, sorted []record) (run, error) {
	var r run
	page := make([]byte, 0, scratch.PageBytes)
	for len(sorted) > 0 {
		n := min(len(sorted), pageRecords)
		page = page[:0]
		for _, x := range sorted[:n] {
			page = binary.LittleEndian.AppendUint64(page, x.key)
			page = binary.LittleEndian.AppendUint64(page, x.value)
		}
		at, err := f.Append(page)
		if err != nil {
			return run{}, err
		}
		r.pages, r.last, sorted = append(r.pages, at), n, sorted[n:]
	}
	return r, nil
}

// cursor walks a run.
type cursor struct {
	run
	file *scratch.File
	room []record
}

// fill makes records not empty; false at the end.
func (c *cursor) fill() (bool, error) {
	if len(c.records) > 0 {
		return true, nil
	}
	if len(c.pages) == 0 {
		return false, nil
	}
	n := pageRecords
	if len(c.pages) == 1 {
		n = c.last
	}
	page := make([]byte, n*recordBytes)
	if err := c.file.Read(c.pages[0], page); err != nil {
		return false, err
	}
	c.pages = c.pages[1:]
	if c.room == nil {
		c.room = make([]record, pageRecords)
	}
	for i := range n {
		c.room[i] = record{binary.LittleEndian.Uint64(page[i*recordBytes:]), binary.LittleEndian.Uint64(page[i*recordBytes+8:])}
	}
	c.records = c.room[:n]
	return true, nil
}

// merge fills to with the next records of all cursors in order, and gives how many there are: fewer than fit only at the
// end. Cursors stay sorted by their first record between calls.
func merge(cursors *[]*cursor, to []record) (int, error) {
	cs := *cursors
	n := 0
	for n < len(to) && len(cs) > 0 {
		c := cs[0]
		// As long as it stays below the next cursor, the first one gives.
		for {
			to[n] = c.records[0]
			c.records = c.records[1:]
			n++
			if len(c.records) == 0 || n == len(to) || len(cs) > 1 && cs[1].records[0].less(c.records[0]) {
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
		for i := 1; i < len(cs) && cs[i].records[0].less(cs[i-1].records[0]); i++ {
			cs[i-1], cs[i] = cs[i], cs[i-1]
		}
	}
	*cursors = cs
	return n, nil
}

// start opens cursors over all runs.
func (s *sorter) start() ([]*cursor, error) {
	var cs []*cursor
	for _, r := range s.runs {
		c := &cursor{run: r, file: s.file}
		if ok, err := c.fill(); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		cs = append(cs, c)
		for i := len(cs) - 1; i > 0 && cs[i].records[0].less(cs[i-1].records[0]); i-- {
			cs[i-1], cs[i] = cs[i], cs[i-1]
		}
	}
	return cs, nil
}
