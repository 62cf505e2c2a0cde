package dwarf

import "slices"

// An abbreviation table, compiled. Each abbreviation has two programs: one
// that skips an entry, and a program that reads the attributes this package knows.

// clone is a copy that takes no more memory than it needs.
func (t *abbrevs) clone() *abbrevs {
	c := *t
	c.list, c.skips, c.reads = slices.Clone(t.list), slices.Clone(t.skips), slices.Clone(t.reads)
	for i := range c.brief {
		c.brief[i].long = slices.Clone(t.brief[i].long)
	}
	return &c
}

// size is the number of bytes of a form, -1 if it varies, -2 if unknown.
func (h shape) size(form uint8) int {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4
	case formData8, formRef8, formRefSup8, formRefSig8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return int(h.addrSize)
	case formRefAddr:
		if h.version <= 2 {
			return int(h.addrSize)
		}
		return int(h.offSize)
	case formStrp, formSecOffset, formStrpSup, formLineStrp, formRefAlt:
		return int(h.offSize)
	case formBlock1, formBlock2, formBlock4, formBlock, formExprloc, formString, formSdata, formUdata,
		formRefUdata, formIndirect, formStrx, formAddrx, formLoclistx, formRnglistx, formAddrxOffset:
		return -1
	}
	return -2
}

// find is the abbreviation of a code, nil if the table lacks it.
func (t *abbrevs) find(code uint64) *abbrev {
	if t.index == nil {
		if code-1 < uint64(len(t.list)) {
			return &t.list[code-1]
		}
		return nil
	}
	i, ok := t.index[code]
	if !ok {
		return nil
	}
	return &t.list[i]
}

// parse compiles the table at the beginning of b into t, reusing its memory.
// It reports false if the table does not end in b. only > 0 stops after the
// abbreviation with that code: a unit's first entry mostly needs the first
// abbreviation alone.
func (t *abbrevs) parse(b []byte, h shape, only uint64) bool {
	t.list, t.skips, t.reads, t.index = t.list[:0], t.skips[:0], t.reads[:0], nil
	if t.shape != h {
		t.shape = h
		for f := range t.sizes {
			t.sizes[f] = int8(h.size(uint8(f)))
		}
	}
	t.brief[0].reset()
	t.brief[1].reset()
	p := 0
	for {
		var code, tag uint64
		if code, p = uleb(b, p); p < 0 {
			return false
		}
		if code == 0 {
			t.bytes = p
			return true
		}
		if tag, p = uleb(b, p); p < 0 || p >= len(b) {
			return false
		}
		a := abbrev{code: code, tag: uint32(min(tag, 0xffffffff)), children: min(b[p], 1), skip: uint32(len(t.skips)), read: uint32(len(t.reads))}
		if p = t.attributes(&a, b, p+1, h); p < 0 {
			return false
		}
		if t.index == nil && code != uint64(len(t.list))+1 {
			t.index = make(map[uint64]int32, len(t.list)+8)
			for i := range t.list {
				t.index[t.list[i].code] = int32(i)
			}
		}
		if t.index != nil {
			if _, twice := t.index[code]; !twice { // the first one counts
				t.index[code] = int32(len(t.list))
			}
		}
		t.list = append(t.list, a)
		if t.index == nil {
			t.brief[0].add(&a, false)
			t.brief[1].add(&a, true)
		}
		if code == only {
			t.bytes = p
			return true
		}
	}
}

// attributes compiles the attribute specifications at b[p:] into a.
func (t *abbrevs) attributes(a *abbrev, b []byte, p int, h shape) int {
	a.sibling = -1
	var pending, unread uint32 // fixed bytes not yet in a skip step, in a read step
	varies, bad := false, false
	has := uint32(0)
	for {
		// Attributes and forms are one byte each in nearly every file.
		var attr, form uint64
		var konst int64
		var f, slot uint8
		var size int
		if p+1 < len(b) && b[p] < byte(len(shortSlots)) && b[p+1]-1 < formImplicitConst-1 {
			attr, f = uint64(b[p]), b[p+1]
			slot, size = shortSlots[attr], int(t.sizes[f])
			p += 2
		} else {
			if attr, p = uleb(b, p); p < 0 {
				return -1
			}
			if form, p = uleb(b, p); p < 0 {
				return -1
			}
			if attr == 0 && form == 0 {
				break
			}
			if f = shortForm(form); f == formImplicitConst {
				if konst, p = sleb(b, p); p < 0 {
					return -1
				}
			}
			slot, size = slotOf(attr), h.size(f)
		}
		if f == formFlagPresent {
			konst = 1
		}
		if attr == atSibling && f == formRef4 && !varies && a.children != 0 && typeOnly(a.tag) {
			a.sibling = int32(pending)
		}
		has |= 1 << slot
		if size == -2 || pending > 1<<22 || unread > 1<<22 {
			bad = true
			size = 0
		}
		if size >= 0 {
			pending += uint32(size)
			if slot == 0 {
				unread += uint32(size)
				continue
			}
		} else {
			varies = true
			t.skips = append(t.skips, pending<<8|skipOp(f))
			if f == formAddrxOffset {
				pending = 4
			} else {
				pending = 0
			}
		}
		t.reads = append(t.reads, readStep{skip: unread, form: f, slot: slot, size: int8(size), konst: konst})
		unread = 0
	}
	if varies {
		a.fixed = -1
		t.skips = append(t.skips, pending<<8|opEnd)
		if unread > 0 { // the end of the entry must be known too
			t.reads = append(t.reads, readStep{skip: unread, form: formFlagPresent})
		}
	} else {
		a.fixed = int32(pending)
		t.skips = t.skips[:a.skip]
		t.fix(a)
	}
	a.reads = uint32(len(t.reads)) - a.read
	code := has&(1<<slotLow|1<<slotRanges) != 0
	a.bare = a.tag == tagSubprogram && has&(1<<slotName|1<<slotLinkage|1<<slotOrigin|1<<slotSpecification) == 1<<slotName
	switch {
	case bad:
		a.class = classBad
	case code && a.tag == tagSubprogram:
		a.class = classFunction
	case (code || h.version == 2 && a.children != 0) && a.tag == tagInlinedSubroutine:
		a.class = classInline
	case a.bare:
		a.class = classNote
	}
	return p
}

// fix makes the last read program, a's, a program of fixed entries.
func (t *abbrevs) fix(a *abbrev) {
	kept, at := t.reads[:a.read], uint32(0)
	for _, st := range t.reads[a.read:] {
		at += st.skip
		st.skip, at = at, at+uint32(st.size)
		if a.has&(1<<st.slot) == 0 { // the first one counts
			a.has |= 1 << st.slot
			kept = append(kept, st)
		}
	}
	t.reads = kept
}
