package loads

import "math/bits"

// search finds the part of a partition that holds a position: a table of
// equal steps leads to a few starts, which are then halved.
type search struct {
	base  uint64
	shift uint8
	step  []uint32 // by (pos-base)>>shift: the first start in or after that step
}

// build takes the ascending starts of n parts, start(0) being the base, and
// the last position of all.
func (s *search) build(n int, last uint64, start func(int) uint64) {
	s.base = start(0)
	span := last - s.base
	s.shift = uint8(max(0, bits.Len64(span)-bits.Len(uint(n))+1)) // about n/2 to n steps
	s.step = make([]uint32, span>>s.shift+2)
	i := 0
	for k := range s.step {
		for i < n && (start(i)-s.base)>>s.shift < uint64(k) {
			i++
		}
		s.step[k] = uint32(i)
	}
}

// within bounds the part that holds pos, base ≤ pos ≤ last: it is the last
// with start ≤ pos among [lo, hi), or, if there is none such, lo-1.
func (s *search) within(pos uint64) (lo, hi int) {
	k := (pos - s.base) >> s.shift
	return int(s.step[k]), int(s.step[k+1])
}
