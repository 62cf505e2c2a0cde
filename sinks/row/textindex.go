package row

import "hash/maphash"

// textIndex finds strings: those of the dictionary, which stay, and those of the open block.
type textIndex struct {
	seed   maphash.Seed
	slots  []textSlot
	mask   uint64
	stamp  uint32
	texts  []string // of the open block
	shared []string // of the dictionary
}

// textSlot holds the number of a string plus 1: one of the dictionary, or one of the block that has that stamp.
type textSlot struct{ hash, shared, stamp, at uint32 }

func newTextIndex(shared []string) textIndex {
	n := 1 << 12
	for n < 2*len(shared)+1<<12 {
		n *= 2
	}
	x := textIndex{seed: maphash.MakeSeed(), slots: make([]textSlot, n), mask: uint64(n - 1), stamp: 1, shared: shared}
	for i, s := range shared {
		h := maphash.String(x.seed, s)
		at := h & x.mask
		for x.slots[at].shared != 0 {
			at = (at + 1) & x.mask
		}
		x.slots[at] = textSlot{hash: uint32(h >> 32), shared: uint32(i + 1)}
	}
	return x
}

// find gives the dictionary's number of s plus 1, or the block's plus 1; both 0: it is new, and entered in the block.
func (x *textIndex) find(s string) (shared, here uint32) {
	h := maphash.String(x.seed, s)
	for at := h & x.mask; ; at = (at + 1) & x.mask {
		e := &x.slots[at]
		switch {
		case e.shared != 0:
			if e.hash == uint32(h>>32) && x.shared[e.shared-1] == s {
				return e.shared, 0
			}
		case e.stamp == x.stamp:
			if e.hash == uint32(h>>32) && x.texts[e.at] == s {
				return 0, e.at + 1
			}
		default:
			e.hash, e.stamp, e.at = uint32(h>>32), x.stamp, uint32(len(x.texts))
			x.texts = append(x.texts, s)
			if 2*len(x.texts) > len(x.slots)-2*len(x.shared) {
				x.grow()
			}
			return 0, 0
		}
	}
}

func (x *textIndex) grow() {
	texts := x.texts
	n := 2 * len(x.slots)
	seed, stamp := x.seed, x.stamp
	*x = newTextIndex(x.shared)
	for len(x.slots) < n {
		x.slots = make([]textSlot, n)
		x.mask = uint64(n - 1)
		x.seed, x.stamp = seed, stamp
		for i, s := range x.shared {
			x.place(s, textSlot{shared: uint32(i + 1)})
		}
	}
	x.texts = texts
	for i, s := range texts {
		x.place(s, textSlot{stamp: x.stamp, at: uint32(i)})
	}
}

func (x *textIndex) place(s string, e textSlot) {
	h := maphash.String(x.seed, s)
	e.hash = uint32(h >> 32)
	at := h & x.mask
	for x.slots[at].shared != 0 || x.slots[at].stamp == x.stamp {
		at = (at + 1) & x.mask
	}
	x.slots[at] = e
}

// reset forgets the block's strings.
func (x *textIndex) reset() {
	if x.stamp++; x.stamp == 0 {
		for i := range x.slots {
			x.slots[i].stamp = 0
		}
		x.stamp = 1
	}
	clear(x.texts)
	x.texts = x.texts[:0]
}
