// Package spill sorts the runs of one object: lanes take them in any order
// from any number of workers, [Sorter.Merge] hands them back ordered by start,
// rank, part and sequence. It knows nothing of overlaps (build/sweep does) or
// rows.
//
// Invariants:
//   - the output does not depend on the number of lanes, on their order, or on
//     the runs that went to disk, but for the numbers that strings have;
//   - memory is the shared budget, plus one floor a lane; runs beyond it go to
//     scratch, sealed;
//   - every string is kept once, as a copy, so that nothing aliases the object, unless
//     the caller promises that its strings last;
//   - a run that breaks the contract of symbol.Run is refused as corrupt, not
//     passed on.
package spill

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/sinks/scratch"
)

// Order settles a tie of runs: rank, then part, then sequence within
// the part. The lower one wins.
type Order uint64

const (
	seqBits  = 28
	partBits = 28
	maxSeq   = 1<<seqBits - 1
	maxPart  = 1<<partBits - 1
)

func order(rank symbol.Rank, part, seq int) Order {
	return Order(rank)<<(seqBits+partBits) | Order(part)<<seqBits | Order(seq)
}

// MinStringBytes are the bytes that the names of one artifact may take even if less memory is
// configured. A sorter needs all names at once, and no real object comes near this limit.
const MinStringBytes = 64 << 20

// Options of a Sorter.
type Options struct {
	Budget      *scratch.Budget // shared with others; never nil
	Scratch     string          // folder of the scratch file
	Disk        *scratch.Budget // of scratch files; nil: no bound
	StringBytes int64           // names beyond it reject the object (0: the whole budget)
	Lasting     bool            // strings of runs outlive the sorter and its Table: they are not copied
	Few         bool            // one lane takes few strings: the sorter's tables are small
	// Position gives the position of a class; nil: there are none.
	Position func(class string) uint64
}

// Sorter sorts one artifact's runs. Lane, Sort, then Merge as often as wanted;
// Close in any case.
type Sorter struct {
	o       Options
	strings *interner

	mu    sync.Mutex
	lanes []*Lane
	file  *scratch.File // made by the first lane that needs it

	spilled atomic.Int64
	table   Table
}

// LongNames is the error of names that take size bytes together, where most may.
func LongNames(size, most int64) error {
	return &formats.Error{Format: "run", Section: "names", Offset: size, Want: fmt.Sprintf("names of at most %d bytes together", most), Err: formats.ErrLimit}
}

// Table is the load-wide string table: Strings[0] is "", the others stand in no
// order, and not in the same one every time. Runs[i] is the number of runs that
// use string i. Numbers[n] is the string that has the number n in packed classes.
type Table struct {
	Strings []string
	Runs    []uint32
	Numbers []uint32
}

// New makes an empty sorter.
func New(o Options) *Sorter {
	if o.StringBytes == 0 {
		o.StringBytes = o.Budget.Total()
	}
	return &Sorter{o: o, strings: newInterner(o.Budget, o.Lasting, o.Few)}
}

// Lane makes a lane for one goroutine.
func (s *Sorter) Lane() *Lane {
	l := &Lane{s: s, part: -1}
	if b, is := buffers.Get().(*[]byte); is {
		l.buf = *b
	}
	s.mu.Lock()
	s.lanes = append(s.lanes, l)
	s.mu.Unlock()
	return l
}

// Sort ends the taking of runs: no lane may be added to any more.
func (s *Sorter) Sort() {
	parallel.Do(len(s.lanes), func(i int) { s.lanes[i].sort() })
	var counts []uint32 // by interner id
	for _, l := range s.lanes {
		if len(counts) < len(l.counts) {
			counts, l.counts = l.counts, counts
		}
		for id, n := range l.counts {
			counts[id] += n
		}
		l.release()
	}
	s.table.Strings, s.table.Runs, s.table.Numbers = s.strings.number(counts)
}

// Table is the table that the runs of Merge refer to; valid after Sort, also
// after Close.
func (s *Sorter) Table() Table { return s.table }

// Spilled is how many bytes went to scratch.
func (s *Sorter) Spilled() int64 { return s.spilled.Load() }

// Close gives memory and disk back.
func (s *Sorter) Close() error {
	for _, l := range s.lanes {
		l.release()
		s.o.Budget.Give(l.held)
		*l = Lane{s: s}
	}
	s.lanes = nil
	s.o.Budget.Give(s.strings.total.Swap(0))
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// scratchFile is the sorter's one file.
func (s *Sorter) scratchFile() (*scratch.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := scratch.Create(s.o.Scratch, s.o.Disk)
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	return s.file, nil
}

// refuse is the error of a run that no parser may emit.
func refuse(part int, want string, args ...any) error {
	return &formats.Error{Format: "run", Section: fmt.Sprintf("part %d", part), Want: fmt.Sprintf(want, args...), Err: formats.ErrCorrupt}
}

func compare(a, b ref) int {
	switch {
	case a.start != b.start:
		if a.start < b.start {
			return -1
		}
		return 1
	case a.order != b.order:
		if a.order < b.order {
			return -1
		}
		return 1
	}
	return 0
}

// sort sorts each list of refs; cursors go through them together.
func (l *Lane) sort() {
	for _, refs := range l.refs {
		slices.SortFunc(refs, compare)
	}
}

func (l *Lane) cursors() (all []*cursor) {
	for _, refs := range l.refs {
		all = append(all, &cursor{refs: refs, chunks: l.chunks})
	}
	return all
}

// Runs is how many runs were taken.
func (s *Sorter) Runs() (n uint64) {
	for _, l := range s.lanes {
		n += l.total
	}
	return n
}
