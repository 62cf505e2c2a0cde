package dwarf

// brief says of the codes of a table what it takes to skip their entries, code
// and all: bytes in the upper 24 bits, and how much deeper the next entry is
// in the lower 8. Those that take more say what there: briefJump of those whose
// children can be skipped with them, the bytes being those before the offset of
// what follows; briefVary of those that vary, with the start of their skip
// program; briefNote of functions that are noted. It is small, so that it stays
// in the fastest cache, and one comparison is all it asks for.
type brief struct {
	short [256]uint32 // by the first byte, which of codes from 0x80 on is the code where the second is 1
	long  []uint32    // by code-0x100
}

// What is not plain leads out of the levels below skimDepth, which are those that skim moves in. Its last bit is how much
// deeper the next entry is.
const (
	briefShift = 8
	briefNull  = 1<<briefShift | 0xff // the end of a level
	briefStop  = 0x80
	briefJump  = 0x82
	briefVary  = 0x84
	briefNote  = 0x86
	skimDepth  = 120
)

func (t *brief) reset() {
	for i := range t.short {
		t.short[i] = briefStop
	}
	t.short[0], t.long = briefNull, t.long[:0]
}

// add adds the next code. With scoped, names have scopes: what stands in types is not passed over, and functions are noted.
func (t *brief) add(a *abbrev, scoped bool) {
	what, code := uint32(briefStop), int32(1)
	if a.code >= 0x80 {
		code = 2
	}
	switch {
	case a.class != classNone && a.class != classNote:
	case a.class == classNote && scoped:
		if a.fixed >= 0 {
			what = uint32(a.fixed+code)<<briefShift | briefNote | uint32(a.children)
		}
	case a.sibling >= 0 && !scoped:
		what = uint32(a.sibling+code)<<briefShift | briefJump
	case a.fixed >= 0:
		what = uint32(a.fixed+code)<<briefShift | uint32(a.children)
	case a.skip < 1<<(32-briefShift):
		what = a.skip<<briefShift | briefVary | uint32(a.children)
	}
	switch {
	case a.code < 0x100:
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
	if low >= skimDepth || depth >= skimDepth {
		return p, depth
	}
	b, brief, stack := r.buf[:safe], &r.t.brief[0], &r.scopes.stack
	if r.root.qualifies {
		brief = &r.t.brief[1]
	}
	short, levels := &brief.short, uint(skimDepth-low)
	from := uint32(r.base - r.u.off)
	for {
		what := uint32(briefStop)
		for uint(p+1) < uint(len(b)) {
			code := uint32(b[p]) | uint32(b[p+1])<<8
			what = short[code&0xff]
			next := depth + int(int8(what))
			if uint(next-low) >= levels || code&0x80*(code>>8^1) != 0 {
				break
			}
			stack[uint(depth)%scopeDepth] = from + uint32(p)
			p, depth = p+int(what>>briefShift), next
		}
		if p+1 >= len(b) {
			return p, depth
		}
		code := 1 + int(b[p]>>7) // bytes
		if code == 2 && b[p+1] != 1 {
			i := int(b[p]&0x7f) | int(b[p+1])<<7 - 0x100
			if b[p+1] >= 0x80 || uint(i) >= uint(len(brief.long)) {
				return p, depth
			}
			what = brief.long[i]
		}
		to, next := p+int(what>>briefShift), depth+int(what&1)
		switch what &^ 1 & 0xff {
		case briefStop:
			return p, depth
		case briefJump:
			if !r.root.flat || to+4 > len(b) {
				return p, depth
			}
			at := to
			if to = int(number(b[at:at+4], r.d.big)) - int(from); to < at+4 || to > len(b) {
				return p, depth
			}
		case briefVary:
			if to = r.t.skipProgram(what>>briefShift, b, p+code, r.u.shape, r.d.big); to < 0 {
				return p, depth
			}
		case briefNote:
		default:
			next = depth + int(int8(what))
		}
		if uint(next-low) >= levels {
			return p, depth
		}
		stack[uint(depth)%scopeDepth] = from + uint32(p)
		if what&^1&0xff == briefNote {
			r.note(from+uint32(p), depth)
		}
		p, depth = to, next
	}
}
