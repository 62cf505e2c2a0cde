package classes

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// Class is a class of a block. Its members are made when they are asked for: a trace needs a few of some thousand. It
// keeps its share of the block's columns, not the block. Safe for concurrent use.
type Class struct {
	head    symbol.Class // without Members
	members int          // how many there are
	methods int          // at most
	start   classReader  // at the first member

	asked atomic.Int32
	all   atomic.Pointer[symbol.Class] // once many were asked for
}

// manyNames is after how many names all members are made: reading to one name is about half of that work.
const manyNames = 4

// class reads what stands before the members of class i.
func (c *Block) class(i int) (*Class, error) {
	from, to := &c.starts[i], &c.starts[i+1]
	size := 0
	for k := range from.at {
		size += int(to.at[k] - from.at[k])
	}
	r := classReader{dict: c.dict, fresh: from.fresh, text: &classText{block: c, first: from.fresh, ends: slices.Clone(c.ends[from.fresh:to.fresh]),
		base: c.upTo(from.fresh), own: string(c.cols[colFreshText][c.upTo(from.fresh):c.upTo(to.fresh)])}}
	share := make([]byte, 0, size)
	for k := range r.col {
		at := len(share)
		share = append(share, c.cols[parted+k][from.at[k]:to.at[k]]...)
		r.col[k].B = share[at:len(share):len(share)]
	}
	x := new(Class)
	err := x.open(&r, strings.Clone(c.names[i]))
	return x, err
}

// open reads what stands before the members.
func (c *Class) open(r *classReader, name string) error {
	c.head.Name = name
	flags := r.next(colMethod)
	c.head.Synthesized = flags&classSynthesized != 0
	c.members = r.count(colMethod, min(r.left(colShape), maxMembers))
	c.methods = min(c.members, bytes.Count(r.col[colOp-parted].B, []byte{0})) // a new method is a 0
	c.head.Original = r.string(r.ref(colRefLo))
	c.head.File = r.file(c.head.Original)
	if flags&classFacts != 0 {
		c.head.Facts = &symbol.Facts{Version: r.signature()}
		for range r.count(colRule, r.left(colSigLength)) {
			c.head.Facts.Packages = append(c.head.Facts.Packages, r.signature())
		}
	}
	if r.bad {
		return errClass
	}
	c.start = *r
	return nil
}

// reader returns a reader at the first member.
func (c *Class) reader() *classReader {
	r := c.start
	r.methods = make([]methodAt, 0, c.methods)
	return &r
}

// close reads the source files, which stand behind the members.
func (c *Class) close(r *classReader, to *symbol.Class) error {
	for _, class := range r.foreign {
		if f := r.file(class); f != "" {
			to.Files = append(to.Files, symbol.ClassFile{Class: class, File: f})
		}
	}
	sortFiles(to.Files)
	for i := range r.col {
		r.bad = r.bad || !r.col[i].Done()
	}
	if r.bad || r.text != nil && int(r.fresh-r.text.first) != len(r.text.ends) {
		return errClass
	}
	return nil
}

// check sees to it that each member can be made later, and gathers what is needed of the block. It makes none: what
// takes numbers of a column is only counted.
func (c *Class) check() error {
	r := c.reader()
	op, shape, first := &r.col[colOp-parted], &r.col[colShape-parted], &r.col[colMinFirst-parted]
	var names, lengths, origs, origLengths int
	for range c.members {
		n := op.Next()
		if n == 0 && len(r.methods) < cap(r.methods) {
			r.touchMethod(r.methodAt())
		} else if n == 0 || n > uint64(len(r.methods)) {
			return errClass
		}
		code := shape.Next()
		if code >= 2*shapeRules*nameCodes {
			return errClass
		}
		if code%nameCodes == nameNew {
			names++
		}
		if lines := code / nameCodes % 3; lines > 0 && first.Next() != 0 && lines > 1 {
			lengths++
		}
		switch code / (3 * nameCodes) % 3 {
		case 1:
			origs++
		case 2:
			origs++
			origLengths++
		}
		if code >= shapeRules*nameCodes {
			r.rules(false)
		}
		if r.bad {
			return errClass
		}
	}
	r.col[colMinLength-parted].Skip(lengths)
	r.col[colOrigFirst-parted].Skip(origs)
	r.col[colOrigLength-parted].Skip(origLengths)
	text := uint64(0)
	for range names {
		text += min(r.next(colNewName), column.MaxRowBytes)
	}
	r.col[colNewText-parted].Take(text)
	err := c.close(r, &c.head)
	r.text.block = nil
	return err
}

// touchMethod adds a method, and sees to it that its strings can be made.
func (r *classReader) touchMethod(m methodAt) {
	r.methods = append(r.methods, m)
	if m.kind&methodForeign != 0 {
		r.meet(r.string(m.class))
	}
	for _, s := range [3]stringAt{m.original, m.result, m.params} {
		r.touch(s)
	}
}

// Named gives the members with that name, as symbol.Class.Named does.
func (c *Class) Named(name string) []symbol.Member {
	all := c.all.Load()
	if all == nil {
		if c.asked.Add(1) <= manyNames {
			return c.named(name)
		}
		all = c.Whole()
		c.all.Store(all)
	}
	return all.Named(name)
}

// named makes the members with that name, and reads the others before them.
func (c *Class) named(name string) (found []symbol.Member) {
	r := c.reader()
	made := make([]*symbol.Method, c.methods)
	is := name == ""
	for range c.members {
		m := r.member()
		if r.bad {
			return nil
		}
		if m.renamed {
			order := strings.Compare(stringOf(r.name), name)
			if is = order == 0; order > 0 {
				return found // members are sorted by name
			}
		}
		if !is {
			if m.ruled {
				r.rules(false)
			}
			continue
		}
		if made[m.method] == nil {
			made[m.method] = new(symbol.Method)
			r.method(m.method, made[m.method])
		}
		if found == nil {
			name = strings.Clone(name)
		}
		one := symbol.Member{Method: made[m.method], Name: name, Lines: m.lines, From: m.from}
		if m.ruled {
			one.Rules = r.rules(true)
		}
		found = append(found, one)
	}
	return found
}

// Head is the class without its members; read only.
func (c *Class) Head() *symbol.Class { return &c.head }

// Size is how many members the class has.
func (c *Class) Size() int { return c.members }

// Whole gives the class with all its members, made anew.
func (c *Class) Whole() *symbol.Class {
	w, _ := c.whole() // it was checked
	return w
}

func (c *Class) whole() (*symbol.Class, error) {
	w := c.head
	w.Files = nil
	r := c.reader()
	if c.members > 0 {
		w.Members = make([]symbol.Member, c.members)
	}
	room, made := make([]symbol.Method, c.methods), make([]*symbol.Method, c.methods)
	name := ""
	for i := range w.Members {
		m := r.member()
		if r.bad {
			return nil, errClass
		}
		if m.isNew {
			made[m.method] = &room[m.method]
			r.method(m.method, made[m.method])
			if r.methods[m.method].kind&methodForeign != 0 {
				r.meet(made[m.method].Class)
			}
		}
		if m.renamed {
			name = string(r.name)
		}
		w.Members[i] = symbol.Member{Method: made[m.method], Name: name, Lines: m.lines, From: m.from}
		if m.ruled {
			w.Members[i].Rules = r.rules(true)
		}
	}
	return &w, c.close(r, &w)
}

// Bytes is the memory that the class holds, without members.
func (c *Class) Bytes() int64 {
	n := int64(unsafe.Sizeof(*c)) + int64(len(c.head.Name)+len(c.head.Original)+len(c.head.File)) + int64(len(c.head.Files))*int64(unsafe.Sizeof(symbol.ClassFile{}))
	for i := range c.start.col {
		n += int64(len(c.start.col[i].B))
	}
	return n + c.start.text.bytes()
}
