package method

import "math/rand/v2"

// IDs are the IDs of names by what a trace calls methods by. They are found by one look at memory.
type IDs[M uint32 | uint64] struct {
	slots []Slot[M] // open addressing: a power of two, half of them taken at most
	shift uint      // of a hash, to an index
	mix   uint64    // odd, drawn: no trace can have its methods collide on purpose
	Count int       // methods
}

// Slot is a method's. Next is the ID that follows its name's, 0: the slot is free.
type Slot[M uint32 | uint64] struct {
	Method M
	Next   int32
}

// Slot returns the first slot that a method may be in. A caller that looks at the slots of several methods before it
// uses one waits for memory once.
func (m *IDs[M]) Slot(method M) Slot[M] {
	if len(m.slots) == 0 {
		return Slot[M]{}
	}
	return m.slots[uint64(method)*m.mix>>m.shift]
}

// place is the method's slot, or the one to take.
func (m *IDs[M]) place(method M) *Slot[M] {
	for i := uint64(method) * m.mix >> m.shift; ; i = (i + 1) & uint64(len(m.slots)-1) {
		if s := &m.slots[i]; s.Next == 0 || s.Method == method {
			return s
		}
	}
}

// Get returns the ID for a method, -1 for none.
func (m *IDs[M]) Get(method M) int32 {
	if m.Count == 0 {
		return -1
	}
	return m.place(method).Next - 1
}

// Set enters the ID of a method's name, in place of its earlier one.
func (m *IDs[M]) Set(method M, id int32) {
	if 2*m.Count >= len(m.slots) {
		m.grow()
	}
	s := m.place(method)
	if s.Next == 0 {
		m.Count++
	}
	*s = Slot[M]{method, id + 1}
}

func (m *IDs[M]) grow() {
	old := m.slots
	if old == nil {
		m.mix, m.shift = rand.Uint64()|1, 64-9
	}
	m.shift--
	m.slots = make([]Slot[M], 1<<(64-m.shift))
	for _, s := range old {
		if s.Next > 0 {
			*m.place(s.Method) = s
		}
	}
}
