package dwarf

import "slices"

// of is the innermost scope around a function that was noted, -1 if that is
// the unit.
func (s *scopes) of(off uint32) int32 {
	i, ok := slices.BinarySearchFunc(s.notes, off, func(n note, off uint32) int {
		switch {
		case n.off < off:
			return -1
		case n.off > off:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return s.notes[i].scope
}

// note remembers the scope of the function at off, to which the walk has come.
func (r *Reader) note(off uint32, depth int) {
	s := &r.scopes
	if depth > scopeDepth {
		return
	}
	level, in := depth-1, int32(-1)
	for ; level > 0; level-- { // the entry of the unit is no scope
		if k := &s.known[level]; k.off == s.stack[level] {
			in = k.scope
			break
		}
	}
	for level++; level < depth; level++ {
		at := s.stack[level]
		if r.isScope(r.u.off + uint64(at)) {
			s.list = append(s.list, scopeEntry{at, in})
			in = int32(len(s.list) - 1)
		}
		s.known[level] = around{at, in}
	}
	if in >= 0 {
		s.notes = append(s.notes, note{off, in})
	}
}

func (r *Reader) isScope(off uint64) bool {
	var b []byte
	if off >= r.base && off < r.base+uint64(len(r.buf)) {
		b = r.buf[off-r.base:]
	} else {
		b = r.peek(&r.d.info, off, 16)
	}
	code, p := uleb(b, 0)
	if p < 0 {
		return false
	}
	a := r.t.find(code)
	return a != nil && scope(a.tag)
}

// scope reports whether entries of a tag are part of the names of functions
// below them.
func scope(tag uint32) bool {
	switch tag {
	case tagSubprogram, tagNamespace, tagClass, tagStructure, tagUnion, tagInterface, tagEnumeration, tagModule:
		return true
	}
	return false
}
