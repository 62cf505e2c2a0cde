package explode

import (
	"math/bits"
	"slices"
)

// flush flattens the groups that have been collected and emits their runs.
func (p *part) flush() error {
	t := &p.tree
	if len(t.groups) == 0 {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.settleClaims()
	if err := p.lines.load(p); err != nil {
		return err
	}
	if err := p.name(); err != nil {
		return err
	}
	for g := range t.groups {
		end := int32(len(t.intervals))
		if g+1 < len(t.groups) {
			end = t.groups[g+1].interval
		}
		f := &p.flatten
		if f.clip = p.settle.lost && p.settle.beaten[g]; f.clip {
			if f.own = p.settle.of(int32(g)); len(f.own) == 0 {
				continue
			}
		}
		if err := p.group(t.groups[g].interval, end); err != nil {
			return err
		}
	}
	t.clear()
	return p.run.end(p)
}

// group flattens the intervals [first, end) of one group: it sweeps them by
// address, and each address belongs to the interval that began last. Parents
// come before their children, in the list and, at one address, in the sweep,
// so that this is the innermost one.
func (p *part) group(first, end int32) error {
	all := p.tree.intervals[first:end]
	if len(all) == 1 {
		return p.leaf(all[0].Start, all[0].End, all[0].node)
	}
	f := &p.flatten
	low, high, sorted := all[0].Start, all[0].Start, true
	for i := range all {
		low = min(low, all[i].Start)
		sorted = sorted && high <= all[i].Start
		high = max(high, all[i].Start)
	}
	f.stack = f.stack[:0]
	pos := low
	if sorted {
		for i := range all {
			if err := p.begin(&pos, all[i]); err != nil {
				return err
			}
		}
		return p.finish(&pos, ^uint64(0))
	}
	if high-low < 1<<32 {
		if f.keys = f.keys[:0]; len(all) > cap(f.keys) {
			f.keys = make([]uint64, 0, 2*len(all))
		}
		for i := range all {
			f.keys = append(f.keys, (all[i].Start-low)<<32|uint64(i))
		}
		f.sort(bits.Len64(high - low))
		for _, k := range f.keys {
			if err := p.begin(&pos, all[uint32(k)]); err != nil {
				return err
			}
		}
		return p.finish(&pos, ^uint64(0))
	}
	f.order = f.order[:0]
	for i := range all {
		f.order = append(f.order, int32(i))
	}
	slices.SortStableFunc(f.order, func(a, b int32) int {
		switch {
		case all[a].Start < all[b].Start:
			return -1
		case all[a].Start > all[b].Start:
			return 1
		}
		return 0
	})
	for _, i := range f.order {
		if err := p.begin(&pos, all[i]); err != nil {
			return err
		}
	}
	return p.finish(&pos, ^uint64(0))
}

// fewKeys is how many are better compared than counted.
const fewKeys = 64

// sort sorts keys by their starts, which have that many bits; keys with equal starts stay in the order of their
// indices, in which they all come.
func (f *flatten) sort(width int) {
	if len(f.keys) < fewKeys {
		slices.Sort(f.keys)
		return
	}
	if len(f.keys) > cap(f.room) {
		f.room = make([]uint64, cap(f.keys))
	}
	f.room = f.room[:len(f.keys)]
	for shift := 32; shift < 32+width; shift += 8 {
		var at [256]int32 // where the next key goes, by its digit
		for _, k := range f.keys {
			at[uint8(k>>shift)]++
		}
		sum := int32(0)
		for digit, n := range at {
			at[digit] = sum
			sum += n
		}
		for _, k := range f.keys {
			digit := uint8(k >> shift)
			f.room[at[digit]] = k
			at[digit]++
		}
		f.keys, f.room = f.room, f.keys
	}
}

// begin emits what lies before v and puts v on top.
func (p *part) begin(pos *uint64, v interval) error {
	if err := p.finish(pos, v.Start); err != nil {
		return err
	}
	*pos = v.Start
	p.flatten.stack = append(p.flatten.stack, v)
	return nil
}

// finish emits the open range, up to limit.
func (p *part) finish(pos *uint64, limit uint64) error {
	f := &p.flatten
	for len(f.stack) > 0 && *pos < limit {
		top := &f.stack[len(f.stack)-1]
		if *pos < top.End {
			to := min(top.End, limit)
			if err := p.leaf(*pos, to, top.node); err != nil {
				return err
			}
			*pos = to
		}
		if top.End <= *pos {
			f.stack = f.stack[:len(f.stack)-1]
		}
	}
	return nil
}

// leaf emits [low, high) of a node, as far as its group has it.
func (p *part) leaf(low, high uint64, node int32) error {
	f := &p.flatten
	if !f.clip {
		return p.lined(low, high, node)
	}
	for len(f.own) > 0 && f.own[0].End <= low {
		f.own = f.own[1:]
	}
	for _, v := range f.own {
		if v.Start >= high {
			break
		}
		if from, to := max(low, v.Start), min(high, v.End); from < to {
			if err := p.lined(from, to, node); err != nil {
				return err
			}
		}
	}
	return nil
}
