package native

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Settle sorts symbols as Symbols documents, and drops symbols of .dynsym that
// say nothing new.
func Settle(all []Symbol) []Symbol {
	sortSymbols(all)
	n, best := 0, 0
	for i := range all {
		s := &all[i]
		if n == 0 || s.Addr != all[best].Addr {
			best = n
		} else if s.Rank > all[best].Rank && s.own() <= all[best].own() {
			continue
		}
		if n != i {
			all[n] = *s
		}
		n++
	}
	all = all[:n]
	// Without a size a symbol has what follows it in its section: not the
	// constants that a linker put behind the code.
	next := uint64(math.MaxUint64)
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		if i+1 < len(all) && all[i+1].Addr != s.Addr {
			next = all[i+1].Addr
		}
		if s.Open && next-s.Addr < s.Size {
			s.Size = 0
		}
		s.Open = false
	}
	return slices.Clip(all)
}

// Bound ends the room of a symbol where its section does.
func (s *Symbol) Bound(end uint64) {
	if s.Addr < end {
		s.Size = min(s.Size, end-s.Addr)
	}
}

// sortSymbols sorts by address, rank, falling size and falling place in the
// table. Symbols are large: a number of each is sorted, and each is moved once.
func sortSymbols(all []Symbol) {
	if len(all) < 2 {
		return
	}
	low, high := all[0].Addr, all[0].Addr
	for i := range all {
		low, high = min(low, all[i].Addr), max(high, all[i].Addr)
	}
	last := len(all) - 1
	places := bits.Len(uint(last))
	if bits.Len64(high-low)+places > 64 { // code at both ends of the address space
		slices.Reverse(all)
		slices.SortStableFunc(all, func(a, b Symbol) int { return cmp.Or(cmp.Compare(a.Addr, b.Addr), prefer(&a, &b)) })
		return
	}
	keys := make([]uint64, len(all)) // address from the lowest one on, then place from the last one on
	for i := range keys {
		keys[i] = (all[last-i].Addr-low)<<places | uint64(i)
	}
	keys = sortKeys(keys, places)
	from := func(key uint64) int { return last - int(key&(1<<places-1)) }
	for i, n := 0, 0; i < len(keys); i += n {
		for n = 1; i+n < len(keys) && keys[i+n]>>places == keys[i]>>places; n++ {
		}
		if n > 1 {
			slices.SortStableFunc(keys[i:i+n], func(a, b uint64) int { return prefer(&all[from(a)], &all[from(b)]) })
		}
	}
	for i := range keys {
		first, to := all[i], i
		for {
			next := from(keys[to])
			keys[to] = uint64(last - to) // it is in its place
			if next == i {
				all[to] = first
				break
			}
			all[to], to = all[next], next
		}
	}
}

// prefer compares symbols at one address.
func prefer(a, b *Symbol) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.own(), a.own()))
}

// sortKeys sorts by the bits from shift on, is stable, and returns the result, which may be in other
// memory: a byte after the other, from the lowest one on, and only bytes that differ.
func sortKeys(keys []uint64, shift int) []uint64 {
	differ := uint64(0)
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	var other []uint64
	for ; shift < 64; shift += 8 {
		if byte(differ>>shift) == 0 {
			continue
		}
		if other == nil {
			other = make([]uint64, len(keys))
		}
		var at [256]uint32
		for _, k := range keys {
			at[byte(k>>shift)]++
		}
		sum := uint32(0)
		for b, n := range at {
			at[b] = sum
			sum += n
		}
		for _, k := range keys {
			to := &at[byte(k>>shift)]
			other[*to] = k
			*to++
		}
		keys, other = other, keys
	}
	return keys
}
