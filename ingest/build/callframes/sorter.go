// Package callframes sorts the call frame information of one artifact and makes it disjoint: pieces come in any order
// ([Sorter.Add]), and ranges go out ascending ([Sorter.Each]).
//
// Invariants:
//   - the output depends on the pieces and on their order alone, not on what went to disk;
//   - memory is the shared budget plus a floor, the rules, and a bounded number of ranges that overlap; the rest goes to
//     scratch, sealed;
//   - nothing aliases the object;
//   - what breaks the contract of symbol.Unwind, or a limit, is left out and counted.
package callframes

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/sinks/scratch"
)

const (
	// floor is the number of ranges that a sorter holds in memory, beside its budget.
	floor = 32 << 10
	// fanIn is how many segments are merged at once: each takes a page of memory.
	fanIn = 64
	// maxSeq numbers the ranges of a rank, in the order in which they came.
	maxSeq = 1<<30 - 1

	// digitBits are sorted at once.
	digitBits = 11

	pieceBytes = 24
	pagePieces = scratch.PageBytes / pieceBytes
)

// Options of a Sorter.
type Options struct {
	Budget    *scratch.Budget // shared with others; never nil
	Scratch   string          // folder of the scratch file
	Disk      *scratch.Budget // of scratch files; nil: no bound
	Limits    *formats.Limits // of ranges and of rules
	RuleBytes int64           // that all rules may take
}

// Sorter takes the call frame information of an artifact. Add all of it, then Each as often as wanted; Close in any case.
// One goroutine.
type Sorter struct {
	Left uint64 // ranges that broke a limit or the contract

	o      Options
	rules  []string
	number map[string]uint32 // of rules
	bytes  int64             // of rules
	said   []translated      // by index in the table of the open piece
	stamp  uint32
	seq    uint32
	pieces []piece
	held   int64 // of the budget, for pieces
	// overlapped are the ranges of Left that Each left out.
	overlapped uint64
	file       *scratch.File
	segments   []segment
}

// piece is a range; order is rank and sequence, the lower one wins.
type piece struct {
	start, end uint64
	rules      uint32
	order      uint32
}

type translated struct{ stamp, rules uint32 }

// unknown are rules that no piece may have.
const unknown = math.MaxUint32

// New makes an empty sorter.
func New(o Options) *Sorter {
	return &Sorter{o: o, rules: []string{""}, number: map[string]uint32{"": 0}}
}

// Rules are the rules that ranges of Each refer to; index 0 is "".
func (s *Sorter) Rules() []string { return s.rules }

// Add takes a piece, and keeps nothing that it points to. The error is the scratch file's.
func (s *Sorter) Add(u *symbol.Unwind) error {
	if u.Rank < symbol.UnwindDebug || u.Rank > symbol.UnwindCompact {
		s.Left += uint64(len(u.Ranges))
		return nil
	}
	s.stamp++
	if n := len(u.Rules); n > len(s.said) {
		s.said = append(s.said, make([]translated, n-len(s.said))...)
	}
	for i := range u.Ranges {
		g := &u.Ranges[i]
		rules := s.translate(u.Rules, g.Rules)
		if rules == 0 {
			continue // it says nothing
		}
		if rules == unknown || g.Start >= g.End || g.End == math.MaxUint64 || s.seq == maxSeq || int(s.seq) >= s.o.Limits.UnwindRanges {
			s.Left++
			continue
		}
		if err := s.push(piece{g.Start, g.End, rules, uint32(u.Rank)<<30 | s.seq}); err != nil {
			return err
		}
		s.seq++
	}
	return nil
}

// translate returns the sorter's number of the rules i of a piece's table; unknown: they cannot be kept.
func (s *Sorter) translate(table []string, i uint32) uint32 {
	if int(i) >= len(table) {
		return unknown
	}
	t := &s.said[i]
	if t.stamp != s.stamp {
		*t = translated{s.stamp, s.intern(table[i])}
	}
	return t.rules
}

func (s *Sorter) intern(coded string) uint32 {
	if n, ok := s.number[coded]; ok {
		return n
	}
	size := int64(len(coded)) + 3*int64(unsafe.Sizeof(""))
	if len(coded) > unwind.MaxBytes || len(s.rules) > s.o.Limits.UnwindRules || s.bytes+size > s.o.RuleBytes {
		return unknown
	}
	if _, err := unwind.Decode(coded); err != nil {
		return unknown
	}
	coded = strings.Clone(coded)
	n := uint32(len(s.rules))
	s.rules = append(s.rules, coded)
	s.number[coded] = n
	s.bytes += size
	s.o.Budget.Force(size)
	return n
}

// push keeps a piece in memory while the budget lasts.
func (s *Sorter) push(p piece) error {
	if len(s.pieces) == cap(s.pieces) {
		n := max(floor, 2*cap(s.pieces))
		more := int64(n-max(floor, cap(s.pieces))) * pieceBytes
		switch {
		case cap(s.pieces) == 0 || s.o.Budget.Take(more):
			s.held += more
			s.pieces = slices.Grow(s.pieces, n-len(s.pieces))
		default:
			if err := s.spill(); err != nil {
				return err
			}
		}
	}
	s.pieces = append(s.pieces, p)
	return nil
}

func compare(a, b piece) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Compare(a.order, b.order)
}

// Sort sorts the pieces in memory, which Each does too: by the digits of their starts, the last one first, if there is room
// for a copy.
func (s *Sorter) Sort() {
	var bits, most uint64
	sorted := true
	for i := range s.pieces {
		bits |= s.pieces[i].start
		most = max(most, s.pieces[i].start)
		sorted = sorted && (i == 0 || compare(s.pieces[i-1], s.pieces[i]) <= 0)
	}
	if sorted {
		return
	}
	size := int64(len(s.pieces)) * pieceBytes
	if most>>(4*digitBits) != 0 || !s.o.Budget.Take(size) {
		slices.SortFunc(s.pieces, compare)
		return
	}
	defer s.o.Budget.Give(size)
	from, to := s.pieces, make([]piece, len(s.pieces))
	for shift := 0; most>>shift != 0; shift += digitBits {
		if bits>>shift&(1<<digitBits-1) == 0 {
			continue
		}
		var next [1 << digitBits]int
		for i := range from {
			next[from[i].start>>shift&(1<<digitBits-1)]++
		}
		at := 0
		for d, n := range next {
			next[d] = at
			at += n
		}
		for i := range from {
			d := from[i].start >> shift & (1<<digitBits - 1)
			to[next[d]] = from[i]
			next[d]++
		}
		from, to = to, from
	}
	copy(s.pieces, from)
	for i := 0; i < len(s.pieces); { // of one start, the order counts
		n := i + 1
		for n < len(s.pieces) && s.pieces[n].start == s.pieces[i].start {
			n++
		}
		if n-i > 1 {
			slices.SortFunc(s.pieces[i:n], compare)
		}
		i = n
	}
}

// Close gives memory and disk back.
func (s *Sorter) Close() error {
	s.o.Budget.Give(s.held + s.bytes)
	s.held, s.bytes, s.pieces = 0, 0, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// segment is a sorted piece on disk.
type segment struct {
	pages  []int64
	pieces int
}

// spill writes the pieces in memory as a segment.
func (s *Sorter) spill() error {
	if s.file == nil {
		f, err := scratch.Create(s.o.Scratch, s.o.Disk)
		if err != nil {
			return err
		}
		s.file = f
	}
	s.Sort()
	if err := s.write([]*source{{pieces: s.pieces}}); err != nil {
		return err
	}
	s.pieces = s.pieces[:0]
	if len(s.segments) < fanIn {
		return nil
	}
	var all []*source
	for _, g := range s.segments {
		all = append(all, &source{file: s.file, segment: g})
	}
	s.segments = nil
	return s.write(all)
}

// write merges sources into one segment.
func (s *Sorter) write(from []*source) error {
	var to segment
	page := make([]byte, 0, scratch.PageBytes)
	flush := func() error {
		n, err := s.file.Append(page)
		to.pages = append(to.pages, n)
		page = page[:0]
		return err
	}
	err := merge(from, func(p piece) error {
		page = binary.LittleEndian.AppendUint64(page, p.start)
		page = binary.LittleEndian.AppendUint64(page, p.end)
		page = binary.LittleEndian.AppendUint32(page, p.rules)
		page = binary.LittleEndian.AppendUint32(page, p.order)
		to.pieces++
		if len(page)+pieceBytes > scratch.PageBytes {
			return flush()
		}
		return nil
	})
	if err == nil && len(page) > 0 {
		err = flush()
	}
	s.segments = append(s.segments, to)
	return err
}
