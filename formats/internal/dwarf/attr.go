package dwarf

import "encoding/binary"

// readEntry reads the attributes of an entry of ab at b[p:], base being the
// offset of b in its section. It returns the position behind the entry, -1 if
// the entry does not end in b.
func (t *abbrevs) readEntry(ab *abbrev, b []byte, p int, base uint64, h shape, big bool, a *attrs) int {
	if ab.fixed >= 0 {
		end := p + int(ab.fixed)
		switch {
		case !big && len(b)-end >= wordBytes:
			t.readFixed(ab, b[p:end+wordBytes], a)
		case end <= len(b):
			t.readNumbers(ab, b[p:end], big, a)
		default:
			return -1
		}
		return end
	}
	a.has = 0
	for i := range t.reads[ab.read : ab.read+ab.reads] {
		st := &t.reads[int(ab.read)+i]
		p += int(st.skip)
		form, size := st.form, int(st.size)
		if form == formIndirect {
			f, q := uleb(b, p)
			if q < 0 {
				return -1
			}
			p = q
			if form = shortForm(f); form == formIndirect || form == formImplicitConst || form == formBad {
				return -1
			}
			size = h.size(form)
		}
		var v uint64
		switch {
		case size == 0:
			v = uint64(st.konst)
		case size > 0:
			if p > len(b) || size > len(b)-p {
				return -1
			}
			if size <= 8 {
				v = number(b[p:p+size], big)
			}
			p += size
		case form == formString:
			v = base + uint64(p)
			if p = skipValue(opString, b, p, h, big); p < 0 {
				return -1
			}
		case form == formSdata:
			s, q := sleb(b, p)
			if q < 0 {
				return -1
			}
			v, p = uint64(s), q
		case form == formAddrxOffset:
			// Index and offset share the value: no object has 2^32 addresses.
			i, q := uleb(b, p)
			if q < 0 || len(b)-q < 4 || i >= 1<<32 {
				return -1
			}
			v, p = i|number(b[q:q+4], big)<<32, q+4
		case form == formExprloc && st.slot == slotLow:
			q := skipValue(opBlock, b, p, h, big)
			if q < 0 || q > len(b) {
				return -1
			}
			v, form = addressExpression(b[p:q], h, big)
			p = q
		case skipOp(form) == opLEB:
			u, q := uleb(b, p)
			if q < 0 {
				return -1
			}
			v, p = u, q
		default:
			if p = skipValue(skipOp(form), b, p, h, big); p < 0 || p > len(b) {
				return -1
			}
		}
		if st.slot != slotNone && a.has&(1<<st.slot) == 0 {
			a.has |= 1 << st.slot
			a.form[st.slot], a.val[st.slot] = form, v
		}
	}
	if p > len(b) {
		return -1
	}
	return p
}

// addressExpression is the value of an address that a block says as LLVM does
// with -minimize-addr-in-v5=Expressions, and its form, formBad if it is said
// otherwise: DW_OP_addrx, and behind it DW_OP_const4u and DW_OP_plus; or
// DW_OP_addr.
func addressExpression(block []byte, h shape, big bool) (v uint64, form uint8) {
	c := cursor{b: block, big: big}
	c.uleb() // its length
	switch c.u8() {
	case exprAddr:
		v, form = c.uint(h.addrSize), formAddr
	case exprAddrx:
		if v, form = c.uleb(), formAddrx; c.p < len(c.b) && !c.bad {
			const4u, offset, plus := c.u8(), c.uint(4), c.u8()
			if const4u != exprConst4u || plus != exprPlus || v >= 1<<32 {
				return 0, formBad
			}
			v, form = v|offset<<32, formAddrxOffset
		}
	default:
		return 0, formBad
	}
	if c.bad || c.p < len(c.b) {
		return 0, formBad
	}
	return v, form
}

// wordBytes is what readFixed may read beyond an entry.
const wordBytes = 8

// lowBytes are the words with their lowest bytes set, by how many: of 16 bytes none is kept.
var lowBytes = [...]uint64{1: 1<<8 - 1, 2: 1<<16 - 1, 3: 1<<24 - 1, 4: 1<<32 - 1, 8: 1<<64 - 1, 16: 0}

// readFixed reads the attributes of a fixed entry. Each is read as a word, and its upper bytes are then dropped.
func (t *abbrevs) readFixed(ab *abbrev, b []byte, a *attrs) {
	a.has = ab.has
	steps := t.reads[ab.read : ab.read+ab.reads]
	for i := range steps {
		st := &steps[i]
		a.form[st.slot] = st.form
		a.val[st.slot] = binary.LittleEndian.Uint64(b[st.skip:])&lowBytes[st.size] | uint64(st.konst)
	}
}

// readNumbers is readFixed of any byte order, and of bytes that nothing follows.
func (t *abbrevs) readNumbers(ab *abbrev, b []byte, big bool, a *attrs) {
	a.has = ab.has
	for i := range t.reads[ab.read : ab.read+ab.reads] {
		st := &t.reads[int(ab.read)+i]
		v := uint64(st.konst)
		if 0 < st.size && st.size <= 8 {
			v = number(b[st.skip:][:st.size], big)
		}
		a.form[st.slot], a.val[st.slot] = st.form, v
	}
}

// ref is the entry that an attribute of a unit refers to, 0 if the form is
// none that leads to .debug_info.
func (u *unit) ref(a *attrs, slot int) Ref {
	if a.has&(1<<slot) == 0 {
		return 0
	}
	v := a.val[slot]
	switch a.form[slot] {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		if v >= u.end-u.off {
			return 0
		}
		return Ref(u.off+v) | u.file
	case formRefAddr:
		if v <= offMask {
			return Ref(v+u.info)&offMask | u.file
		}
	case formRefAlt, formRefSup4, formRefSup8:
		if v <= offMask {
			return Ref(v) | altRef
		}
	}
	return 0
}
