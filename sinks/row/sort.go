package row

import (
	"cmp"
	"encoding/binary"
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

// fewStrings is how many are better compared than keyed again.
const fewStrings = 12

// sortStrings sorts strings of strs, told by index, by their bytes. Mangled
// names begin alike, so a comparison reads far: taking eight bytes of each
// string at a time reads each byte once, and is twice as fast.
func sortStrings(strs []string, ss []sorted) {
	sortFrom(strs, ss, 0)
	if len(ss) > 0 {
		ss[0].alike = 0
	}
}

// sortFrom sorts strings that are equal in their first depth bytes. The
// caller knows what the first one has in common with the one before.
func sortFrom(strs []string, ss []sorted, depth int) {
	for len(ss) > fewStrings {
		same, short := true, false
		for i := range ss {
			if s := strs[ss[i].at][depth:]; len(s) >= 8 {
				ss[i].key = binary.BigEndian.Uint64([]byte(s[:8]))
			} else {
				var b [8]byte
				copy(b[:], s)
				ss[i].key, short = binary.BigEndian.Uint64(b[:]), true
			}
			same = same && ss[i].key == ss[0].key
		}
		if same && !short {
			depth += 8
			continue
		}
		slices.SortFunc(ss, func(a, b sorted) int { return cmp.Compare(a.key, b.key) })
		groups(strs, ss, depth, short)
		return
	}
	compareFrom(strs, ss, depth)
}

// groups goes on with strings that are sorted by the eight bytes from depth on.
func groups(strs []string, ss []sorted, depth int, short bool) {
	last := uint64(0) // the key before: sorting on makes others of those in ss
	for from, n := 0, 0; from < len(ss); from += n {
		key, ends := ss[from].key, false
		for n = 0; from+n < len(ss) && ss[from+n].key == key; n++ {
			ends = ends || short && len(strs[ss[from+n].at]) < depth+8
		}
		if group := ss[from : from+n]; ends {
			compareFrom(strs, group, depth) // zeros that fill are as zeros that stand
		} else if n > 1 {
			sortFrom(strs, group, depth+8)
		}
		if from > 0 {
			alike := depth + bits.LeadingZeros64(key^last)/8
			if short {
				alike = min(alike, len(strs[ss[from].at]), len(strs[ss[from-1].at]))
			}
			ss[from].alike = uint32(alike)
		}
		last = key
	}
}

func compareFrom(strs []string, ss []sorted, depth int) {
	slices.SortFunc(ss, func(a, b sorted) int { return strings.Compare(strs[a.at][depth:], strs[b.at][depth:]) })
	for i := 1; i < len(ss); i++ {
		ss[i].alike = uint32(depth + alike(strs[ss[i-1].at][depth:], strs[ss[i].at][depth:]))
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
