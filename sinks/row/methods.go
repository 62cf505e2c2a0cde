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
	same  []mark  // by the place of its strings, which parsers and readers share: most are found here
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
	if m.last >= 0 && identical(c, &members[m.first[m.last]]) {
		return m.last, false
	}
	place := uintptr(unsafe.Pointer(unsafe.StringData(c.Original)))*31 + uintptr(unsafe.Pointer(unsafe.StringData(c.Type)))
	mask := uint64(len(m.same) - 1)
	at := uint64(place) * 0x9e3779b97f4a7c15 >> 32 & mask
	if e := m.same[at]; e.stamp == m.stamp && identical(c, &members[m.first[e.number]]) {
		m.last = e.number
		return e.number, false
	}
	h := m.hash(c)
	slot := h & mask
	for ; m.text[slot].stamp == m.stamp; slot = (slot + 1) & mask {
		if n := m.text[slot].number; equal(c, &members[m.first[n]]) {
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
		slot := m.hash(&members[i]) & mask
		for m.text[slot].stamp == m.stamp {
			slot = (slot + 1) & mask
		}
		m.text[slot] = mark{m.stamp, int32(n)}
	}
}

func (m *methods) hash(c *symbol.Member) uint64 {
	h := maphash.String(m.seed, c.Original)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Class)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Params)
	h = h*0x9e3779b97f4a7c15 ^ maphash.String(m.seed, c.Type)
	return h ^ h>>32
}

// identical reports whether two members have the same strings, not only equal ones.
func identical(a, b *symbol.Member) bool {
	is := func(s, t string) bool {
		return len(s) == len(t) && (s == "" || unsafe.StringData(s) == unsafe.StringData(t))
	}
	return a.Field == b.Field && is(a.Original, b.Original) && is(a.Class, b.Class) && is(a.Type, b.Type) && is(a.Params, b.Params)
}

func equal(a, b *symbol.Member) bool {
	return a.Field == b.Field && a.Original == b.Original && a.Class == b.Class && a.Type == b.Type && a.Params == b.Params
}
