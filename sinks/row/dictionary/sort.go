package dictionary

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// sorted is a string in its place among others.
type sorted struct {
	key   uint64 // while sorting: eight bytes of it, a number that sorts like them
	at    uint32 // its index
	alike uint32 // bytes that it begins with like the one before it
}

// fewStrings is how many are better inserted one by one than divided.
const fewStrings = 12

// unknownAlike stands for what only the strings themselves tell: where zeros that fill a key are as zeros that stand.
const unknownAlike = math.MaxUint32

// sortStrings sorts strings of strs, told by index, by their bytes. Mangled
// names begin alike, so a comparison reads far: this is Bentley's and
// Sedgewick's quicksort that goes on behind equal bytes, eight bytes at a
// time, so each byte is read once.
func sortStrings(strs []string, ss []sorted) {
	if len(ss) == 0 {
		return
	}
	s := sorter{strs: strs}
	s.from(ss, 0)
	ss[0].alike = 0
	for i := 1; i < len(ss) && s.zeros; i++ {
		if ss[i].alike == unknownAlike {
			ss[i].alike = uint32(alike(strs[ss[i-1].at], strs[ss[i].at]))
		}
	}
}

type sorter struct {
	strs  []string
	zeros bool // unknownAlike was noted
}

// neighbor is the key of the string before the strings to be sorted, if there is a string that differs from them
// only behind depth.
type neighbor struct {
	key   uint64
	there bool
}

// from sorts strings, two or more unless they are all, that are equal in their first depth bytes. What the first one
// has in common with the one before is left to the caller.
func (s *sorter) from(ss []sorted, depth int) {
	for {
		if len(ss) == 2 {
			s.two(ss, depth)
			return
		}
		first, differ := s.key(ss[0].at, depth), uint64(0)
		for i := range ss {
			key := s.key(ss[i].at, depth)
			ss[i].key = key
			differ |= key ^ first
		}
		if differ != 0 {
			s.keyed(ss, depth, 2*bits.Len(uint(len(ss))), neighbor{})
			return
		}
		if first&0xff == 0 {
			s.compared(ss, depth)
			return
		}
		depth += 8
	}
}

// key is the eight bytes of a string from depth on, filled with zeros.
func (s *sorter) key(at uint32, depth int) uint64 {
	rest := s.strs[at][depth:]
	if len(rest) >= 8 {
		return binary.BigEndian.Uint64([]byte(rest[:8]))
	}
	var b [8]byte
	copy(b[:], rest)
	return binary.BigEndian.Uint64(b[:])
}

// keyed sorts strings by the keys that they have of the bytes from depth on, and then by the bytes behind. The keys chosen
// to divide them may be chosen badly divisions times.
func (s *sorter) keyed(ss []sorted, depth, divisions int, before neighbor) {
	for ; len(ss) > fewStrings; divisions-- {
		if divisions == 0 { // made to be slow
			slices.SortFunc(ss, func(a, b sorted) int { return cmp.Compare(a.key, b.key) })
			s.groups(ss, depth, before)
			return
		}
		p := pivot(ss)
		less, most := divide(ss, p)
		if less > 0 {
			s.keyed(ss[:less], depth, divisions-1, before)
			before = neighbor{most, true}
		}
		ss = ss[less:]
		equal := len(ss)
		if p < math.MaxUint64 {
			equal, _ = divide(ss, p+1)
		}
		s.equal(ss[:equal], depth, before)
		ss, before = ss[equal:], neighbor{p, true}
	}
	for i := 1; i < len(ss); i++ {
		x, j := ss[i], i
		for ; j > 0 && ss[j-1].key > x.key; j-- {
			ss[j] = ss[j-1]
		}
		ss[j] = x
	}
	s.groups(ss, depth, before)
}

// divide puts the strings with keys below p first; n is how many, most the highest of their keys. It
// has no branch that depends on a key: half of them would be mispredicted.
func divide(ss []sorted, p uint64) (n int, most uint64) {
	for i := range ss {
		x := ss[i]
		ss[i] = ss[n]
		ss[n] = x
		below, key := 0, uint64(0)
		if x.key < p {
			below = 1
		}
		if x.key < p {
			key = x.key
		}
		n += below
		most = max(most, key)
	}
	return n, most
}

// pivot is a key that about half of them may be below.
func pivot(ss []sorted) uint64 {
	median := func(a, b, c int) uint64 {
		x, y, z := ss[a].key, ss[b].key, ss[c].key
		return max(min(x, y), min(max(x, y), z))
	}
	n := len(ss)
	if n < 128 {
		return median(n/4, n/2, n/4*3)
	}
	e := n / 8
	x, y, z := median(0, e, 2*e), median(3*e, 4*e, 5*e), median(6*e, 7*e, n-1)
	return max(min(x, y), min(max(x, y), z))
}

// groups goes on with strings that are sorted by their keys.
func (s *sorter) groups(ss []sorted, depth int, before neighbor) {
	for len(ss) > 0 {
		key, n := ss[0].key, 1
		for n < len(ss) && ss[n].key == key {
			n++
		}
		s.equal(ss[:n], depth, before)
		ss, before = ss[n:], neighbor{key, true}
	}
}

// equal goes on with strings of equal keys.
func (s *sorter) equal(ss []sorted, depth int, before neighbor) {
	key := ss[0].key // sorting on makes others of them
	switch {
	case len(ss) == 1:
	case key&0xff == 0:
		s.compared(ss, depth)
	default:
		s.from(ss, depth+8)
	}
	if !before.there {
		return
	}
	n := bits.LeadingZeros64(key^before.key) / 8
	if n > 0 && byte(key>>(64-8*n)) == 0 {
		ss[0].alike, s.zeros = unknownAlike, true
		return
	}
	ss[0].alike = uint32(depth + n)
}

// two sorts two strings.
func (s *sorter) two(ss []sorted, depth int) {
	a, b := s.strs[ss[0].at][depth:], s.strs[ss[1].at][depth:]
	n := alike(a, b)
	if n == len(b) || n < len(a) && a[n] > b[n] {
		ss[0], ss[1] = ss[1], ss[0]
	}
	ss[1].alike = uint32(depth + n)
}

// compared sorts strings; some may end within their keys.
func (s *sorter) compared(ss []sorted, depth int) {
	slices.SortFunc(ss, func(a, b sorted) int { return strings.Compare(s.strs[a.at][depth:], s.strs[b.at][depth:]) })
	for i := 1; i < len(ss); i++ {
		ss[i].alike = uint32(depth + alike(s.strs[ss[i-1].at][depth:], s.strs[ss[i].at][depth:]))
	}
}

// alike counts the bytes that two strings begin with alike.
func alike(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64([]byte(a[i:i+8])) ^ binary.LittleEndian.Uint64([]byte(b[i:i+8]))
		if x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
