package row

// siteIndex finds the number of a site in the open block: open addressing,
// because a third of the encoder's time is spent here.
type siteIndex struct {
	slots     []int32  // number plus 1; 0: free. Twice as many as sites, or more
	functions []uint32 // by site
}

func (x *siteIndex) reset() {
	clear(x.slots)
	x.functions = x.functions[:0]
}

// find gives the site's number, or -1 and the slot for it.
func (x *siteIndex) find(sites []siteState, function uint32, s site) (at int32, slot uint32) {
	mask := uint32(len(x.slots) - 1)
	h := uint64(function)<<32 | uint64(s.line)
	h = (h ^ uint64(s.column)<<20 ^ uint64(s.file)<<44) * 0x9e3779b97f4a7c15
	for slot = uint32(h>>32) & mask; ; slot = (slot + 1) & mask {
		at = x.slots[slot] - 1
		if at < 0 || x.functions[at] == function && sites[at].site == s {
			return at, slot
		}
	}
}

// add enters the newest site.
func (x *siteIndex) add(sites []siteState, function uint32, slot uint32) {
	x.functions = append(x.functions, function)
	if 2*len(x.functions) < len(x.slots) {
		x.slots[slot] = int32(len(x.functions))
		return
	}
	x.slots = make([]int32, 2*len(x.slots))
	for i, f := range x.functions {
		_, slot := x.find(sites, f, sites[i].site)
		x.slots[slot] = int32(i) + 1
	}
}
