package row

import (
	"hash/maphash"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// methods numbers the distinct methods and fields of one class as they first occur: what several
// lines of a mapping say of one is said once.
type methods struct {
	seed  maphash.Seed
	first []int32 // by number: the member that brought it
	last  int32   // number of the member that was asked for last; -1
	same  []mark  // by the place of its symbol.Method, which parsers and readers share: most are found here
	text  []mark  // by their content
	stamp uint32
}

type mark struct {
	stamp  uint32
	number int32
}

func newMethods() *methods {
	return &methods{seed: maphash.MakeSeed(), same: make([]mark, 256), text: make([]mark, 256)}
}

func (m *methods) reset() {
	m.first, m.last = m.first[:0], -1
	if m.stamp++; m.stamp == 0 {
		clear(m.same)
		clear(m.text)
		m.stamp = 1
	}
}

// find gives the number of a member's method; isNew if it is the first to have it.
func (m *methods) find(members []symbol.Member, i int) (number int32, isNew bool) {
	c := &members[i]
	if m.last >= 0 && c.Method == members[m.first[m.last]].Method {
		return m.last, false
	}
	mask := uint64(len(m.same) - 1)
	at := uint64(uintptr(unsafe.Pointer(c.Method))) * 0x9e3779b97f4a7c15 >> 32 & mask
	if e := m.same[at]; e.stamp == m.stamp && c.Method == members[m.first[e.number]].Method {
		m.last = e.number
		return e.number, false
	}
	h := m.hash(c.Method)
	slot := h & mask
	for ; m.text[slot].stamp == m.stamp; slot = (slot + 1) & mask {
		if n := m.text[slot].number; *c.Method == *members[m.first[n]].Method {
			m.same[at] = mark{m.stamp, n}
			m.last = n
			return n, false
		}
	}
	n := int32(len(m.first))
	m.first, m.last = append(m.first, int32(i)), n
	m.same[at], m.text[slot] = mark{m.stamp, n}, mark{m.stamp, n}
	if 2*len(m.first) > len(m.text) {
		m.grow(members)
	}
	return n, true
}

func (m *methods) grow(members []symbol.Member) {
	m.same, m.text = make([]mark, 2*len(m.same)), make([]mark, 2*len(m.text))
	mask := uint64(len(m.text) - 1)
	for n, i := range m.first {
		slot := m.hash(members[i].Method) & mask
		for m.text[slot].stamp == m.stamp {
			slot = (slot + 1) & mask
		}
		m.text[slot] = mark{m.stamp, int32(n)}
	}
}

func (m *methods) hash(c *symbol.Method) uint64 {
	h := maphash.String(m.seed, c.Original)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Class)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Params)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Type)
	return h ^ h>>32
}
