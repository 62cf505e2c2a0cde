package classes

import (
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// packedClass is a packed class, taken apart.
type packedClass struct {
	digest  []byte
	plain   int // bytes of its plain form
	members int
	facts   bool
	name    string
	cols    [packedEnd - packedFrom][]byte
	refs    column.Reader
}

func (p *packedClass) read(b []byte) error {
	r := column.Reader{B: b}
	p.digest = r.Take(32)
	p.plain, p.members, p.facts = int(r.Next()), int(r.Next()), r.Next() == 1
	p.name = stringOf(r.Take(r.Next()))
	var size [packedEnd - packedFrom]uint64
	for i := range size {
		size[i] = r.Next()
	}
	for i, n := range size {
		p.cols[i] = r.Take(n)
	}
	if r.Bad {
		return fmt.Errorf("%w: a packed class", column.ErrBroken)
	}
	p.refs = column.Reader{B: b[r.At:]}
	return nil
}

// ref takes the next string: its number, or without one itself; name: it names a method.
func (p *packedClass) ref() (number uint32, s string, name bool) {
	v := p.refs.Next()
	name = v&1 != 0
	switch v >>= 1; v {
	case packedEmpty:
	case packedText:
		s = stringOf(p.refs.Take(p.refs.Next()))
	default:
		number = uint32(v - packedID)
	}
	return number, s, name
}

// PackedName is the name of a packed class in the program; it shares its bytes.
func PackedName(packed []byte) (string, error) {
	var p packedClass
	err := p.read(packed)
	return p.name, err
}

// Unpack makes a class of a packed class and shares its bytes. t tells the strings that have numbers.
func Unpack(t *dictionary.Table, packed []byte) (*symbol.Class, error) {
	var p packedClass
	if err := p.read(packed); err != nil {
		return nil, err
	}
	r := classReader{packed: &p, table: t}
	for i, col := range p.cols {
		r.col[packedFrom-parted+i].B = col
	}
	var c Class
	if err := c.open(&r, p.name); err != nil {
		return nil, err
	}
	w, err := c.whole()
	if err == nil && !p.refs.Done() {
		err = errClass
	}
	return w, err
}

// packedRef reads which string of a packed class comes next.
func (r *classReader) packedRef() stringAt {
	v := r.packed.refs.Next() >> 1
	switch {
	case v == packedEmpty:
	case v == packedText:
		at := r.packed.refs.At
		r.packed.refs.Take(r.packed.refs.Next())
		return stringAt(at)*atKinds + atPacked
	default:
		if r.table.Index(uint32(v-packedID)) < uint32(len(r.table.Strings)) {
			return stringAt(uint32(v-packedID))*atKinds + atShared
		}
		r.bad = true
	}
	return atEmpty
}
