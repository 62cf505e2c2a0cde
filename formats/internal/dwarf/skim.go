package dwarf

// brief says of the codes of a table what it takes to skip their entries, code
// and all: bytes in the upper 24 bits, and how much deeper the next entry is
// in the lower 8; briefStop of entries that take more, briefJump of those whose
// children can be skipped with them: the bytes are those before the offset of
// what follows. It is small, so that it stays in the fastest cache, and one
// comparison is all it asks for.
type brief struct {
	short [256]uint32 // by the first byte
	long  []uint32    // by code-0x80
}

// The last two are out of all levels that skim moves in.
const (
	briefShift = 8
	briefNull  = 1<<briefShift | 0xff // the end of a level
	briefStop  = 0x80
	briefJump  = 0x81
)

func (t *brief) reset() {
	for i := range t.short {
		t.short[i] = briefStop
	}
	t.short[0], t.long = briefNull, t.long[:0]
}

// add adds the next code.
func (t *brief) add(a *abbrev, skip, jump bool) {
	what, code := uint32(briefStop), int32(1)
	if a.code >= 0x80 {
		code = 2
	}
	switch {
	case !skip:
	case jump && a.sibling >= 0:
		what = uint32(a.sibling+code)<<briefShift | briefJump
	case a.fixed >= 0:
		what = uint32(a.fixed+code)<<briefShift | uint32(a.children)
	}
	switch {
	case a.code < 0x80:
		t.short[a.code] = what
	case a.code < 0x4000: // two bytes
		t.long = append(t.long, what)
	}
}

// typeOnly reports whether entries of a tag describe types, and so do those below them.
func typeOnly(tag uint32) bool {
	switch tag {
	case tagStructure, tagUnion, tagEnumeration, tagArray, tagSubroutineType:
		return true
	}
	return false
}

// skim goes on from buf[p:] past entries that are not reported, up to safe or
// to one that takes more than it can do. Most entries end here.
func (r *Reader) skim(p, depth, safe int) (int, int) {
	low := 1 // the level that is not to be left here
	if n := len(r.walk.open); n > 0 {
		low = int(r.walk.open[n-1].depth) + 1
	}
	if low >= scopeDepth || depth >= scopeDepth {
		return p, depth
	}
	b, brief, stack := r.buf[:safe], &r.t.brief[0], &r.scopes.stack
	if r.root.qualifies {
		brief = &r.t.brief[1]
	}
	short, levels := &brief.short, uint(scopeDepth-low)
	from := uint32(r.base - r.u.off)
	for {
		what := uint32(briefStop)
		for uint(p) < uint(len(b)) {
			what = short[b[p]]
			next := depth + int(int8(what))
			if uint(next-low) >= levels {
				break
			}
			stack[uint(depth)%scopeDepth] = from + uint32(p)
			p, depth = p+int(what>>briefShift), next
		}
		if p+1 >= len(b) {
			return p, depth
		}
		if b[p] >= 0x80 {
			i := int(b[p]&0x7f) | int(b[p+1])<<7 - 0x80
			if b[p+1] >= 0x80 || uint(i) >= uint(len(brief.long)) {
				return p, depth
			}
			what = brief.long[i]
			if next := depth + int(int8(what)); uint(next-low) < levels {
				stack[uint(depth)%scopeDepth] = from + uint32(p)
				p, depth = p+int(what>>briefShift), next
				continue
			}
		}
		at := p + int(what>>briefShift)
		if uint8(what) != briefJump || !r.root.flat || at+4 > len(b) {
			return p, depth
		}
		to := int(number(b[at:at+4], r.d.big)) - int(from)
		if to < at+4 || to > len(b) {
			return p, depth
		}
		stack[uint(depth)%scopeDepth] = from + uint32(p)
		p = to
	}
}
