package classes

import (
	"hash/maphash"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// methods numbers the distinct methods and fields of one class as they first occur: what several
// lines of a mapping say of one is said once.
type methods struct {
	seed  maphash.Seed
	all   []numbered // by number
	last  int32      // number of the method that was asked for last; -1
	same  []mark     // by the place of its symbol.Method, which parsers and readers share: most are found here
	text  []mark     // by their plain form
	stamp uint32
}

// numbered is a method that has a number, and where its plain form stands in that of its class.
type numbered struct {
	is       *symbol.Method
	from, to int
}

type mark struct {
	stamp  uint32
	number int32
}

func newMethods() *methods {
	return &methods{seed: maphash.MakeSeed(), same: make([]mark, 256), text: make([]mark, 256)}
}

func (m *methods) reset() {
	m.all, m.last = m.all[:0], -1
	if m.stamp++; m.stamp == 0 {
		clear(m.same)
		clear(m.text)
		m.stamp = 1
	}
}

// find gives the number of a method of the class whose plain form is b so far; if it is a new one, its own form is appended.
func (m *methods) find(b []byte, c *symbol.Method) (form []byte, number int32, isNew bool) {
	if m.last >= 0 && c == m.all[m.last].is {
		return b, m.last, false
	}
	mask := uint64(len(m.same) - 1)
	at := uint64(uintptr(unsafe.Pointer(c))) * 0x9e3779b97f4a7c15 >> 32 & mask
	if e := m.same[at]; e.stamp == m.stamp && c == m.all[e.number].is {
		m.last = e.number
		return b, e.number, false
	}
	from := len(b)
	b = putMethod(b, c)
	slot := maphash.Bytes(m.seed, b[from:]) & mask
	for ; m.text[slot].stamp == m.stamp; slot = (slot + 1) & mask {
		n := m.text[slot].number
		if x := &m.all[n]; string(b[x.from:x.to]) == string(b[from:]) {
			m.same[at] = mark{m.stamp, n}
			m.last = n
			return b[:from], n, false
		}
	}
	n := int32(len(m.all))
	m.all, m.last = append(m.all, numbered{c, from, len(b)}), n
	m.same[at], m.text[slot] = mark{m.stamp, n}, mark{m.stamp, n}
	if 2*len(m.all) > len(m.text) {
		m.grow(b)
	}
	return b, n, true
}

func (m *methods) grow(b []byte) {
	m.same, m.text = make([]mark, 2*len(m.same)), make([]mark, 2*len(m.text))
	mask := uint64(len(m.text) - 1)
	for n, x := range m.all {
		slot := maphash.Bytes(m.seed, b[x.from:x.to]) & mask
		for m.text[slot].stamp == m.stamp {
			slot = (slot + 1) & mask
		}
		m.text[slot] = mark{m.stamp, int32(n)}
	}
}
