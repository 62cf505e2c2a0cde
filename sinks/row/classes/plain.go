package classes

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// The plain form of a class is what a load's digest is made of. See "Digest" in the package doc.

// The first number of a plain class.
const (
	plainSynthesized = 1
	plainFacts       = 2
)

// plain writes the plain form of classes. One goroutine. The zero value is not ready: newPlain.
type plain struct {
	methods *methods
	numbers []int32 // by member of the class that was written last: its method, as they first occur
}

func newPlain() *plain { return &plain{methods: newMethods()} }

// append appends the plain form of c.
func (p *plain) append(b []byte, c *symbol.Class) []byte {
	flags := uint64(0)
	if c.Synthesized {
		flags |= plainSynthesized
	}
	if c.Facts != nil {
		flags |= plainFacts
	}
	b = binary.AppendUvarint(b, flags)
	b = putString(b, c.Name)
	b = putString(b, c.Original)
	b = putString(b, c.File)
	if f := c.Facts; f != nil {
		b = putString(b, f.Version)
		b = putStrings(b, f.Packages)
	}
	p.methods.reset()
	p.numbers = p.numbers[:0]
	b = putNumber(b, len(c.Members))
	name := ""
	for i := range c.Members {
		m := &c.Members[i]
		form, number, isNew := p.methods.find(b, m.Method)
		p.numbers = append(p.numbers, number)
		if b = form; !isNew {
			b = putNumber(b, int(number)+1)
		}
		if m.Name == name && i > 0 {
			b = append(b, 0)
		} else {
			b = putNumber(b, len(m.Name)+1)
			b = append(b, m.Name...)
			name = m.Name
		}
		b = append(b, m.Lines.Count|m.From.Count<<2|min(1, byte(len(m.Rules)))<<4)
		b = putLines(b, m.Lines)
		b = putLines(b, m.From)
		if len(m.Rules) > 0 {
			b = putRules(b, m.Rules)
		}
	}
	b = putNumber(b, len(c.Files))
	for _, f := range c.Files {
		b = putString(putString(b, f.Class), f.File)
	}
	return b
}

// putMethod appends a method that was not there before.
func putMethod(b []byte, m *symbol.Method) []byte {
	field := byte(0)
	if m.Field {
		field = 1
	}
	b = append(b, 0, field)
	b = putString(b, m.Class)
	b = putString(b, m.Original)
	b = putString(b, m.Type)
	b = putString(b, m.Params)
	return b
}

func putNumber(b []byte, v int) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, uint64(v))
}

func putString(b []byte, s string) []byte { return append(putNumber(b, len(s)), s...) }

func putStrings(b []byte, list []string) []byte {
	b = putNumber(b, len(list))
	for _, s := range list {
		b = putString(b, s)
	}
	return b
}

func putLines(b []byte, l symbol.Lines) []byte {
	if l.Count > 0 {
		b = putNumber(b, int(l.First))
	}
	if l.Count > 1 {
		b = binary.AppendUvarint(b, column.Zigzag(int64(l.Last)-int64(l.First)))
	}
	return b
}

func putRules(b []byte, rules []symbol.Rule) []byte {
	b = putNumber(b, len(rules))
	for i := range rules {
		r := &rules[i]
		undeclared := 0
		if r.Undeclared {
			undeclared = 1
		}
		b = putNumber(b, int(r.Kind)<<1|undeclared)
		b = putStrings(b, r.Conditions)
		b = putStrings(b, r.Actions)
		b = putNumber(b, len(r.Positions))
		for _, p := range r.Positions {
			b = putNumber(putNumber(b, int(p.Outline)), int(p.Line))
		}
		b = putString(b, r.Text)
	}
	return b
}

// stringOf is b as a string that shares its bytes.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// methods numbers the distinct methods and fields of one class as they first occur: what several
// lines of a mapping say of one is said once.
type methods struct {
	seed  maphash.Seed
	all   []numbered // by number
	last  int32      // number of the method that was asked for last; -1
	same  []mark     // by the place of its symbol.Method, which parsers and readers share: most are found here
	text  []mark     // by their plain form
	stamp uint32
}

// numbered is a method that has a number, and where its plain form stands in its class's.
type numbered struct {
	is       *symbol.Method
	from, to int
}

type mark struct {
	stamp  uint32
	number int32
}

func newMethods() *methods {
	return &methods{seed: maphash.MakeSeed(), same: make([]mark, 256), text: make([]mark, 256)}
}

func (m *methods) reset() {
	m.all, m.last = m.all[:0], -1
	if m.stamp++; m.stamp == 0 {
		clear(m.same)
		clear(m.text)
		m.stamp = 1
	}
}

// find returns the number of a method of a class. b is the class's plain form so far; find appends the form of a new
// method.
func (m *methods) find(b []byte, c *symbol.Method) (form []byte, number int32, isNew bool) {
	if m.last >= 0 && c == m.all[m.last].is {
		return b, m.last, false
	}
	mask := uint64(len(m.same) - 1)
	at := uint64(uintptr(unsafe.Pointer(c))) * 0x9e3779b97f4a7c15 >> 32 & mask
	if e := m.same[at]; e.stamp == m.stamp && c == m.all[e.number].is {
		m.last = e.number
		return b, e.number, false
	}
	from := len(b)
	b = putMethod(b, c)
	slot := maphash.Bytes(m.seed, b[from:]) & mask
	for ; m.text[slot].stamp == m.stamp; slot = (slot + 1) & mask {
		n := m.text[slot].number
		if x := &m.all[n]; string(b[x.from:x.to]) == string(b[from:]) {
			m.same[at] = mark{m.stamp, n}
			m.last = n
			return b[:from], n, false
		}
	}
	n := int32(len(m.all))
	m.all, m.last = append(m.all, numbered{c, from, len(b)}), n
	m.same[at], m.text[slot] = mark{m.stamp, n}, mark{m.stamp, n}
	if 2*len(m.all) > len(m.text) {
		m.grow(b)
	}
	return b, n, true
}

func (m *methods) grow(b []byte) {
	m.same, m.text = make([]mark, 2*len(m.same)), make([]mark, 2*len(m.text))
	mask := uint64(len(m.text) - 1)
	for n, x := range m.all {
		slot := maphash.Bytes(m.seed, b[x.from:x.to]) & mask
		for m.text[slot].stamp == m.stamp {
			slot = (slot + 1) & mask
		}
		m.text[slot] = mark{m.stamp, int32(n)}
	}
}
