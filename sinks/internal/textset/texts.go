// Package textset numbers texts and keeps each once, without a pointer for it.
package textset

import (
	"hash/maphash"
	"unsafe"
)

// Texts numbers different texts as they come and keeps them without a pointer for each.
type Texts struct {
	Data  []byte
	ends  []uint32 // text i ends there, and begins where the one before ends
	slots []uint64 // by hash: its upper half, and number + 1; 0: free
	seed  maphash.Seed
}

// New returns empty texts.
func New() *Texts { return &Texts{seed: maphash.MakeSeed()} }

// Another returns empty texts with as much room as t has.
func (t *Texts) Another() *Texts {
	n := New()
	n.Data, n.ends, n.slots = make([]byte, 0, min(cap(t.Data), KeptBytes)), make([]uint32, 0, cap(t.ends)), make([]uint64, len(t.slots))
	return n
}

// At returns text i, valid until Reset.
func (t *Texts) At(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.Data[from:t.ends[i]:t.ends[i]]
}

// Add returns the number of a text. It keeps a copy of a new one.
func (t *Texts) Add(s string) uint32 {
	t.Room(len(s))
	t.Data = append(t.Data, s...)
	return t.Settle()
}

// Room makes room for n more bytes of text in Data, and for up to three times as many as there are.
func (t *Texts) Room(n int) {
	if cap(t.Data)-len(t.Data) < n {
		t.Data = Roomier(t.Data, max(n, min(3*len(t.Data), 4<<20)))
	}
}

// Settle gives the number of the text that was appended to data.
func (t *Texts) Settle() uint32 {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	from := uint32(0)
	if n := len(t.ends); n > 0 {
		from = t.ends[n-1]
	}
	s := view(t.Data[from:])
	h := maphash.String(t.seed, s)
	n, at, ok := t.look(s, h)
	if ok {
		t.Data = t.Data[:from]
		return n
	}
	t.ends = append(t.ends, uint32(len(t.Data)))
	t.slots[at] = h>>32<<32 | uint64(len(t.ends))
	return uint32(len(t.ends) - 1)
}

// look gives the number of a text by its hash, else the slot that it would take.
func (t *Texts) look(s string, h uint64) (n uint32, at uint64, ok bool) {
	mask := uint64(len(t.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		e := t.slots[at]
		if e == 0 {
			return 0, at, false
		}
		if n = uint32(e) - 1; e>>32 == h>>32 && view(t.At(n)) == s {
			return n, at, true
		}
	}
}

// Roomier makes room for n more bytes, and for half as many as there are if there is none: what grows by a quarter at a time, as
// append makes it, is copied often and leaves five times its size behind.
func Roomier[T any](b []T, n int) []T {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]T, 0, len(b)+max(n, len(b)/2)), b...)
}

func (t *Texts) grow() {
	t.slots = make([]uint64, max(1024, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range uint32(len(t.ends)) {
		h := maphash.Bytes(t.seed, t.At(i))
		at := h & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = h>>32<<32 | uint64(i+1)
	}
}

// Bytes returns how much memory the texts take.
func (t *Texts) Bytes() int { return len(t.Data) + 4*len(t.ends) + 8*len(t.slots) }

// KeptBytes bounds the memory that texts, a table of numbers or a page leave to the next one. A name of some megabytes must
// not stay in memory for the whole run.
const KeptBytes = 16 << 20

// Kept returns memory that may be used again: b, or nil if it is too large.
func Kept(b []byte) []byte {
	if cap(b) > KeptBytes {
		return nil
	}
	return b
}

// Reset forgets all texts.
func (t *Texts) Reset() {
	t.Data, t.ends = Kept(t.Data)[:0], t.ends[:0]
	clear(t.slots)
}

// view is a text as a string, for as long as the bytes stay as they are.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
