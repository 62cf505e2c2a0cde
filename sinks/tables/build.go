package tables

import (
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/answers"
)

// built is the answers of one segment: its distinct ones, and which one each row has. Its memory is used again.
type built struct {
	texts   []string
	local   ids      // number → rank of the answer
	numbers []uint32 // by row

	bodies   []byte // of the answers, one behind the other
	ends     []int
	statuses []uint32 // by answer: numbers of texts in the unit
	ids      ids      // numbers of texts in the unit → indices into texts
	arena    []byte
	answer   answers.Answer
}

// build reads the answers with these numbers, one a row.
func (b *built) build(u *unit, numbers []uint32) error {
	b.numbers = numbers
	b.local.reset()
	for _, n := range numbers {
		b.local.add(n)
	}
	uniq := b.local.rank()
	if len(uniq) > 0 && uniq[0] == 0 {
		return errShort
	}
	b.bodies, b.ends, b.statuses = b.bodies[:0], b.ends[:0], b.statuses[:0]
	b.ids.reset()
	b.ids.add(0)
	err := u.answer.Read(uniq, func(_ int, body []byte) {
		b.bodies = append(b.bodies, body...)
		b.ends = append(b.ends, len(b.bodies))
		a := &b.answer
		decodeAnswer(body, a)
		b.statuses = append(b.statuses, a.Status)
		b.ids.add(a.Status)
		b.ids.add(a.Reason)
		b.ids.add(a.Group)
		for i := range a.Lines {
			b.ids.add(a.Lines[i].Function)
			b.ids.add(a.Lines[i].File)
		}
	})
	if err != nil {
		return err
	}
	b.arena, b.texts = b.arena[:0], b.texts[:0]
	texts := b.ids.rank()
	ends := make([]int, 0, len(texts))
	err = u.texts.Pile.Read(texts, func(_ int, s []byte) {
		b.arena = append(b.arena, s...)
		ends = append(ends, len(b.arena))
	})
	if err != nil {
		return err
	}
	from := 0
	for _, to := range ends {
		b.texts = append(b.texts, unsafe.String(unsafe.SliceData(b.arena[from:]), to-from))
		from = to
	}
	return nil
}

// at returns the answer of a rank, with indices into texts, valid until the next call.
func (b *built) at(rank uint32) *answers.Answer {
	from, a := 0, &b.answer
	if rank > 0 {
		from = b.ends[rank-1]
	}
	decodeAnswer(b.bodies[from:b.ends[rank]], a)
	a.Status, a.Reason, a.Group = b.ids.index(a.Status), b.ids.index(a.Reason), b.ids.index(a.Group)
	for i := range a.Lines {
		l := &a.Lines[i]
		l.Function, l.File = b.ids.index(l.Function), b.ids.index(l.File)
	}
	return a
}

// ids is a set of numbers, each with its rank among them once they are all there.
type ids struct {
	slots []idSlot
	shift uint
	list  []uint32
}

type idSlot struct {
	number uint32
	rank   uint32 // plus 1; 0: empty
}

func (m *ids) slot(n uint32) *idSlot {
	for at := uint64(n) * 0x9e3779b97f4a7c15 >> m.shift; ; at++ {
		s := &m.slots[at&uint64(len(m.slots)-1)]
		if s.rank == 0 || s.number == n {
			return s
		}
	}
}

// add adds a number, between reset and rank.
func (m *ids) add(n uint32) {
	s := m.slot(n)
	if s.rank != 0 {
		return
	}
	*s = idSlot{n, 1}
	if m.list = append(m.list, n); len(m.list)*2 > len(m.slots) {
		m.clear(4 * len(m.slots))
		for _, n := range m.list {
			*m.slot(n) = idSlot{n, 1}
		}
	}
}

// rank gives the numbers in ascending order, valid until reset.
func (m *ids) rank() []uint32 {
	slices.Sort(m.list)
	for i, n := range m.list {
		m.slot(n).rank = uint32(i) + 1
	}
	return m.list
}

// firstIDs are slots that there are at first.
const firstIDs = 1024

func (m *ids) reset() {
	m.list = m.list[:0]
	m.clear(firstIDs)
}

func (m *ids) clear(size int) {
	if cap(m.slots) < size {
		m.slots = make([]idSlot, size)
	}
	m.slots = m.slots[:size]
	clear(m.slots)
	m.shift = 64
	for n := size; n > 1; n >>= 1 {
		m.shift--
	}
}

// index is the rank of a number that is there.
func (m *ids) index(n uint32) uint32 { return m.slot(n).rank - 1 }

// segment builds the answers of a segment.
func (b *built) segment(u *unit, segment uint32) error {
	numbers, err := u.take(segment)
	if err != nil {
		return err
	}
	return b.build(u, numbers)
}

// tallies counts the rows by status.
func (b *built) tallies() (all []tally) {
	at := map[uint32]int{}
	for _, n := range b.numbers {
		status := b.statuses[b.local.index(n)]
		k, ok := at[status]
		if !ok {
			k = len(all)
			at[status] = k
			all = append(all, tally{status: strings.Clone(b.texts[b.ids.index(status)])})
		}
		all[k].rows++
	}
	return all
}

// isFinal reports whether a written status is final.
func isFinal(status string) bool { return final(symbol.Status(status)) }

// errShort: fewer answers than rows, which cannot be.
var errShort = errors.New("rows without an answer")

// tally is how many rows have a status.
type tally struct {
	status string
	rows   uint64
}

// rows puts all rows of the segment into to. It numbers answers as the rows come to them, so the file does not depend on the
// worker that answered first.
func (b *built) rows(to *answers.Rows) {
	to.Reset(b.texts)
	given := make([]int32, len(b.ends)) // by rank: the answer's number in to, plus 1
	for piece := range slices.Chunk(b.numbers, pieceRows) {
		to.Forget()
		clear(given)
		for _, n := range piece {
			rank := b.local.index(n)
			if given[rank] == 0 {
				given[rank] = int32(to.Answer(b.at(rank))) + 1
			}
			to.Row(int(given[rank]) - 1)
		}
	}
}

// pieceRows is how many rows have their answers prepared together: answers that come again soon are prepared once, and few
// wait in memory.
const pieceRows = 1 << 17
