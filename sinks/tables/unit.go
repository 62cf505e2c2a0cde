package tables

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/scratch"
)

// unit is a number of files of frames that are sorted and answered together.
type unit struct {
	j      *job
	budget *scratch.Budget
	places places
	texts  *pile.Texts
	answer pile.Pile // encoded answers by number

	mu       sync.Mutex
	segments []segment
	file     *scratch.File
	sorter   pile.Sorter
	spread   *spread // answers by row, if they do not fit
	read     atomic.Uint64
	total    atomic.Uint64 // rows of segments that know them
}

// segment is consecutive rows of a file: a row group, or a piece of NDJSON.
type segment struct {
	rows    int
	numbers []uint32 // of answers, by row; nil until they are known, and where they are in scratch
}

func (j *job) newUnit() (*unit, error) {
	u := &unit{j: j, budget: scratch.NewBudget(j.o.MemoryBytes)}
	u.places.known = map[placeKey]uint32{}
	u.answer = pile.Pile{Budget: u.budget, File: u.scratch}
	var err error
	u.texts, err = pile.NewTexts(&pile.Pile{Budget: u.budget, File: u.scratch}, int(j.o.MemoryBytes/8))
	return u, err
}

// scratch returns the unit's one scratch file, and makes it at first.
func (u *unit) scratch() (*scratch.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file == nil {
		f, err := scratch.Create(u.j.o.Scratch, u.j.disk)
		if err != nil {
			return nil, err
		}
		u.file = f
	}
	return u.file, nil
}

func (u *unit) close() error {
	u.answer.Release()
	u.texts.Pile.Release()
	if u.file == nil {
		return nil
	}
	return u.file.Close()
}

// newSegment adds a segment of rows (0: not known yet) and gives its number.
func (u *unit) newSegment(rows int) (uint32, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := uint32(len(u.segments))
	if n == pile.MaxSegments {
		return 0, false
	}
	u.segments = append(u.segments, segment{rows: rows})
	u.total.Add(uint64(rows))
	return n, true
}

// rows returns the number of rows of all segments.
func (u *unit) rows() (n int64) {
	for i := range u.segments {
		n += int64(u.segments[i].rows)
	}
	return n
}

// lane takes the records of one worker.
type lane struct {
	u       *unit
	placer  *placer
	records []pile.Record
	spare   []pile.Record
	held    int64
}

// firstRecords is how many records a lane has room for at first.
const firstRecords = 1 << 14

func (u *unit) newLane(ctx context.Context) *lane {
	return &lane{u: u, placer: newPlacer(ctx, &u.j.o, &u.places)}
}

// add takes a record.
func (l *lane) add(place, segment uint32, row int, value uint64) error {
	if len(l.records) == cap(l.records) {
		if err := l.grow(); err != nil {
			return err
		}
	}
	l.records = append(l.records, pile.NewRecord(place, segment, row, value))
	return nil
}

// grow makes room: it takes more memory, or writes the records to scratch. The room for sorting counts too.
func (l *lane) grow() error {
	more := max(firstRecords, cap(l.records))
	if cost := int64(more) * 2 * pile.RecordBytes; l.u.budget.Take(cost) || len(l.records) < firstRecords {
		grown := make([]pile.Record, len(l.records), cap(l.records)+more)
		copy(grown, l.records)
		l.records = grown
		l.held += cost
		return nil
	}
	f, err := l.u.scratch()
	if err != nil {
		return err
	}
	r, err := pile.Spill(f, l.sort())
	if err != nil {
		return err
	}
	l.u.keep(r)
	l.u.j.spilled.Add(int64(len(l.records)) * pile.RecordBytes)
	l.records = l.records[:0]
	return nil
}

func (l *lane) sort() []pile.Record {
	if len(l.spare) < len(l.records) {
		l.spare = make([]pile.Record, cap(l.records))
	}
	sorted, other := pile.SortRecords(l.records, l.spare[:len(l.records)])
	l.records, l.spare = sorted, other[:cap(other)]
	return sorted
}

// end gives the sorter the records that the lane still holds.
func (l *lane) end() {
	if sorted := l.sort(); len(sorted) > 0 {
		l.u.keep(pile.Run{Records: sorted})
	}
	l.spare = nil
	l.u.budget.Give(l.held / 2)
}

func (u *unit) keep(r pile.Run) {
	u.mu.Lock()
	u.sorter.Runs = append(u.sorter.Runs, r)
	u.mu.Unlock()
}

// spread keeps the answers of a unit by row in scratch, where they do not fit into memory: pages of (row, answer) by bucket.
// A bucket is consecutive segments.
type spread struct {
	buckets []bucketRows
	of      []int32  // bucket by segment
	base    []uint32 // first row of a segment in its bucket
}

type bucketRows struct {
	mu    sync.Mutex
	rows  int
	left  int // segments that were not taken yet
	pages []page
	all   []uint32 // of the rows, once they were read
}

type page struct {
	at   int64
	size int
}

// sized says how many rows a segment has.
func (u *unit) sized(segment uint32, rows int) {
	u.mu.Lock()
	u.segments[segment].rows = rows
	u.mu.Unlock()
}
