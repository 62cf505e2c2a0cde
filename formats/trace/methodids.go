package trace

import "math/rand/v2"

// methodIDs are the IDs of names by what a trace calls methods by. They are found by one look at memory.
type methodIDs struct {
	slots []methodSlot // open addressing: a power of two, half of them taken at most
	shift uint         // of a hash, to an index
	mix   uint64       // odd, drawn: no trace can have its methods collide on purpose
	count int
}

// methodSlot is a method's; next is the ID that follows its name's, 0: the slot is free.
type methodSlot struct {
	method uint32
	next   int32
}

// slot gives the first slot that a method may be in; see names.near.
func (m *methodIDs) slot(method uint32) methodSlot {
	if len(m.slots) == 0 {
		return methodSlot{}
	}
	return m.slots[uint64(method)*m.mix>>m.shift]
}

// place is the method's slot, or the one to take.
func (m *methodIDs) place(method uint32) *methodSlot {
	for i := uint64(method) * m.mix >> m.shift; ; i = (i + 1) & uint64(len(m.slots)-1) {
		if s := &m.slots[i]; s.next == 0 || s.method == method {
			return s
		}
	}
}

// get gives the ID for a method, -1 for none.
func (m *methodIDs) get(method uint32) int32 {
	if m.count == 0 {
		return -1
	}
	return m.place(method).next - 1
}

// set enters the ID of a method's name, in place of its earlier one.
func (m *methodIDs) set(method uint32, id int32) {
	if 2*m.count >= len(m.slots) {
		m.grow()
	}
	s := m.place(method)
	if s.next == 0 {
		m.count++
	}
	*s = methodSlot{method, id + 1}
}

func (m *methodIDs) grow() {
	old := m.slots
	if old == nil {
		m.mix, m.shift = rand.Uint64()|1, 64-9
	}
	m.shift--
	m.slots = make([]methodSlot, 1<<(64-m.shift))
	for _, s := range old {
		if s.next > 0 {
			*m.place(s.method) = s
		}
	}
}
