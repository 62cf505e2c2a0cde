package dwarf

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/internal/native"
)

// rangesOf appends the code that an entry of the current unit describes:
// unfiltered, in the order of the file, without empty ranges.
func (r *Reader) rangesOf(a *attrs, to []native.Span) ([]native.Span, error) {
	switch {
	case a.is(slotRanges):
		if r.u.version >= 5 {
			return r.list5(a, to)
		}
		off := a.val[slotRanges]
		if r.d.host != nil {
			off += r.root.ranges // of a skeleton's own list it is no part
		}
		return r.list4(off, to)
	case a.is(slotLow) && a.is(slotHigh):
		low, ok := r.d.address(&r.blocks, r.u, &r.root, a, slotLow)
		if !ok {
			return to, r.err
		}
		high := a.val[slotHigh]
		switch a.form[slotHigh] {
		case formAddr, formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formAddrxOffset:
			if high, ok = r.d.address(&r.blocks, r.u, &r.root, a, slotHigh); !ok {
				return to, r.err
			}
		default:
			if high += low; high < low {
				return to, nil
			}
		}
		return span(to, low, high), nil
	}
	return to, nil
}

// address is the value of an attribute of class address.
func (d *Data) address(r *blocks, u *unit, root *rootAttrs, a *attrs, slot int) (uint64, bool) {
	v := a.val[slot]
	switch a.form[slot] {
	case formAddr:
		return v, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4:
		return d.indexed(r, u, root, v)
	case formAddrxOffset:
		at, ok := d.indexed(r, u, root, v&(1<<32-1))
		return at + v>>32, ok
	}
	return 0, false
}

// indexed is entry i of the unit's part of .debug_addr.
func (d *Data) indexed(r *blocks, u *unit, root *rootAttrs, i uint64) (uint64, bool) {
	if i > d.addr.size || root.addrs > d.addr.size {
		return 0, false
	}
	n := int(u.addrSize)
	b := r.peek(&d.addr, root.addrs+i*uint64(n), n)
	if len(b) < n {
		return 0, false
	}
	return number(b[:n], d.big), true
}

// maxList bounds the ranges of one entry. A unit made of a million sections
// has as many.
const maxList = 4 << 20

// listBytes is how much of a list is read at once.
const listBytes = 1 << 10

// list4 reads a list of .debug_ranges.
func (r *Reader) list4(off uint64, to []native.Span) ([]native.Span, error) {
	d, n := r.d, int(r.u.addrSize)
	base, last := r.root.low, ^uint64(0)>>(64-8*n)
	start, first := off, len(to)
	for {
		b := r.peek(&d.lists, off, listBytes)
		if len(b) < 2*n {
			if r.err != nil {
				return to[:first], r.err
			}
			return to[:first], d.corrupt(&d.lists, off, "the end of a list of ranges")
		}
		for ; len(b) >= 2*n; b = b[2*n:] {
			var low, high uint64
			if n == 8 && !d.big { // nearly all
				low, high = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			} else {
				low, high = number(b[:n], d.big), number(b[n:2*n], d.big)
			}
			off += uint64(2 * n)
			switch {
			case low == 0 && high == 0:
				return to, r.spent(&d.lists, start, int(off-start))
			case low == last:
				base = high
			case low < high:
				to = span(to, (base+low)&last, (base+high-1)&last+1)
			}
			if len(to)-first > maxList {
				return to[:first], d.corrupt(&d.lists, start, "a list of fewer ranges")
			}
		}
	}
}

// list5 reads a list of .debug_rnglists.
func (r *Reader) list5(a *attrs, to []native.Span) ([]native.Span, error) {
	d, u, s := r.d, r.u, &r.d.lists5
	off := a.val[slotRanges]
	if a.form[slotRanges] == formRnglistx {
		n := int(u.offSize)
		at := r.root.rnglists + off*uint64(n)
		var b []byte
		if off <= s.size && r.root.rnglists <= s.size {
			b = r.peek(s, at, n)
		}
		if len(b) < n {
			if r.err != nil {
				return to, r.err
			}
			return to, d.corrupt(s, at, "the offset of a list of ranges")
		}
		off = r.root.rnglists + number(b[:n], d.big)
	} else {
		off += u.lists
	}
	start, first, base := off, len(to), r.root.low
	last := ^uint64(0) >> (64 - 8*u.addrSize)
	for whole := false; ; {
		c := cursor{b: r.peek(s, off, listBytes), big: d.big}
		whole = uint64(len(c.b)) >= s.size-min(off, s.size)
		for {
			p := c.p
			kind := c.u8()
			var low, high uint64
			lowOK, highOK := true, true
			var at, to2 uint64 // indices, resolved when the piece has been read
			switch kind {
			case rleEnd:
			case rleBaseAddressx:
				at = c.uleb()
			case rleStartxEndx, rleStartxLength:
				at, to2 = c.uleb(), c.uleb()
			case rleOffsetPair:
				low, high = c.uleb(), c.uleb()
			case rleBaseAddress:
				low = c.uint(u.addrSize)
			case rleStartEnd:
				low, high = c.uint(u.addrSize), c.uint(u.addrSize)
			case rleStartLength:
				low = c.uint(u.addrSize)
				high = low + c.uleb()
			default:
				return to[:first], d.corrupt(s, off+uint64(p), "an entry of a list of ranges")
			}
			if c.bad {
				if whole || p == 0 {
					if r.err != nil {
						return to[:first], r.err
					}
					return to[:first], d.corrupt(s, off+uint64(p), "the end of a list of ranges")
				}
				off += uint64(p)
				break
			}
			switch kind {
			case rleEnd:
				return to, r.spent(s, start, int(off-start)+c.p)
			case rleBaseAddressx:
				if base, lowOK = d.indexed(&r.blocks, u, &r.root, at); !lowOK {
					return to[:first], r.noAddress(at)
				}
			case rleStartxEndx:
				low, lowOK = d.indexed(&r.blocks, u, &r.root, at)
				high, highOK = d.indexed(&r.blocks, u, &r.root, to2)
			case rleStartxLength:
				low, lowOK = d.indexed(&r.blocks, u, &r.root, at)
				high = low + to2
			case rleOffsetPair:
				low, high = (base+low)&last, base+high
				if high > low {
					high = (high-1)&last + 1
				}
			case rleBaseAddress:
				base = low
			}
			if !lowOK || !highOK {
				return to[:first], r.noAddress(at)
			}
			if kind != rleBaseAddressx && kind != rleBaseAddress {
				to = span(to, low, high)
			}
			if len(to)-first > maxList {
				return to[:first], d.corrupt(s, start, "a list of fewer ranges")
			}
			if s.b == nil && (kind == rleBaseAddressx || kind == rleStartxEndx || kind == rleStartxLength) {
				// Reading .debug_addr may have taken the place of this piece.
				off += uint64(c.p)
				break
			}
		}
	}
}

func (r *Reader) noAddress(i uint64) error {
	if r.err != nil {
		return r.err
	}
	return r.d.corrupt(&r.d.addr, r.root.addrs+i*uint64(r.u.addrSize), "an address")
}

// spent counts the bytes of a list, in lots.
func (r *Reader) spent(s *section, off uint64, n int) error {
	const lot = 1 << 16
	if r.charged += n; r.charged < lot {
		return nil
	}
	n, r.charged = r.charged, 0
	return r.d.charge(s, off, n)
}
