package spill

import (
	"hash/maphash"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/classes"
)

// maxClassStrings bounds the names of classes and types that a mapping's rows may share; the others stand where
// they are used. It keeps memory the same for mappings of any size.
const maxClassStrings = 16 << 20

// encodeClass encodes a class into l.buf, a 0 where the number of ranges would stand and the class packed, and
// gives its position.
func (l *Lane) encodeClass(c *symbol.Class) (position uint64, err error) {
	if l.s.o.Position == nil {
		return 0, refuse(l.part, "ranges or a class, as its artifact has")
	}
	if (c.Facts != nil) != (c.Name == "") {
		return 0, refuse(l.part, "facts in the class without a name alone")
	}
	for i := range c.Members {
		if m := &c.Members[i]; i > 0 && m.Name < c.Members[i-1].Name || m.Method == nil || m.Lines.Count > 2 || m.From.Count > 2 {
			return 0, refuse(l.part, "members by name, of methods, with lines, at member %d", i)
		}
	}
	if l.packer == nil {
		l.packer = classes.NewPacker(l.share)
		l.growNear(firstNear)
	} else if l.total >= firstNear && len(l.near) == firstNear {
		l.growNear(nearStrings)
	}
	l.buf = l.packer.Append(append(l.buf[:0], 0), c)
	return l.s.o.Position(c.Name), nil
}

// near is a string with its number, which a lane remembers: most shared strings were shared a moment ago, and
// all lanes use one interner.
type near struct {
	text string // the interner's
	hash uint32
	id   uint32 // 0: none
}

// A lane remembers firstNear strings until it has as many classes, then nearStrings.
const firstNear, nearStrings = 64, 4096

// growNear makes room for n strings. The strings of before are forgotten.
func (l *Lane) growNear(n int) {
	grew := int64(n-len(l.near)) * int64(unsafe.Sizeof(near{}))
	l.near = make([]near, n)
	l.kept += grew
	l.s.o.Budget.Force(grew)
}

// share counts a use of a string that rows may share, and gives its number; 0: it stands where it is used.
func (l *Lane) share(s string) uint32 {
	h := maphash.String(l.s.strings.seed, s)
	at := &l.near[h>>16%uint64(len(l.near))]
	if at.hash == uint32(h) && at.text == s {
		l.counts[at.id]++
		return at.id
	}
	id, kept := l.s.strings.known(h, s, l.s.strings.total.Load() < maxClassStrings)
	if id == 0 {
		return 0
	}
	*at = near{kept, uint32(h), id}
	if int(id) >= len(l.counts) {
		l.growCounts(int(id) + 1)
	}
	l.counts[id]++
	return id
}
