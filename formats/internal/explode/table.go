package explode

import "math/bits"

// table maps numbers to numbers that are not 0. Keys of 32 bits are found fast.
type table struct {
	slots []slot // a power of two of them in use
	room  []slot // what slots grow into
	shift uint8  // of a key's hash, to its place
	used  int
	far   map[uint64]uint32 // of longer keys
}

type slot struct{ key, val uint32 } // val 0: free

const fewSlots = 1024

// reset empties the table. It goes on with room for as much as it had, not with all that it has grown to: what stands
// near is found fast.
func (t *table) reset() {
	if t.used > 0 {
		t.use(max(fewSlots, 1<<bits.Len(uint(2*t.used))))
		t.used = 0
	}
	clear(t.far)
}

// use makes slots n empty ones.
func (t *table) use(n int) {
	if n > cap(t.slots) {
		t.slots = make([]slot, n)
	}
	t.slots = t.slots[:n]
	clear(t.slots) // also of new pages: the kernel maps a page twice that is read before it is written
	t.shift = uint8(32 - bits.Len(uint(n-1)))
}

// get is the value of key, 0 if there is none.
func (t *table) get(key uint64) uint32 {
	if key>>32 != 0 || len(t.slots) == 0 {
		return t.far[key]
	}
	return t.at(uint32(key)).val
}

// at is the place of key, or where it is to be put.
func (t *table) at(key uint32) *slot {
	mask := uint32(len(t.slots) - 1)
	for i := key * 0x9e3779b9 >> t.shift; ; i++ {
		if s := &t.slots[i&mask]; s.val == 0 || s.key == key {
			return s
		}
	}
}

// put makes val, which is not 0, the value of key.
func (t *table) put(key uint64, val uint32) {
	if key>>32 != 0 {
		if t.far == nil {
			t.far = map[uint64]uint32{}
		}
		t.far[key] = val
		return
	}
	if len(t.slots) == 0 {
		t.use(fewSlots)
	}
	s := t.at(uint32(key))
	if s.val == 0 {
		t.used++
	}
	*s = slot{uint32(key), val}
	if t.used*2 >= len(t.slots) {
		t.grow()
	}
}

// grow doubles the slots in use.
func (t *table) grow() {
	old := t.slots
	t.slots = t.room
	t.use(2 * len(old))
	for _, s := range old {
		if s.val != 0 {
			*t.at(s.key) = s
		}
	}
	t.room = old
}
