package r8

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// explode reads the classes that begin in one part.
func (m *mapping) explode(ctx context.Context, part int, emit func(*symbol.Class) error) (symbol.Quality, error) {
	if err := ctx.Err(); err != nil {
		return symbol.Quality{}, err
	}
	s, err := m.surveyed(ctx)
	if err != nil {
		return symbol.Quality{}, err
	}
	p := newParser(m.in.Limits, s.files.get, emit)
	defer p.release()
	if part == 0 {
		for _, w := range s.warnings[:min(len(s.warnings), maxWarnings)] {
			p.warn(w)
		}
		if err := emit(s.facts.nameless()); err != nil {
			return p.quality, err
		}
	}
	from, to := s.starts[part], s.starts[part+1]
	p.version, p.line = from.version, from.line-1
	l := newLines(m.in, from.off)
	for from.off < to.off {
		line, off, long, ok, err := l.next(ctx)
		if err != nil {
			return p.quality, err
		}
		if !ok || off >= to.off {
			break
		}
		if p.line%(1<<14) == 0 && ctx.Err() != nil {
			return p.quality, ctx.Err()
		}
		if err := p.take(line, long); err != nil {
			return p.quality, err
		}
		if !p.open || p.began == p.line {
			l.release() // no class is open that holds to an earlier line
		}
	}
	return p.quality, p.end()
}

// maxWarnings is how many of a part's bad lines are named.
const maxWarnings = 20

// parser makes classes of lines.
type parser struct {
	limits  *formats.Limits
	fileOf  func(original string) string // "": not said
	emit    func(*symbol.Class) error
	quality symbol.Quality
	version mapVersion
	line    int // the one read last, from 1

	open    bool // a class is open
	began   int  // with this line
	lost    bool // the class line above does not parse
	skip    bool // the class above is too large
	bytes   int64
	class   symbol.Class
	methods []*symbol.Method // what the lines of the class are about, each once
	slab    []symbol.Method  // holds the methods; a large class fills several
	rules   []symbol.Rule    // of all lines, likewise
	members []symbol.Member  // in the mapping's order
	sorted  []symbol.Member  // by name, where that is another one
	ordered bool             // so far it is the same
	known   signatures
	named   map[string]bool // foreign classes of the open class
	spans   []span
	note    note
}

// newParser returns a parser, which release gives to the next caller.
func newParser(l *formats.Limits, fileOf func(string) string, emit func(*symbol.Class) error) *parser {
	p := parsers.Get().(*parser)
	p.limits, p.fileOf, p.emit = l, fileOf, emit
	return p
}

// parsers are free: what one grew to for a part or for a mapping serves the next.
var parsers = sync.Pool{New: func() any {
	return &parser{named: map[string]bool{}, ordered: true, known: signatures{seed: maphash.MakeSeed()}}
}}

// pooledMembers is the most members and methods that a parser of parsers has room for.
const pooledMembers = 2 << 10

// release gives the parser to the next caller of newParser, unless it is large. It forgets all that points into the
// mapping.
func (p *parser) release() {
	if cap(p.members)+cap(p.sorted)+cap(p.slab)+cap(p.rules)+cap(p.spans) > pooledMembers {
		return
	}
	clear(p.methods[:cap(p.methods)])
	clear(p.slab[:cap(p.slab)])
	clear(p.rules[:cap(p.rules)])
	clear(p.members[:cap(p.members)])
	clear(p.sorted[:cap(p.sorted)])
	clear(p.known.texts[:cap(p.known.texts)])
	clear(p.class.Files[:cap(p.class.Files)])
	clear(p.named)
	*p = parser{named: p.named, ordered: true, known: p.known, methods: p.methods[:0], slab: p.slab[:0], rules: p.rules[:0],
		members: p.members[:0], sorted: p.sorted[:0], spans: p.spans[:0], class: symbol.Class{Files: p.class.Files[:0]}}
	parsers.Put(p)
}

func (p *parser) warn(s string) {
	if len(p.quality.Warnings) < maxWarnings {
		p.quality.Warnings = append(p.quality.Warnings, s)
	}
}

// bad counts a line; column counts from 0.
func (p *parser) bad(column int, reason string) {
	p.quality.BadLines++
	if len(p.quality.Warnings) < maxWarnings {
		p.warn(fmt.Sprintf("line %d, column %d: %s", p.line, column+1, reason))
	}
}

// take reads one line. Errors are emit's.
func (p *parser) take(line []byte, long bool) error {
	p.line++
	indent, b := trim(line)
	if len(b) == 0 {
		return nil
	}
	p.quality.Lines++
	if indent == 0 && b[0] != '#' {
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.bytes += int64(len(line)); p.open && (p.bytes > p.limits.ClassBytes || len(p.members) >= p.limits.ClassLines) {
		p.open, p.skip = false, true
		p.quality.UnitsBroken++
		p.warn(fmt.Sprintf("line %d: the class is larger than a class may be: it is left out", p.line))
	}
	switch {
	case long:
		p.bad(0, "want a shorter line")
		if indent == 0 && b[0] != '#' {
			p.open, p.lost, p.skip = false, true, false
		}
	case b[0] == '#':
		p.comment(b, indent)
	case indent > 0:
		p.member(b, indent)
	default:
		p.begin(b)
	}
	return nil
}

func (p *parser) begin(b []byte) {
	original, renamed, reason := classLine(b)
	p.open, p.lost, p.skip, p.bytes = reason == "", reason != "", false, int64(len(b))
	if reason != "" {
		p.bad(0, reason)
		return
	}
	p.quality.Units++
	p.began = p.line
	p.class = symbol.Class{Name: text(renamed), Original: text(original), Files: p.class.Files[:0]}
	p.known.reset()
}

// comment takes an annotation to what stands above it.
func (p *parser) comment(b []byte, indent int) {
	n := &p.note
	ok, reason := n.read(b)
	switch {
	case reason != "":
		p.warn(fmt.Sprintf("line %d, column %d: %s: it is read as a comment", p.line, indent+1, reason))
	case !ok:
	case n.id == idVersion:
		p.version = parseVersion(n.text)
	case !p.open:
	case n.id == idSourceFile:
		if len(p.members) == 0 && p.class.File == "" {
			p.class.File = n.text
		}
	case n.id == idSynthesized && len(p.members) == 0:
		p.class.Synthesized = p.class.Synthesized || p.version.level >= rules[idSynthesized].level
	case n.id >= idSynthesized && len(p.members) > 0:
		r := symbol.Rule{Kind: rules[n.id].kind, Undeclared: p.version.level < rules[n.id].level,
			Conditions: n.conditions, Actions: n.actions, Positions: n.positions, Text: n.text}
		slices.SortFunc(r.Positions, func(a, b symbol.OutlinePosition) int { return cmp.Compare(a.Outline, b.Outline) })
		m := &p.members[len(p.members)-1]
		from := len(p.rules) - len(m.Rules)
		if len(p.rules) == cap(p.rules) { // rules of other lines keep their array
			p.rules, from = append(make([]symbol.Rule, 0, max(64, 2*cap(p.rules))), m.Rules...), 0
		}
		p.rules = append(p.rules, r)
		m.Rules = p.rules[from:len(p.rules):len(p.rules)]
	}
}

func (p *parser) member(b []byte, indent int) {
	switch {
	case p.open:
	case p.skip:
		return
	case p.lost:
		p.quality.BadLines++ // named with the class line
		return
	default:
		p.bad(indent, "want a class above the member")
		return
	}
	s, column, reason := memberLine(b)
	if reason != "" {
		p.bad(indent+column, reason)
		return
	}
	method, slot := p.known.find(s.signature)
	if method < 0 { // its strings are the same ones in all lines that have it
		m := p.newMethod()
		m.Field = s.field
		if reason := signed(m, s.signature, p.class.Original); reason != "" {
			p.slab = p.slab[:len(p.slab)-1]
			p.bad(indent, reason)
			return
		}
		method = len(p.methods)
		p.known.add(slot, s.signature)
		p.methods = append(p.methods, m)
	}
	name := text(s.renamed)
	if n := len(p.members); n > 0 {
		if last := p.members[n-1].Name; last == name {
			name = last
		} else if last > name {
			p.ordered = false
		}
	}
	p.members = append(p.members, symbol.Member{Method: p.methods[method], Name: name, Lines: s.lines, From: s.from})
}

// newMethod makes room for a method.
func (p *parser) newMethod() *symbol.Method {
	if len(p.slab) == cap(p.slab) {
		p.slab = make([]symbol.Method, 0, max(64, 2*cap(p.slab)))
	}
	p.slab = p.slab[:len(p.slab)+1]
	return &p.slab[len(p.slab)-1]
}

// end emits the open class.
func (p *parser) end() error {
	defer p.forget()
	if !p.open {
		return nil
	}
	p.open = false
	c := &p.class
	c.Members = p.byName()
	c.Files = c.Files[:0]
	clear(p.named)
	last := ""
	for _, m := range p.methods {
		class := m.Class
		if class == "" || class == last || p.named[class] {
			continue
		}
		last = class
		p.named[class] = true
		if f := p.fileOf(class); f != "" {
			c.Files = append(c.Files, symbol.ClassFile{Class: class, File: f})
		}
	}
	slices.SortFunc(c.Files, func(a, b symbol.ClassFile) int { return cmp.Compare(a.Class, b.Class) })
	return p.emit(c)
}

// forget drops what the parser has of a class.
func (p *parser) forget() {
	p.methods, p.slab, p.rules, p.members, p.ordered = p.methods[:0], p.slab[:0], p.rules[:0], p.members[:0], true
}
