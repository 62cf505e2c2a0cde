package dwarf

// skim goes on from buf[p:] past entries that are not reported, up to safe or
// to an entry that takes more than it can do. Most entries end here.
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
