package dwarf

import (
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats"
)

// Ignore tells that the entry that Next returned last is not code of the
// image: inlined functions inside it are not reported. Functions are.
func (r *Reader) Ignore() {
	w := &r.walk
	if w.began {
		w.quiet = w.depth - 1
	}
}

// Next goes on to the next function, inlined function, or end of one. After
// an error the walk is over: an *formats.Error that wraps ErrCorrupt is
// damage in the unit, and all that Next reported before it stands. An entry
// with unreadable ranges is reported without any, see Damage.
func (r *Reader) Next(e *Entry) (Kind, error) {
	w := &r.walk
	if w.done {
		return End, nil
	}
	if w.p < 0 {
		w.p = int(r.u.first - r.base)
	}
	d, t, h, big := r.d, r.t, r.u.shape, r.d.big
	b, p, depth := r.buf, w.p, w.depth
	complete, safe := r.complete(), r.safe()
	for {
		p, depth = r.skim(p, depth, safe)
		if p >= safe {
			off := r.base + uint64(p)
			if off >= r.u.end {
				w.done = true
				if off > r.u.end || depth > 1 {
					return End, d.corrupt(&d.info, r.u.end, "the end of the unit's entries")
				}
				return End, nil
			}
			if !complete {
				if err := r.fill(off, windowBytes); err != nil {
					return End, r.stop(err)
				}
				b, p, complete = r.buf, int(off-r.base), r.complete()
				safe = r.safe()
			}
		}
		start := p
		code := uint64(b[p])
		p++
		if code >= 0x80 {
			if code, p = uleb(b, start); p < 0 {
				return End, r.stop(d.corrupt(&d.info, r.base+uint64(start), "an abbreviation code"))
			}
		}
		if code == 0 {
			depth--
			if n := len(w.open); n > 0 && int(w.open[n-1].depth) == depth {
				l := w.open[n-1]
				w.open = w.open[:n-1]
				w.quiet = l.quiet
				w.p, w.depth = p, depth
				return Leave, nil
			}
			if depth <= 0 {
				w.done = true
				return End, nil
			}
			continue
		}
		ab := t.find(code)
		if ab == nil || ab.class == classBad {
			return End, r.stop(d.corrupt(&d.info, r.base+uint64(start), fmt.Sprintf("abbreviation %d", code)))
		}
		off := r.base + uint64(start)
		if depth < scopeDepth {
			r.scopes.stack[depth] = uint32(off - r.u.off)
		}
		if ab.bare && r.root.qualifies {
			r.note(uint32(off-r.u.off), depth)
		}
		if ab.class == classNone || ab.class == classNote || ab.class == classInline && w.quiet >= 0 {
			if ab.fixed >= 0 {
				p += int(ab.fixed)
			} else {
				q := t.skipEntry(ab, b, p, h, big)
				if q < 0 {
					if err := r.refill(start); err != nil {
						return End, err
					}
					b, p, complete = r.buf, 0, r.complete()
					safe = r.safe()
					continue
				}
				p = q
			}
			depth += int(ab.children)
			continue
		}
		q := t.readEntry(ab, b, p, r.base, h, big, &w.a)
		if q < 0 {
			if err := r.refill(start); err != nil {
				return End, err
			}
			b, p, complete = r.buf, 0, r.complete()
			safe = r.safe()
			continue
		}
		p = q
		l := level{depth: int32(depth), quiet: w.quiet}
		if ab.children != 0 {
			if depth++; depth > maxDepth {
				return End, r.stop(d.corrupt(&d.info, off, fmt.Sprintf("at most %d nested entries", maxDepth)))
			}
		}
		w.p, w.depth = p, depth
		if err := r.entry(e, off); err != nil {
			if !errors.Is(err, formats.ErrCorrupt) {
				return End, r.stop(err)
			}
			e.Ranges, r.damage = nil, err // the tree goes on without it
		}
		kind := Inline
		if ab.class == classFunction {
			kind, w.quiet = Function, -1
		}
		e.Leaf, w.began = ab.children == 0, ab.children != 0
		if w.began {
			w.open = append(w.open, l)
		}
		return kind, nil
	}
}

// Damage is the last error in the unit that did not end the walk, or nil.
func (r *Reader) Damage() error { return r.damage }

// safe is the position in buf from which an entry may be cut off.
func (r *Reader) safe() int {
	if r.complete() {
		return len(r.buf)
	}
	return len(r.buf) - marginBytes
}

// stop ends the walk with an error.
func (r *Reader) stop(err error) error {
	r.walk.done = true
	return err
}

// refill moves the window to the entry at buf[start:], which did not fit, or
// makes it larger when it begins there already.
func (r *Reader) refill(start int) error {
	n := windowBytes
	if r.complete() {
		return r.stop(r.d.corrupt(&r.d.info, r.base+uint64(start), "the attributes of an entry"))
	}
	if start == 0 {
		if n = 2 * len(r.buf); n > maxEntryBytes {
			return r.stop(r.d.corrupt(&r.d.info, r.base, "an entry of reasonable size"))
		}
	}
	if err := r.fill(r.base+uint64(start), n); err != nil {
		return r.stop(err)
	}
	return nil
}

// maxEntryBytes bounds one entry of a unit that is read in windows: strings
// and blocks inside it are what can be long.
const maxEntryBytes = 64 << 20

// entry fills e from the attributes that the walk has read.
func (r *Reader) entry(e *Entry, off uint64) error {
	a := &r.walk.a
	e.Ref = Ref(off) | r.u.file
	e.Origin = r.u.ref(a, slotOrigin)
	if e.Origin == 0 || a.is(slotLinkage) || a.is(slotName) {
		e.Origin = e.Ref
	}
	e.CallFile = small(a.num(slotCallFile))
	e.CallLine = small(a.num(slotCallLine))
	e.CallColumn = small(a.num(slotCallColumn))
	var err error
	r.ranges, err = r.rangesOf(a, r.ranges[:0])
	e.Ranges = r.ranges
	return err
}

// small is v, or 0 when it is no number of a line, column or file.
func small(v uint64) uint32 {
	if v > 1<<32-1 {
		return 0
	}
	return uint32(v)
}
