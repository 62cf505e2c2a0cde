package pile

import "slices"

// Ranks is a set of numbers, each with its rank among them once they are all there.
type Ranks struct {
	slots []rankSlot
	shift uint
	list  []uint32
}

type rankSlot struct {
	number uint32
	rank   uint32 // plus 1; 0: empty
}

func (m *Ranks) slot(n uint32) *rankSlot {
	for at := uint64(n) * 0x9e3779b97f4a7c15 >> m.shift; ; at++ {
		s := &m.slots[at&uint64(len(m.slots)-1)]
		if s.rank == 0 || s.number == n {
			return s
		}
	}
}

// Add adds a number, between Reset and Rank.
func (m *Ranks) Add(n uint32) {
	s := m.slot(n)
	if s.rank != 0 {
		return
	}
	*s = rankSlot{n, 1}
	if m.list = append(m.list, n); len(m.list)*2 > len(m.slots) {
		m.clear(4 * len(m.slots))
		for _, n := range m.list {
			*m.slot(n) = rankSlot{n, 1}
		}
	}
}

// Rank returns the numbers in ascending order, valid until Reset.
func (m *Ranks) Rank() []uint32 {
	slices.Sort(m.list)
	for i, n := range m.list {
		m.slot(n).rank = uint32(i) + 1
	}
	return m.list
}

// firstSlots are slots that there are at first.
const firstSlots = 1024

// Reset forgets all numbers.
func (m *Ranks) Reset() {
	m.list = m.list[:0]
	m.clear(firstSlots)
}

func (m *Ranks) clear(size int) {
	if cap(m.slots) < size {
		m.slots = make([]rankSlot, size)
	}
	m.slots = m.slots[:size]
	clear(m.slots)
	m.shift = 64
	for n := size; n > 1; n >>= 1 {
		m.shift--
	}
}

// Index returns the rank of a number that is there.
func (m *Ranks) Index(n uint32) uint32 { return m.slot(n).rank - 1 }
