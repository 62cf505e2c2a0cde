package hfile

import (
	"encoding/binary"
	"math/bits"
)

// entry is a child block under its first key, or a shorter key between the
// last one before it and that.
type entry struct {
	key  []byte
	off  int64
	size uint32
}

// chunk is an index block being collected.
type chunk struct {
	entries []entry
	keys    int   // bytes of all keys
	vints   int   // bytes of their lengths in a root block
	below   []int // root over leaves: data blocks up to and including each leaf
}

func (c *chunk) add(e entry) {
	c.entries = append(c.entries, e)
	c.keys += len(e.key)
	c.vints += len(appendVint(nil, len(e.key)))
}

// nonRoot and root are the payload sizes the chunk would have.
func (c *chunk) nonRoot() int { n := len(c.entries); return 4 + 4*(n+1) + 12*n + c.keys }
func (c *chunk) root() int    { return 12*len(c.entries) + c.vints + c.keys }

// appendNonRoot: u32 n, n+1 × u32 offset of an entry from the end of this table, n × (u64 offset, u32 size, key).
func (c *chunk) appendNonRoot(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.entries)))
	at := 0
	for _, e := range c.entries {
		b = binary.BigEndian.AppendUint32(b, uint32(at))
		at += 12 + len(e.key)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(at))
	for _, e := range c.entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e.off))
		b = binary.BigEndian.AppendUint32(b, e.size)
		b = append(b, e.key...)
	}
	return b
}

// appendRoot: entries of u64 offset, u32 size, vint length of key, key. Their number is in the trailer.
func (c *chunk) appendRoot(b []byte) []byte {
	for _, e := range c.entries {
		b = binary.BigEndian.AppendUint64(b, uint64(e.off))
		b = binary.BigEndian.AppendUint32(b, e.size)
		b = appendVint(b, len(e.key))
		b = append(b, e.key...)
	}
	return b
}

// appendMidKey says where the middle data block's key is: offset and size of its leaf, its number in there.
func (c *chunk) appendMidKey(b []byte) []byte {
	m := (c.below[len(c.below)-1] - 1) / 2
	j, before := 0, 0
	for c.below[j] <= m {
		before = c.below[j]
		j++
	}
	b = binary.BigEndian.AppendUint64(b, uint64(c.entries[j].off))
	b = binary.BigEndian.AppendUint32(b, c.entries[j].size)
	return binary.BigEndian.AppendUint32(b, uint32(m-before))
}

// separator is a short row above last and not above first, as HBase makes it.
func separator(last, first []byte) []byte {
	i := 0
	for i < len(last) && i < len(first) && last[i] == first[i] {
		i++
	}
	s := append(make([]byte, 0, i+1), first[:i]...)
	if i == len(last) { // last is the beginning of first
		return append(s, 0)
	}
	return append(s, last[i]+1) // at most first[i]
}

// appendVint is Hadoop's WritableUtils.writeVInt for n >= 0.
func appendVint(b []byte, n int) []byte {
	if n <= 127 {
		return append(b, byte(n))
	}
	k := (bits.Len(uint(n)) + 7) / 8
	b = append(b, byte(-112-k))
	for i := k - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

// vint reads what appendVint wrote, and one of a 64-bit number; size 0: not a number from 0 up.
func vint(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	first := int8(b[0])
	if first >= 0 {
		return uint64(first), 1
	}
	k := -112 - int(first)
	if k < 1 || k > 8 || len(b) < 1+k {
		return 0, 0
	}
	for _, c := range b[1 : 1+k] {
		n = n<<8 | uint64(c)
	}
	return n, 1 + k
}
