package retrace

import (
	"encoding/binary"
	"sort"
)

// Names is what [Methods] needs of a class: what its methods are called, without their lines, in little memory. Safe for
// concurrent use.
type Names struct {
	Original, File string
	packed         string
	at             []uint32 // where in packed each method of the program begins, ascending by name
}

// signed is an overload of a method with its signature.
type signed struct {
	residual     string     // signature in the program; "": the mapping does not say
	params, of   string     // what it takes and returns in the source
	called, made []Original // what it may be, and the compiler's own, each once
}

// Flags of a packed Original: what stands with it because it is not its class's or its overload's own.
const (
	packedClass = 1 << iota // class and file
	packedParams
	packedType
)

// Names packs the names of the class's methods.
func (x *Class) Names() *Names {
	n := &Names{Original: x.Original, File: x.File}
	var b []byte
	members := x.Whole().Members
	for from := 0; from < len(members); {
		to := from + 1
		for to < len(members) && members[to].Name == members[from].Name {
			to++
		}
		if m := x.ready(members[from:to]); len(m) > 0 {
			n.at = append(n.at, uint32(len(b)))
			b = n.pack(b, members[from].Name, m)
		}
		from = to
	}
	n.packed = string(b)
	return n
}

// Bytes is about the memory that n holds.
func (n *Names) Bytes() int { return 96 + len(n.Original) + len(n.File) + len(n.packed) + 4*cap(n.at) }

// pack adds a method of the program.
func (n *Names) pack(b []byte, name string, m method) []byte {
	b = binary.AppendUvarint(packText(b, name), uint64(len(m)))
	for i := range m {
		o := &m[i]
		var called, made []Original
		for from := 0; from < len(o.lines); {
			end := groupEnd(o.lines, from)
			switch {
			case !o.synthesized:
				called = add(called, o.lines[end-1].names())
			case end-from > 1: // made by the compiler around what it calls
				called = add(called, o.lines[end-2].names())
			default:
				made = add(made, o.lines[end-1].names())
			}
			from = end
		}
		b = packText(packText(packText(b, o.residual()), o.original.Params), o.original.Type)
		b = n.packAll(n.packAll(b, o, called), o, made)
	}
	return b
}

// names is the method of a line.
func (l *line) names() Original {
	return Original{Class: l.className(), Name: l.Original, Params: l.Params, Type: l.Type, File: l.file}
}

func (n *Names) packAll(b []byte, of *overload, all []Original) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for i := range all {
		o := &all[i]
		at := len(b)
		b = packText(append(b, 0), o.Name)
		if o.Class != n.Original || o.File != n.File {
			b[at] |= packedClass
			b = packText(packText(b, o.Class), o.File)
		}
		if o.Params != of.original.Params {
			b[at] |= packedParams
			b = packText(b, o.Params)
		}
		if o.Type != of.original.Type {
			b[at] |= packedType
			b = packText(b, o.Type)
		}
	}
	return b
}

func packText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// method gives what a name stands for; nil: no method has it.
func (n *Names) method(name string) []signed {
	i := sort.Search(len(n.at), func(i int) bool {
		p := packed(n.packed[n.at[i]:])
		return p.text() >= name
	})
	if i == len(n.at) {
		return nil
	}
	p := packed(n.packed[n.at[i]:])
	if p.text() != name {
		return nil
	}
	all := make([]signed, p.number())
	for i := range all {
		o := &all[i]
		o.residual, o.params, o.of = p.text(), p.text(), p.text()
		o.called = p.all(n, o)
		o.made = p.all(n, o)
	}
	return all
}

// Each calls emit for each method of the program, ascending by its name, with the methods of the source that it may be.
func (n *Names) Each(emit func(name string, all []Original)) {
	for _, at := range n.at {
		p := packed(n.packed[at:])
		name := p.text()
		var all []Original
		for range p.number() {
			o := signed{residual: p.text(), params: p.text(), of: p.text()}
			called, made := p.all(n, &o), p.all(n, &o)
			if len(called) == 0 {
				called = made
			}
			for i := range called {
				all = add(all, called[i])
			}
		}
		emit(name, all)
	}
}

// packed is the unread rest of a text.
type packed string

func (p *packed) number() int {
	v, shift := 0, 0
	for i := 0; ; i++ {
		c := (*p)[i]
		v |= int(c&0x7f) << shift
		if shift += 7; c < 0x80 {
			*p = (*p)[i+1:]
			return v
		}
	}
}

func (p *packed) text() string {
	n := p.number()
	s := (*p)[:n]
	*p = (*p)[n:]
	return string(s)
}

func (p *packed) all(n *Names, of *signed) []Original {
	count := p.number()
	if count == 0 {
		return nil
	}
	all := make([]Original, count)
	for i := range all {
		flags := (*p)[0]
		*p = (*p)[1:]
		o := Original{Class: n.Original, Name: p.text(), Params: of.params, Type: of.of, File: n.File}
		if flags&packedClass != 0 {
			o.Class, o.File = p.text(), p.text()
		}
		if flags&packedParams != 0 {
			o.Params = p.text()
		}
		if flags&packedType != 0 {
			o.Type = p.text()
		}
		all[i] = o
	}
	return all
}
