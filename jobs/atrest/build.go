package atrest

import (
	"slices"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/all"
)

// built is the answers of one segment: its distinct ones, and which one each row has.
type built struct {
	texts   []string
	answers []all.ParquetAnswer // their texts are indices into texts
	local   ids                 // number → index into answers
	numbers []uint32            // by row
	counts  []uint32            // rows, by answer

	lines  []all.ParquetLine
	uniq   []uint32
	ids    ids
	arena  []byte
	answer all.ParquetAnswer
}

// build reads the answers with these numbers, one a row.
func (b *built) build(u *unit, numbers []uint32) error {
	b.numbers = numbers
	b.uniq = b.local.distinct(numbers, b.uniq[:0])
	if len(b.uniq) > 0 && b.uniq[0] == 0 {
		return errShort
	}
	b.answers, b.lines = b.answers[:0], b.lines[:0]
	b.counts = append(b.counts[:0], make([]uint32, len(b.uniq))...)
	var used []uint32
	note := func(n uint32) { used = append(used, n) }
	note(0)
	err := u.answer.read(b.uniq, func(_ int, body []byte) {
		a := &b.answer
		decodeAnswer(body, a)
		from := len(b.lines)
		b.lines = append(b.lines, a.Lines...)
		b.answers = append(b.answers, all.ParquetAnswer{Status: a.Status, Reason: a.Reason, Group: a.Group, Lines: b.lines[from:len(b.lines):len(b.lines)]})
		note(a.Status)
		note(a.Reason)
		note(a.Group)
		for i := range a.Lines {
			note(a.Lines[i].Function)
			note(a.Lines[i].File)
		}
	})
	if err != nil {
		return err
	}
	texts := b.ids.distinct(used, nil)
	b.arena, b.texts = b.arena[:0], b.texts[:0]
	ends := make([]int, 0, len(texts))
	err = u.texts.pile.read(texts, func(_ int, s []byte) {
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
	for i := range b.answers {
		a := &b.answers[i]
		a.Status, a.Reason, a.Group = b.ids.index(a.Status), b.ids.index(a.Reason), b.ids.index(a.Group)
		for k := range a.Lines {
			a.Lines[k].Function, a.Lines[k].File = b.ids.index(a.Lines[k].Function), b.ids.index(a.Lines[k].File)
		}
	}
	for _, n := range numbers {
		b.counts[b.local.index(n)]++
	}
	return nil
}

// ids maps numbers to their rank among the distinct ones.
type ids struct {
	slots []idSlot
	shift uint
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

// distinct appends the distinct numbers in ascending order to to, which is empty, and remembers their ranks.
func (m *ids) distinct(numbers, to []uint32) []uint32 {
	size := 1024
	m.clear(size)
	for _, n := range numbers {
		s := m.slot(n)
		if s.rank != 0 {
			continue
		}
		s.number, s.rank = n, 1
		if to = append(to, n); len(to)*2 > size {
			size *= 4
			m.clear(size)
			for _, n := range to {
				*m.slot(n) = idSlot{n, 1}
			}
		}
	}
	slices.Sort(to)
	for i, n := range to {
		m.slot(n).rank = uint32(i) + 1
	}
	return to
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
	for i := range b.answers {
		s := b.answers[i].Status
		k, ok := at[s]
		if !ok {
			k = len(all)
			at[s] = k
			all = append(all, tally{status: string([]byte(b.texts[s]))})
		}
		all[k].rows += uint64(b.counts[i])
	}
	return all
}

// isFinal is final for a status as it is written.
func isFinal(status string) bool { return final(symbol.Status(status)) }
