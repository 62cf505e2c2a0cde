package native

import (
	"cmp"
	"slices"
)

// placed is where a symbol is to go.
type placed struct {
	addr uint64
	from uint32 // place in the table; larger: later
}

// sortSymbols sorts by address, rank, falling size and falling place in the
// table. Symbols are large: what is sorted is small, and each is moved once.
func sortSymbols(all []Symbol) {
	keys := make([]placed, len(all))
	for i := range keys {
		from := len(all) - 1 - i // of those at one address the last of the table is the first
		keys[i] = placed{all[from].Addr, uint32(from)}
	}
	keys = sortPlaced(keys)
	for i, n := 0, 0; i < len(keys); i += n {
		for n = 1; i+n < len(keys) && keys[i+n].addr == keys[i].addr; n++ {
		}
		if n > 1 {
			slices.SortStableFunc(keys[i:i+n], func(a, b placed) int {
				s, t := &all[a.from], &all[b.from]
				return cmp.Or(cmp.Compare(s.Rank, t.Rank), cmp.Compare(t.Size, s.Size))
			})
		}
	}
	for i := range keys {
		first, to := all[i], i
		for {
			from := int(keys[to].from)
			keys[to].from = uint32(to) // it is in its place
			if from == i {
				all[to] = first
				break
			}
			all[to], to = all[from], from
		}
	}
}

// sortPlaced sorts by address, what is equal stays as it was, and gives the result, which may be in other memory: a byte of
// the address after the other, from the lowest one on, and only those that are not the same in all.
func sortPlaced(keys []placed) []placed {
	differ := uint64(0)
	for i := range keys {
		differ |= keys[i].addr ^ keys[0].addr
	}
	var other []placed
	for shift := 0; shift < 64; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
		if other == nil {
			other = make([]placed, len(keys))
		}
		var at [256]uint32
		for i := range keys {
			at[byte(keys[i].addr>>shift)]++
		}
		sum := uint32(0)
		for b, n := range at {
			at[b] = sum
			sum += n
		}
		for _, k := range keys {
			to := &at[byte(k.addr>>shift)]
			other[*to] = k
			*to++
		}
		keys, other = other, keys
	}
	return keys
}
