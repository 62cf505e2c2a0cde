package row

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// The plain form of a class is what a load's digest is made of, and what the sorter of ingest
// keeps. See "Classes" in the package doc.

// The first number of a plain class.
const (
	plainSynthesized = 1
	plainFacts       = 2
)

// Plain writes the plain form of classes. One goroutine. The zero value is not ready: NewPlain.
type Plain struct {
	methods *methods
	noted   func(s string)
}

// NewPlain makes a writer. noted, if not nil, hears of each string that a dictionary is good
// for: names of classes and types, one time for each method of a class that has it.
func NewPlain(noted func(s string)) *Plain {
	return &Plain{methods: newMethods(), noted: noted}
}

// Append appends the plain form of c.
func (p *Plain) Append(b []byte, c *symbol.Class) []byte {
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
	p.note(c.Original)
	if f := c.Facts; f != nil {
		b = putString(b, f.Version)
		b = putStrings(b, f.Packages)
	}
	p.methods.reset()
	b = putNumber(b, len(c.Members))
	name := ""
	for i := range c.Members {
		m := &c.Members[i]
		number, isNew := p.methods.find(c.Members, i)
		if isNew {
			b = append(b, 0)
			b = p.method(b, m)
		} else {
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

func (p *Plain) note(s string) {
	if p.noted != nil && s != "" {
		p.noted(s)
	}
}

func (p *Plain) method(b []byte, m *symbol.Member) []byte {
	field := byte(0)
	if m.Field {
		field = 1
	}
	b = append(b, field)
	b = putString(b, m.Class)
	b = putString(b, m.Original)
	b = putString(b, m.Type)
	b = putString(b, m.Params)
	if p.noted != nil {
		p.note(m.Class)
		p.note(m.Type)
		p.note(m.Params)
	}
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
		b = binary.AppendUvarint(b, zigzag(int64(l.Last)-int64(l.First)))
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

// PlainReader reads plain classes, using its memory again. One goroutine.
type PlainReader struct {
	class   symbol.Class
	facts   symbol.Facts
	methods []int32
	b       []byte
	at      int
	bad     bool
}

// Read gives the class that b is the plain form of. It shares b's bytes, and is valid until the next Read.
func (p *PlainReader) Read(b []byte) (*symbol.Class, error) {
	p.b, p.at, p.bad = b, 0, false
	c := &p.class
	members, files := c.Members[:0], c.Files[:0]
	*c = symbol.Class{}
	flags := p.number()
	c.Synthesized = flags&plainSynthesized != 0
	c.Name, c.Original, c.File = p.string(), p.string(), p.string()
	if flags&plainFacts != 0 {
		p.facts = symbol.Facts{Version: p.string(), Packages: p.strings()}
		c.Facts = &p.facts
	}
	p.methods = p.methods[:0]
	name := ""
	for n := p.count(); n > 0 && !p.bad; n-- {
		members = append(members, symbol.Member{})
		m := &members[len(members)-1]
		if op := p.number(); op == 0 {
			m.Field = p.number() == 1
			m.Class, m.Original, m.Type, m.Params = p.string(), p.string(), p.string(), p.string()
			p.methods = append(p.methods, int32(len(members)-1))
		} else if op <= uint64(len(p.methods)) {
			*m = members[p.methods[op-1]]
			m.Rules = nil
		} else {
			p.bad = true
		}
		if n := p.number(); n > 0 {
			name = p.take(n - 1)
		}
		m.Name = name
		shape := byte(p.number())
		m.Lines, m.From = p.lines(shape&3), p.lines(shape>>2&3)
		if shape&16 != 0 {
			m.Rules = p.rules()
		}
	}
	for n := p.count(); n > 0 && !p.bad; n-- {
		files = append(files, symbol.ClassFile{Class: p.string(), File: p.string()})
	}
	c.Members, c.Files = members, files
	if p.bad || p.at != len(b) {
		return nil, fmt.Errorf("%w: a plain class", errColumn)
	}
	return c, nil
}

func (p *PlainReader) number() uint64 {
	if p.at < len(p.b) && p.b[p.at] < 0x80 {
		p.at++
		return uint64(p.b[p.at-1])
	}
	v, n := binary.Uvarint(p.b[p.at:])
	if n <= 0 {
		p.bad = true
		return 0
	}
	p.at += n
	return v
}

// count is a number of things, each of which takes a byte at least.
func (p *PlainReader) count() int {
	n := p.number()
	if n > uint64(len(p.b)-p.at) {
		p.bad = true
		return 0
	}
	return int(n)
}

func (p *PlainReader) string() string { return p.take(p.number()) }

func (p *PlainReader) take(n uint64) string {
	if n > uint64(len(p.b)-p.at) {
		p.bad = true
		return ""
	}
	p.at += int(n)
	return stringOf(p.b[p.at-int(n) : p.at])
}

func (p *PlainReader) strings() (list []string) {
	for n := p.count(); n > 0 && !p.bad; n-- {
		list = append(list, p.string())
	}
	return list
}

func (p *PlainReader) lines(count byte) (l symbol.Lines) {
	if l.Count = count; count > 0 {
		l.First = uint32(p.number())
		l.Last = l.First
	}
	if count > 1 {
		l.Last = uint32(int64(l.First) + unzigzag(p.number()))
	}
	return l
}

func (p *PlainReader) rules() (rules []symbol.Rule) {
	for n := p.count(); n > 0 && !p.bad; n-- {
		kind := p.number()
		r := symbol.Rule{Kind: symbol.RuleKind(kind >> 1), Undeclared: kind&1 != 0, Conditions: p.strings(), Actions: p.strings()}
		for k := p.count(); k > 0 && !p.bad; k-- {
			r.Positions = append(r.Positions, symbol.OutlinePosition{Outline: uint32(p.number()), Line: uint32(p.number())})
		}
		r.Text = p.string()
		rules = append(rules, r)
	}
	return rules
}

// stringOf is b as a string that shares its bytes.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
