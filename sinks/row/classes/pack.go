package classes

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// A packed class is a class on its way through the sorter of ingest, so that it is taken apart once. It has the
// columns that say nothing of other classes, as they will stand in a block, and its strings. It is no durable form:
//
//	digest of the plain form (32) ‖ uvarint length of that ‖ members ‖ 1 if facts ‖ length of the name ‖ name ‖
//	lengths of columns 6 to 18 ‖ these ‖ strings as they occur, each 2 × what it is, + 1 if it is a method's name
//
// A string is 0: the empty one; 1: its length and text follow; 2+n: the string with the number n.
const (
	packedFrom = colFile
	packedEnd  = colOrigNameLo

	packedEmpty = 0
	packedText  = 1
	packedID    = 2
)

// Packer packs classes. One goroutine. The zero value is not ready: NewPacker.
type Packer struct {
	plain   *plain
	share   func(s string) uint32
	cols    [packedEnd - packedFrom][]byte
	refs    []byte
	form    []byte   // the plain one
	foreign []string // classes that the methods of the class name, as they first occur
	lastAt  []uint32 // by method: line behind the last one in the source
}

// Packed is a class as a Packer made it, and the position where it stands: the sorter of ingest hands
// it to an Encoder.
type Packed struct {
	Position uint64
	Form     []byte
}

// NewPacker makes a packer. share, if not nil, is asked for the number of each string that a dictionary is good for:
// names of classes and types, one time for each method of a class that has it. 0: it has none.
func NewPacker(share func(s string) uint32) *Packer {
	if share == nil {
		share = func(string) uint32 { return 0 }
	}
	w := packers.Get().(*Packer)
	w.share = share
	return w
}

var packers = sync.Pool{New: func() any { return &Packer{plain: newPlain()} }}

// Release gives the packer to the next caller of NewPacker, unless it is large.
func (w *Packer) Release() {
	m := w.plain.methods
	size := cap(w.form) + cap(w.refs) + cap(m.text)*16 + cap(m.all)*24 + cap(w.foreign)*16
	for i := range w.cols {
		size += cap(w.cols[i])
	}
	if size > pooledBytes {
		return
	}
	clear(m.all[:cap(m.all)]) // they point into objects
	clear(w.foreign[:cap(w.foreign)])
	w.share = nil
	packers.Put(w)
}

// Append appends c, packed.
func (w *Packer) Append(b []byte, c *symbol.Class) []byte {
	w.form = w.plain.append(w.form[:0], c)
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	w.refs = w.refs[:0]
	flags := uint64(0)
	if c.Synthesized {
		flags |= classSynthesized
	}
	if c.Facts != nil {
		flags |= classFacts
	}
	w.put(colMethod, flags)
	w.put(colMethod, uint64(len(c.Members)))
	w.shared(c.Original)
	w.file(c.Original, c.File)
	if f := c.Facts; f != nil {
		w.signature(f.Version)
		w.put(colRule, uint64(len(f.Packages)))
		for _, p := range f.Packages {
			w.signature(p)
		}
	}
	w.members(c)
	digest := sha256.Sum256(w.form)
	b = append(b, digest[:]...)
	b = putNumber(b, len(w.form))
	b = putNumber(b, len(c.Members))
	b = putNumber(b, int(flags/classFacts))
	b = putString(b, c.Name)
	for i := range w.cols {
		b = putNumber(b, len(w.cols[i]))
	}
	for i := range w.cols {
		b = append(b, w.cols[i]...)
	}
	return append(b, w.refs...)
}

func (w *Packer) put(col int, v uint64) {
	c := &w.cols[col-packedFrom]
	*c = column.Append(*c, v)
}

func (w *Packer) text(col int, s string) {
	w.cols[col-packedFrom] = append(w.cols[col-packedFrom], s...)
}

func (w *Packer) members(c *symbol.Class) {
	w.lastAt, w.foreign = w.lastAt[:0], w.foreign[:0]
	name := ""
	var before symbol.Lines
	base := uint32(0) // line in the source that a new method is told against
	for i := range c.Members {
		m := &c.Members[i]
		number := w.plain.numbers[i]
		if int(number) == len(w.lastAt) {
			w.put(colOp, 0)
			w.method(c, m)
			w.lastAt = append(w.lastAt, base)
		} else {
			w.put(colOp, uint64(len(w.lastAt))-uint64(number))
		}
		shape := m.Lines.Count + 3*m.From.Count
		if len(m.Rules) > 0 {
			shape += shapeRules
		}
		if m.Name != name {
			before = symbol.Lines{}
		}
		w.put(colShape, uint64(shape)*nameCodes+uint64(w.name(m, name, i == 0)))
		name = m.Name
		if m.Lines.Count > 0 {
			switch {
			case m.Lines == before:
				w.put(colMinFirst, 0)
			default:
				w.put(colMinFirst, 1+column.Zigzag(int64(m.Lines.First)-int64(before.Last)-1))
				if m.Lines.Count > 1 {
					w.put(colMinLength, column.Zigzag(int64(m.Lines.Last)-int64(m.Lines.First)))
				}
			}
		}
		before = m.Lines
		if m.From.Count > 0 {
			w.put(colOrigFirst, column.Zigzag(int64(m.From.First)-int64(w.lastAt[number])))
			if m.From.Count > 1 {
				w.put(colOrigLength, column.Zigzag(int64(m.From.Last)-int64(m.From.First)-(int64(m.Lines.Last)-int64(m.Lines.First))))
			}
			w.lastAt[number] = m.From.Last
			if m.Class == "" {
				base = m.From.Last
			}
		}
		if len(m.Rules) > 0 {
			w.rules(m.Rules)
		}
	}
	// Files stand for the foreign classes in the order in which they first occur.
	for _, class := range w.foreign {
		w.file(class, c.FileOf(class))
	}
}

// name codes how a member is called.
func (w *Packer) name(m *symbol.Member, last string, first bool) int {
	switch {
	case m.Name == last && !first:
		return nameSame
	case m.Name == m.Original:
		return nameOwn
	case isNext(last, m.Name) && !first:
		return nameNext
	}
	w.put(colNewName, uint64(len(m.Name)))
	w.text(colNewText, m.Name)
	return nameNew
}

func (w *Packer) method(c *symbol.Class, m *symbol.Member) {
	kind := 0
	if m.Field {
		kind |= methodField
	}
	if m.Params != "" {
		kind |= methodParams
	}
	if m.Class != "" {
		kind |= methodForeign
	}
	w.put(colMethod, uint64(kind))
	if m.Class != "" {
		w.shared(m.Class)
		w.meet(m.Class)
	}
	w.own(m.Original, 1)
	w.shared(m.Type)
	if m.Params != "" {
		w.shared(m.Params)
	}
}

// meet notes a foreign class.
func (w *Packer) meet(class string) {
	for i := len(w.foreign) - 1; i >= 0; i-- {
		if w.foreign[i] == class {
			return
		}
	}
	w.foreign = append(w.foreign, class)
}

func (w *Packer) file(class, file string) {
	code := fileCode(class, file)
	if w.put(colFile, uint64(code)); code == fileOther {
		w.own(file, 0)
	}
}

// signature codes a string that hardly ever occurs twice.
func (w *Packer) signature(s string) {
	w.put(colSigLength, uint64(len(s)))
	w.text(colSigText, s)
}

func (w *Packer) rules(rules []symbol.Rule) {
	w.put(colRule, uint64(len(rules)))
	for i := range rules {
		r := &rules[i]
		kind := uint64(r.Kind) << 1
		if r.Undeclared {
			kind |= 1
		}
		w.put(colRule, kind)
		switch r.Kind {
		case symbol.ResidualSignature:
			w.signature(r.Text)
		default:
			for _, list := range [2][]string{r.Conditions, r.Actions} {
				w.put(colRule, uint64(len(list)))
				for _, s := range list {
					w.own(s, 0)
				}
			}
			w.own(r.Text, 0)
			w.put(colRule, uint64(len(r.Positions)))
			line := int64(0)
			outline := uint32(0)
			for _, p := range r.Positions {
				w.put(colRule, uint64(p.Outline-outline))
				w.put(colRule, column.Zigzag(int64(p.Line)-line))
				outline, line = p.Outline, int64(p.Line)
			}
		}
	}
}

// shared codes a string that a dictionary may hold.
func (w *Packer) shared(s string) {
	if s == "" {
		w.refs = append(w.refs, 2*packedEmpty)
	} else if n := w.share(s); n != 0 {
		w.refs = binary.AppendUvarint(w.refs, 2*(packedID+uint64(n)))
	} else {
		w.own(s, 0)
	}
}

// own codes a string that a dictionary is not likely to hold; name is 1 for a method's name.
func (w *Packer) own(s string, name byte) {
	if s == "" {
		w.refs = append(w.refs, 2*packedEmpty+name)
		return
	}
	w.refs = append(w.refs, 2*packedText+name)
	w.refs = putString(w.refs, s)
}
