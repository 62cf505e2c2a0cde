package dwarf

import ()

// skipEntry passes over the attributes of an entry of a at b[p:]. The result
// may lie behind the end of b (an entry that does not fit); it is -1 when a
// variable part does not end in b.
func (t *abbrevs) skipEntry(a *abbrev, b []byte, p int, h shape, big bool) int {
	if a.fixed >= 0 {
		return p + int(a.fixed)
	}
	return t.skipProgram(a.skip, b, p, h, big)
}

// skipProgram is skipEntry of the skip program that begins there.
func (t *abbrevs) skipProgram(start uint32, b []byte, p int, h shape, big bool) int {
	for _, op := range t.skips[start:] {
		p += int(op >> 8)
		if op&0xff == opEnd {
			return p
		}
		if (op&0xff == opBlock || op&0xff == opLEB) && uint(p) < uint(len(b)) && b[p] < 0x80 { // nearly all
			if op&0xff == opBlock {
				p += int(b[p])
			}
			p++
			continue
		}
		if p = skipValue(op&0xff, b, p, h, big); p < 0 {
			return -1
		}
	}
	return -1
}

func skipValue(op uint32, b []byte, p int, h shape, big bool) int {
	switch op {
	case opLEB:
		for {
			if p >= len(b) {
				return -1
			}
			p++
			if b[p-1] < 0x80 {
				return p
			}
		}
	case opString:
		for {
			if p >= len(b) {
				return -1
			}
			p++
			if b[p-1] == 0 {
				return p
			}
		}
	case opBlock:
		n, q := uleb(b, p)
		if q < 0 || n > 1<<40 {
			return -1
		}
		return q + int(n)
	case opBlock1:
		if p+1 > len(b) {
			return -1
		}
		return p + 1 + int(b[p])
	case opBlock2:
		if p+2 > len(b) {
			return -1
		}
		return p + 2 + int(number(b[p:p+2], big))
	case opBlock4:
		if p+4 > len(b) {
			return -1
		}
		return p + 4 + int(number(b[p:p+4], big))
	case opIndirect:
		form, q := uleb(b, p)
		if q < 0 {
			return -1
		}
		f := shortForm(form)
		if f == formIndirect || f == formImplicitConst {
			return -1
		}
		n := h.size(f)
		switch {
		case n >= 0:
			return q + n
		case n == -1:
			q = skipValue(skipOp(f), b, q, h, big)
			if q >= 0 && f == formAddrxOffset {
				q += 4
			}
			return q
		}
	}
	return -1
}

// skipString passes over a string and returns its length.
func (c *cursor) skipString() int {
	q := skipValue(opString, c.b, c.p, shape{}, c.big)
	if q < 0 {
		c.p, c.bad = len(c.b), true
		return 0
	}
	n := q - 1 - c.p
	c.p = q
	return n
}
