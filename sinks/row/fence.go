package row

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Fence says which rows a load has, packed: the number of strings in its
// dictionary (0: it has none), then for each row, ascending, the distance of
// its last position from the first one it speaks for; all as unsigned LEB128.
type Fence []byte

// appendFence adds a row that speaks for [from, last].
func appendFence(f Fence, from, last uint64) Fence { return binary.AppendUvarint(f, last-from) }

// rows gives the dictionary's length and the last position of every row.
func (f Fence) rows() (shared int, last []uint64, err error) {
	if len(f) == 0 {
		return 0, nil, nil
	}
	v, n := binary.Uvarint(f)
	if n <= 0 || v > maxShared {
		return 0, nil, fmt.Errorf("fence: %w: want the dictionary's length", ErrUnauthentic)
	}
	last = make([]uint64, 0, len(f)-n)
	from, wrapped := uint64(0), false
	for rest := f[n:]; len(rest) > 0; rest = rest[n:] {
		if v2, k := binary.Uvarint(rest); k > 0 && !wrapped && from+v2 >= from {
			last = append(last, from+v2)
			from, n = from+v2+1, k
			wrapped = from == 0 // the row ends at the last position there is
			continue
		}
		return 0, nil, fmt.Errorf("fence: %w: want row %d", ErrUnauthentic, len(last))
	}
	return int(v), last, nil
}

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
