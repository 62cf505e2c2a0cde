package classes

import (
	"errors"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// classReader reads a class from its share of the columns.
type classReader struct {
	text   *classText         // strings that stand in the block; nil: packed has them
	dict   *dictionary.Reader // of the load; nil: it has none
	packed *packedClass       // a class that stands in no block
	table  *dictionary.Table  // of that
	col    [partedEnd - parted]column.Reader
	fresh  uint32 // the string of the block that is next
	bad    bool

	methods []methodAt // as they first occur
	name    []byte     // of the member read last
	before  symbol.Lines
	base    uint32   // line in the source that a new method is told against
	foreign []string // classes that methods name
}

// methodAt is a method that is not made yet.
type methodAt struct {
	class, original, result, params stringAt
	last                            uint32 // line in the source
	kind                            uint8
}

// memberAt is a member as its columns tell it.
type memberAt struct {
	method  int  // its number
	isNew   bool // no member before is about that
	renamed bool // it is called otherwise than the one before
	ruled   bool // its rules come next
	lines   symbol.Lines
	from    symbol.Lines
}

var errClass = errors.New("its columns do not make a class")

func (r *classReader) next(col int) uint64 { return r.col[col-parted].Next() }

// count reads a number of things. Each takes a byte of some column at least, so most is a number of bytes.
func (r *classReader) count(col int, most int) int {
	n := r.next(col)
	if n > uint64(most) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *classReader) left(col int) int { return len(r.col[col-parted].B) - r.col[col-parted].At }

// member reads the next member. Nothing is to be made of it when r is bad.
func (r *classReader) member() (m memberAt) {
	m.method = len(r.methods)
	if op := r.next(colOp); op == 0 && m.method < cap(r.methods) { // none is left: the column has ended
		m.isNew = true
		r.methods = append(r.methods, r.methodAt())
	} else if 0 < op && op <= uint64(m.method) {
		m.method -= int(op)
	} else {
		r.bad = true
	}
	code := r.next(colShape)
	shape := code / nameCodes
	if r.bad || shape >= 2*shapeRules {
		r.bad = true
		return m
	}
	switch code % nameCodes {
	case nameNew:
		m.renamed = r.rename(r.cut(colNewName, colNewText))
	case nameOwn:
		m.renamed = r.rename(r.string(r.methods[m.method].original))
	case nameNext:
		if n := len(r.name) - 1; n >= 0 && isRaised(r.name[n]) {
			m.renamed = true
			r.name[n]++
		} else {
			m.renamed = r.rename("")
		}
	}
	if m.renamed {
		r.before = symbol.Lines{}
	}
	m.lines = r.lines(r.before, uint8(shape%3))
	r.before = m.lines
	m.ruled = shape >= shapeRules
	if m.from.Count = uint8(shape / 3 % 3); m.from.Count == 0 {
		return m
	}
	at := &r.methods[m.method]
	m.from.First = uint32(int64(at.last) + column.Unzigzag(r.next(colOrigFirst)))
	m.from.Last = m.from.First
	if m.from.Count > 1 {
		m.from.Last = uint32(int64(m.from.First) + int64(m.lines.Last) - int64(m.lines.First) + column.Unzigzag(r.next(colOrigLength)))
	}
	if at.last = m.from.Last; at.kind&methodForeign == 0 {
		r.base = m.from.Last
	}
	return m
}

// rename takes another name; not if it is the same.
func (r *classReader) rename(name string) bool {
	if string(r.name) == name {
		return false
	}
	r.name = append(r.name[:0], name...)
	return true
}

func (r *classReader) lines(before symbol.Lines, count uint8) symbol.Lines {
	if count == 0 {
		return symbol.Lines{}
	}
	v := r.next(colMinFirst)
	if v == 0 {
		return before
	}
	l := symbol.Lines{First: uint32(int64(before.Last) + 1 + column.Unzigzag(v-1)), Count: count}
	l.Last = l.First
	if count > 1 {
		l.Last = uint32(int64(l.First) + column.Unzigzag(r.next(colMinLength)))
	}
	return l
}

func (r *classReader) methodAt() (m methodAt) {
	m.last = r.base
	m.kind = uint8(r.next(colMethod))
	if m.kind&methodForeign != 0 {
		m.class = r.ref(colRefLo)
	}
	m.original = r.ref(colOrigNameLo)
	m.result = r.ref(colRefLo)
	if m.kind&methodParams != 0 {
		m.params = r.ref(colRefLo)
	}
	return m
}

// method makes a method that was read.
func (r *classReader) method(number int, m *symbol.Method) {
	at := &r.methods[number]
	*m = symbol.Method{Field: at.kind&methodField != 0, Class: r.string(at.class), Original: r.string(at.original),
		Type: r.string(at.result), Params: r.string(at.params)}
}

func (r *classReader) meet(class string) {
	for i := len(r.foreign) - 1; i >= 0; i-- {
		if r.foreign[i] == class {
			return
		}
	}
	r.foreign = append(r.foreign, class)
}

func (r *classReader) file(class string) string {
	code := r.next(colFile)
	if code == fileOther {
		return r.string(r.ref(colRefLo))
	}
	return guessFile(class, int(min(code, fileOther)))
}

func (r *classReader) signature() string { return r.cut(colSigLength, colSigText) }

// cut returns a string: its length stands in one column and its text in another.
func (r *classReader) cut(length, text int) string {
	n := r.next(length)
	t := &r.col[text-parted]
	if n > uint64(len(t.B)-t.At) {
		r.bad = true
		return ""
	}
	t.At += int(n)
	return stringOf(t.B[t.At-int(n) : t.At]) // the columns stay as they are
}

// rules reads the rules of a member, and makes them if they are wanted.
func (r *classReader) rules(wanted bool) []symbol.Rule {
	n := r.count(colRule, r.left(colRule))
	var rules []symbol.Rule
	if wanted {
		rules = make([]symbol.Rule, n)
	}
	for i := range n {
		kind := r.next(colRule)
		d := symbol.Rule{Kind: symbol.RuleKind(kind >> 1), Undeclared: kind&1 != 0}
		if d.Kind == symbol.ResidualSignature {
			d.Text = r.signature()
		} else {
			d.Conditions, d.Actions, d.Text = r.list(wanted), r.list(wanted), r.said(wanted)
			d.Positions = r.positions(wanted)
		}
		if wanted {
			rules[i] = d
		}
	}
	return rules
}

func (r *classReader) list(wanted bool) (list []string) {
	for range r.count(colRule, r.strings()) {
		if s := r.said(wanted); wanted {
			list = append(list, s)
		}
	}
	return list
}

// said reads a string of a rule; "" if it is not wanted.
func (r *classReader) said(wanted bool) string {
	s := r.ref(colRefLo)
	if wanted {
		return r.string(s)
	}
	r.touch(s)
	return ""
}

func (r *classReader) positions(wanted bool) (all []symbol.OutlinePosition) {
	line, outline := int64(0), uint32(0)
	for range r.count(colRule, r.left(colRule)/2) {
		outline += uint32(r.next(colRule))
		line += column.Unzigzag(r.next(colRule))
		if wanted {
			all = append(all, symbol.OutlinePosition{Outline: outline, Line: uint32(line)})
		}
	}
	return all
}
