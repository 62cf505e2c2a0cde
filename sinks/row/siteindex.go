package row

// siteIndex finds the number of a site in the open block: open addressing,
// because a third of the encoder's time is spent here.
type siteIndex struct {
	slots []int32 // number plus 1; 0: free. Twice as many as sites, or more
}

func (x *siteIndex) reset() { clear(x.slots) }

// find gives the site's number, or -1 and the slot for it.
func (x *siteIndex) find(sites []siteState, function, file, line, column uint32) (at int32, slot uint32) {
	slots := x.slots
	mask := uint32(len(slots) - 1)
	h := uint64(function)<<32 | uint64(line)
	h = (h ^ uint64(column)<<20 ^ uint64(file)<<44) * 0x9e3779b97f4a7c15
	for slot = uint32(h>>32) & mask; ; slot = (slot + 1) & mask {
		at = slots[slot] - 1
		if at < 0 {
			return at, slot
		}
		if s := &sites[at]; s.function == function && s.is(file, line, column) {
			return at, slot
		}
	}
}

// add enters the newest site.
func (x *siteIndex) add(sites []siteState, slot uint32) {
	if 2*len(sites) < len(x.slots) {
		x.slots[slot] = int32(len(sites))
		return
	}
	x.slots = make([]int32, 2*len(x.slots))
	for i := range sites {
		s := &sites[i]
		_, slot := x.find(sites, s.function, s.file, s.line, s.column)
		x.slots[slot] = int32(i) + 1
	}
}
