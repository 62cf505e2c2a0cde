package dwarf

import (
	"github.com/symlake/symlake/formats/internal/native"
)

// Reader reads units, one at a time, on one goroutine. What it hands out is
// valid until the next unit, unless it says less.
type Reader struct {
	blocks
	home *Data // the owner of its units
	d    *Data // where the entries are: home, or the file of a split unit

	u    *unit
	own  abbrevs // the table of u, unless it is a shared one
	t    *abbrevs
	root rootAttrs
	// outer is of the unit in home: where its line table and addresses are.
	outer rootAttrs

	// The bytes of the unit: all of them, or a window when the section is not
	// mapped and the unit is large.
	buf  []byte
	base uint64 // offset of buf in .debug_info
	room []byte // backs buf

	walk    walk
	scopes  scopes
	foreign map[*unit]*otherUnit
	ranges  []native.Span
	line    lineReader
	path    []byte
	charged int   // bytes of lists not yet counted as work
	damage  error // see Damage
	named   attrs // of the entry that lacks its name
}

// otherUnit is another unit that an entry of this one refers to.
type otherUnit struct {
	t    *abbrevs // nil: the unit cannot be read
	root rootAttrs
}

// Unit describes the unit that Open opened.
type Unit struct {
	// Ranges are the unit's own, unfiltered: where its line table speaks.
	// They are empty for a unit that does not say.
	Ranges []native.Span
	// Split says which unit of another file holds the entries; nil for a
	// whole unit. See Enter.
	Split *Skeleton
	// Lines reports whether the unit has a line table.
	Lines bool
	// Bytes are the bytes of its entries, if it is whole.
	Bytes uint64
	// Scattered reports whether inlined functions may have code outside their own ranges. Functions
	// inlined into them may lie there: version 2 has no word for code in several pieces. With -gstrict-dwarf gcc then
	// says the first piece, which may be empty, and clang none.
	Scattered bool
}

// Reader returns a reader; its Close gives it back.
func (d *Data) Reader() *Reader {
	if r, ok := d.readers.Get().(*Reader); ok {
		return r
	}
	return &Reader{home: d}
}

// Close gives the reader's memory to the next one.
func (r *Reader) Close() {
	r.err = nil
	r.home.readers.Put(r)
}

const (
	// wholeUnit is how large a unit that is not mapped may be to be read as
	// one piece; windowBytes are read of a larger one. The largest
	// unit of ceph-osd's 381 MB of .debug_info is 14 MB.
	wholeUnit   = 16 << 20
	windowBytes = 4 << 20
	// marginBytes is how much of an entry is expected to be in the window
	// when it is begun. A longer one is begun again in a longer window.
	marginBytes = 64 << 10
)

// headerBytes is the size of a table header that takes n bytes in the 32-bit
// format.
func headerBytes(u *unit, n uint64) uint64 {
	if u.offSize == 8 {
		return n + 8
	}
	return n
}

// qualifies reports whether functions of a language stand in scopes that
// belong to their names.
func qualifies(lang uint64) bool {
	switch lang {
	case 0x04, 0x1a, 0x21, 0x2a, 0x2b, 0x3a, // C++
		0x11,                         // Objective-C++
		0x30, 0x37, 0x38, 0x39, 0x3d, // dialects of C++: HIP, OpenCL (two), SYCL, Metal
		0x1c, 0x13: // Rust, D
		return true
	}
	return false
}

// flat reports whether a language is a version of C: its types hold no functions.
func flat(lang uint64) bool {
	switch lang {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e:
		return true
	}
	return false
}

// fill makes buf the n bytes of the unit from off, or all of the unit.
func (r *Reader) fill(off uint64, n int) error {
	u, s := r.u, &r.d.info
	switch left := u.end - off; {
	case s.b != nil:
		r.buf, r.base = s.b[u.off:u.end:u.end], u.off
		return nil
	case u.end-u.off <= wholeUnit:
		off, n = u.off, int(u.end-u.off)
	case left < uint64(n):
		n = int(left)
	}
	if cap(r.room) < n {
		r.room = make([]byte, n)
	}
	if r.buf = r.readAt(s, off, r.room[:n]); r.buf == nil {
		return r.err
	}
	r.base = off
	return nil
}

// complete reports whether buf reaches to the end of the unit.
func (r *Reader) complete() bool { return r.base+uint64(len(r.buf)) >= r.u.end }

// Err is the error of an input that made a name unreadable, or nil.
func (r *Reader) Err() error { return r.err }

// Kind is what Next found.
type Kind uint8

// What the walk stops at.
const (
	End      Kind = iota // of the unit
	Function             // a function with code begins
	Inline               // a function inlined into the one around it begins
	Leave                // the last one begun, and not left, ends
)

// Entry is a function or an inlined function.
type Entry struct {
	Ref Ref
	// Origin is the entry to begin at to find the name: the abstract
	// instance, or the entry itself.
	Origin Ref
	// Ranges are the code, unfiltered, in the order of the file; empty ones
	// are left out. Valid until the next call of Next.
	Ranges                         []native.Span
	CallFile, CallLine, CallColumn uint32 // of an inlined function; CallFile is a raw index
	Leaf                           bool   // nothing is inside, and no Leave follows
}

// maxDepth bounds the nesting of the entries that the walk keeps: functions and
// what names them. Inlined functions of ceph-osd nest 48 deep.
const maxDepth = 64 << 10

// walk is the position in the tree of a unit.
type walk struct {
	p     int // in buf
	depth int
	open  []level
	quiet int  // at this depth inlined functions are not reported; -1: none
	began bool // the entry that Next returned last is the last of open
	done  bool
	a     attrs
}

// level is an entry that the walk is inside of and leaves with a Leave.
type level struct {
	depth int32
	quiet int // to go back to
}

func (w *walk) reset() {
	w.p, w.depth, w.quiet, w.done = -1, 0, -1, false
	w.open = w.open[:0]
}

// scopeDepth bounds the nesting that scopes are followed into, a power of two.
// Entries of ceph-osd nest 60 deep.
const scopeDepth = 128

// scopes knows the scopes around the functions with names that need them, without a
// second pass. Offsets are from the unit's header.
type scopes struct {
	stack [scopeDepth]uint32 // by depth: the last entry that the walk has seen there
	known [scopeDepth]around // by depth: what note found out
	notes []note             // of the functions, ascending
	list  []scopeEntry
}

// note says in which scope a function stands.
type note struct {
	off   uint32
	scope int32 // index in list
}

// around is the innermost scope of the entries inside an entry.
type around struct {
	off   uint32 // of the entry, 0: none
	scope int32
}

// scopeEntry is an entry that gives its name to the entries below it.
type scopeEntry struct {
	off    uint32
	parent int32 // index, -1: the unit
}

func (s *scopes) reset() {
	clear(s.known[:])
	s.notes, s.list = s.notes[:0], s.list[:0]
}

func span(to []native.Span, low, high uint64) []native.Span {
	if low < high {
		return append(to, native.Span{Start: low, End: high})
	}
	return to
}
