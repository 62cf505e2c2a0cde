package classes

import "github.com/symlake/symlake/sinks/internal/column"

// stringAt is where a string of a class is: the kind, and in the bits from the second on its number there.
type stringAt uint32

const (
	atEmpty  stringAt = iota
	atBlock           // the block's
	atShared          // the dictionary's, or the table's of a packed class
	atPacked          // a place in the strings of a packed class
	atKinds
)

// classText is those strings of a block that a class has. Safe for concurrent use when block is nil.
type classText struct {
	block  *Block            // until the class was checked
	first  uint32            // its own ones begin with that
	base   uint32            // where they begin in the block's text
	own    string            // their text
	ends   []uint32          // where they end in the block's
	before map[uint32]string // older strings that were read
}

// string gives string i of the block.
func (t *classText) string(i uint32) string {
	if i >= t.first {
		from := t.base
		if i > t.first {
			from = t.ends[i-t.first-1]
		}
		return t.own[from-t.base : t.ends[i-t.first]-t.base]
	}
	s, ok := t.before[i]
	if !ok && t.block != nil {
		s = string(t.block.cols[colFreshText][t.block.upTo(i):t.block.ends[i]])
		if t.before == nil {
			t.before = map[uint32]string{}
		}
		t.before[i] = s
	}
	return s
}

func (t *classText) bytes() int64 {
	n := int64(len(t.own)) + int64(len(t.ends))*4
	for _, s := range t.before {
		n += int64(len(s)) + 32
	}
	return n
}

// strings bounds the number of strings that are left.
func (r *classReader) strings() int {
	if r.packed != nil {
		return len(r.packed.refs.B) - r.packed.refs.At
	}
	return r.left(colRefLo)
}

func (r *classReader) pair(col int) uint64 {
	return uint64(r.col[col-parted].Byte()) | r.next(col+1)<<8
}

// ref reads which string comes next.
func (r *classReader) ref(col int) stringAt {
	if r.packed != nil {
		return r.packedRef()
	}
	switch v := r.pair(col); v {
	case refEmpty:
		return atEmpty
	case refFresh:
		if int(r.fresh-r.text.first) < len(r.text.ends) {
			r.fresh++
			return stringAt(r.fresh-1)*atKinds + atBlock
		}
	case refBack:
		if back := r.pair(col); back < uint64(r.fresh) {
			return stringAt(r.fresh-1-uint32(back))*atKinds + atBlock
		}
	default:
		if r.dict != nil && v-refDict < uint64(r.dict.Len()) {
			return stringAt(v-refDict)*atKinds + atShared
		}
	}
	r.bad = true
	return atEmpty
}

// string gives a string that was read.
func (r *classReader) string(at stringAt) string {
	switch i := at / atKinds; at % atKinds {
	case atBlock:
		return r.text.string(uint32(i))
	case atShared:
		if r.packed != nil {
			return r.table.Strings[r.table.Index(uint32(i))]
		}
		return r.dict.Get(uint32(i))
	case atPacked:
		p := column.Reader{B: r.packed.refs.B, At: int(i)}
		return stringOf(p.Take(p.Next()))
	}
	return ""
}

// touch sees to it that a string can be made when the block is gone, and that a page of the dictionary which does not
// decode is known now.
func (r *classReader) touch(at stringAt) {
	switch i := uint32(at / atKinds); at % atKinds {
	case atBlock:
		if i < r.text.first {
			r.text.string(i)
		}
	case atShared:
		if r.packed == nil {
			r.dict.Get(i)
		}
	}
}
