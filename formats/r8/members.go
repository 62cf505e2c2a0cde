package r8

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// span is a row of lines with one name, from which the number is made that sorts as its first bytes do.
type span struct {
	key      uint64
	from, to int32
}

// byName gives the members, sorted by name. Most names stand together, so rows of them are sorted.
func (p *parser) byName() []symbol.Member {
	if p.ordered {
		return p.members
	}
	p.spans = p.spans[:0]
	for i := range p.members {
		name := p.members[i].Name
		if n := len(p.spans); n > 0 && p.members[p.spans[n-1].from].Name == name {
			p.spans[n-1].to = int32(i + 1)
			continue
		}
		p.spans = append(p.spans, span{firstBytes(name), int32(i), int32(i + 1)})
	}
	slices.SortFunc(p.spans, func(a, b span) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Or(cmp.Compare(p.members[a.from].Name, p.members[b.from].Name), cmp.Compare(a.from, b.from))
	})
	p.sorted = slices.Grow(p.sorted[:0], len(p.members))
	for _, s := range p.spans {
		p.sorted = append(p.sorted, p.members[s.from:s.to]...)
	}
	return p.sorted
}

// firstBytes is a number that sorts as the first eight bytes of a name do.
func firstBytes(name string) uint64 {
	if len(name) >= 8 {
		return binary.BigEndian.Uint64([]byte(name[:8]))
	}
	var b [8]byte
	copy(b[:], name)
	return binary.BigEndian.Uint64(b[:])
}

// signatures finds a method or field of the open class by its signature. So each signature is parsed once, and its
// strings are shared. It uses open addressing, because it looks up most lines.
type signatures struct {
	seed  maphash.Seed
	slots []slot
	stamp uint32
	texts [][]byte // by method
	last  [2]int32 // those found last: a third of the lines is about one of them
}

type slot struct {
	stamp, hash uint32
	method      int32
}

func (s *signatures) reset() {
	if s.stamp++; s.stamp == 0 {
		clear(s.slots)
		s.stamp = 1
	}
	s.texts, s.last = s.texts[:0], [2]int32{}
	if s.slots == nil {
		s.slots = make([]slot, 256)
	}
}

// find gives the method, or -1 and the slot for it.
func (s *signatures) find(signature []byte) (method int, at uint64) {
	if len(s.texts) > 0 {
		if string(s.texts[s.last[0]]) == string(signature) {
			return int(s.last[0]), 0
		}
		if string(s.texts[s.last[1]]) == string(signature) {
			s.last[0], s.last[1] = s.last[1], s.last[0]
			return int(s.last[0]), 0
		}
	}
	h := maphash.Bytes(s.seed, signature)
	mask := uint64(len(s.slots) - 1)
	for at = h >> 32 & mask; ; at = (at + 1) & mask {
		e := &s.slots[at]
		if e.stamp != s.stamp {
			e.hash = uint32(h)
			return -1, at
		}
		if e.hash == uint32(h) && string(s.texts[e.method]) == string(signature) {
			s.last = [2]int32{e.method, s.last[0]}
			return int(e.method), at
		}
	}
}

// add enters the signature of the next method in the slot that find gave.
func (s *signatures) add(at uint64, signature []byte) {
	e := &s.slots[at]
	e.stamp, e.method = s.stamp, int32(len(s.texts))
	s.last = [2]int32{e.method, s.last[0]}
	if s.texts = append(s.texts, signature); 2*len(s.texts) < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	for _, e := range old {
		if e.stamp != s.stamp {
			continue
		}
		h := maphash.Bytes(s.seed, s.texts[e.method])
		mask := uint64(len(s.slots) - 1)
		at := h >> 32 & mask
		for s.slots[at].stamp == s.stamp {
			at = (at + 1) & mask
		}
		s.slots[at] = e
	}
}
