package dwarf

import "sort"

// scopes are the entries of a unit that give names to what is below them, in
// the order of the file: from them the scope of any entry is found without a
// second pass. Offsets are from the unit's header.
type scopes struct {
	list []scope
	cur  int32
}

type scope struct {
	off, end uint32 // end 0: not left yet
	parent   int32  // index, -1: the unit
}

func (s *scopes) reset() { s.list, s.cur = s.list[:0], -1 }

func (s *scopes) open(off uint32) int32 {
	s.list = append(s.list, scope{off: off, parent: s.cur})
	s.cur = int32(len(s.list) - 1)
	return s.cur
}

func (s *scopes) close(i int32, end uint32) {
	s.list[i].end = end
	s.cur = s.list[i].parent
}

// of is the innermost scope around the entry at off, -1 if that is the unit.
func (s *scopes) of(off uint32) int32 {
	i := int32(sort.Search(len(s.list), func(i int) bool { return s.list[i].off >= off })) - 1
	for i >= 0 && s.list[i].end != 0 && s.list[i].end <= off {
		i = s.list[i].parent
	}
	return i
}
