package classes

import "hash/maphash"

// textIndex finds strings of the open block in its text, where they stand one behind the other.
type textIndex struct {
	seed  maphash.Seed
	slots []textSlot // a power of two
	stamp uint32     // of the block
	ends  []uint32   // by string: where it ends in the text
}

// textSlot holds a string of the block that has that stamp.
type textSlot struct{ hash, stamp, at uint32 }

func newTextIndex() textIndex {
	return textIndex{seed: maphash.MakeSeed(), slots: make([]textSlot, 1<<6), stamp: 1}
}

// count is how many strings there are.
func (x *textIndex) count() int { return len(x.ends) }

// find says how many strings stand in text behind s. A new s is entered, as the string that is
// appended to text next.
func (x *textIndex) find(s string, text []byte) (back uint32, ok bool) {
	h := maphash.String(x.seed, s)
	mask := uint64(len(x.slots) - 1)
	at := h & mask
	for ; x.slots[at].stamp == x.stamp; at = (at + 1) & mask {
		if e := &x.slots[at]; e.hash == uint32(h>>32) && string(x.text(e.at, text)) == s {
			return uint32(len(x.ends)-1) - e.at, true
		}
	}
	x.slots[at] = textSlot{uint32(h >> 32), x.stamp, uint32(len(x.ends))}
	x.ends = append(x.ends, uint32(len(text)+len(s)))
	if 2*len(x.ends) > len(x.slots) {
		x.grow(append(text, s...))
	}
	return 0, false
}

func (x *textIndex) text(i uint32, text []byte) []byte {
	from := uint32(0)
	if i > 0 {
		from = x.ends[i-1]
	}
	return text[from:x.ends[i]]
}

func (x *textIndex) grow(text []byte) {
	x.slots = make([]textSlot, 2*len(x.slots))
	mask := uint64(len(x.slots) - 1)
	for i := range x.ends {
		h := maphash.Bytes(x.seed, x.text(uint32(i), text))
		at := h & mask
		for x.slots[at].stamp == x.stamp {
			at = (at + 1) & mask
		}
		x.slots[at] = textSlot{uint32(h >> 32), x.stamp, uint32(i)}
	}
}

// reset forgets the strings.
func (x *textIndex) reset() {
	if x.stamp++; x.stamp == 0 {
		clear(x.slots)
		x.stamp = 1
	}
	x.ends = x.ends[:0]
}
