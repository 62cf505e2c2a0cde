package row

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// keyed is a string, and eight bytes of it as a number that sorts like them.
type keyed struct {
	key uint64
	at  uint32
}

// fewStrings is how many are better compared than keyed again.
const fewStrings = 12

// sortStrings sorts indices of strs by the bytes of their strings. Mangled
// names begin alike, so a comparison reads far: taking eight bytes of each
// string at a time reads each byte once, and is twice as fast.
func sortStrings(strs []string, indices []uint32) {
	ks := make([]keyed, len(indices))
	for i, at := range indices {
		ks[i].at = at
	}
	sortFrom(strs, ks, 0)
	for i := range ks {
		indices[i] = ks[i].at
	}
}

// sortFrom sorts strings that are equal in their first depth bytes.
func sortFrom(strs []string, ks []keyed, depth int) {
	for len(ks) > fewStrings {
		same := true // and none ends
		for i := range ks {
			if s := strs[ks[i].at][depth:]; len(s) >= 8 {
				ks[i].key = binary.BigEndian.Uint64([]byte(s[:8]))
			} else {
				var b [8]byte
				copy(b[:], s)
				ks[i].key, same = binary.BigEndian.Uint64(b[:]), false
			}
			same = same && ks[i].key == ks[0].key
		}
		depth += 8
		if same {
			continue
		}
		slices.SortFunc(ks, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		for len(ks) > 0 {
			n, ends := 1, len(strs[ks[0].at]) < depth
			for n < len(ks) && ks[n].key == ks[0].key {
				ends = ends || len(strs[ks[n].at]) < depth
				n++
			}
			if ends && n > 1 {
				compareFrom(strs, ks[:n], depth-8) // zeros that fill are as zeros that stand
			} else if n > 1 {
				sortFrom(strs, ks[:n], depth)
			}
			ks = ks[n:]
		}
		return
	}
	compareFrom(strs, ks, depth)
}

func compareFrom(strs []string, ks []keyed, depth int) {
	slices.SortFunc(ks, func(a, b keyed) int { return strings.Compare(strs[a.at][depth:], strs[b.at][depth:]) })
}
