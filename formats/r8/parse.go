package r8

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// explode reads the classes that begin in one part.
func (m *mapping) explode(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	if err := ctx.Err(); err != nil {
		return symbol.Quality{}, err
	}
	s, err := m.surveyed(ctx)
	if err != nil {
		return symbol.Quality{}, err
	}
	p := newParser(m.in.Limits, s.files.get, emit)
	if part == 0 {
		for _, w := range s.warnings[:min(len(s.warnings), maxWarnings)] {
			p.warn(w)
		}
		if err := emit(s.facts.run()); err != nil {
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
	emit    func(*symbol.Run) error
	quality symbol.Quality
	version mapVersion
	line    int // the one read last, from 1

	open    bool // a class is open
	began   int  // with this line
	lost    bool // the class line above does not parse
	skip    bool // the class above is too large
	bytes   int64
	class   symbol.Class
	members []symbol.Member // in the mapping's order
	sorted  []symbol.Member
	known   signatures
	named   map[string]bool // foreign classes of the open class
	run     symbol.Run
	spans   []span
	note    note
}

func newParser(l *formats.Limits, fileOf func(string) string, emit func(*symbol.Run) error) *parser {
	p := &parser{limits: l, fileOf: fileOf, emit: emit, named: map[string]bool{}}
	p.known.seed = maphash.MakeSeed()
	p.run.Rank = symbol.RankMapping
	return p
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
		p.comment(line, indent)
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
	p.class = symbol.Class{Name: text(renamed), Original: text(original)}
	p.known.reset()
}

// comment takes an annotation to what stands above it.
func (p *parser) comment(line []byte, indent int) {
	n := &p.note
	ok, reason := n.read(line)
	switch {
	case reason != "":
		p.bad(indent, reason)
	case !ok:
	case n.id == idVersion:
		p.version = parseVersion(n.text)
	case !p.open:
	case n.id == idSourceFile:
		if len(p.members) == 0 {
			p.class.File = n.text
		}
	case n.id == idSynthesized && len(p.members) == 0:
		p.class.Synthesized = p.class.Synthesized || p.version.level >= rules[idSynthesized].level
	case n.id >= idSynthesized && len(p.members) > 0:
		r := symbol.Rule{Kind: rules[n.id].kind, Undeclared: p.version.level < rules[n.id].level,
			Conditions: n.conditions, Actions: n.actions, Positions: n.positions, Text: n.text}
		slices.SortFunc(r.Positions, func(a, b symbol.OutlinePosition) int { return cmp.Compare(a.Outline, b.Outline) })
		m := &p.members[len(p.members)-1]
		m.Rules = append(m.Rules, r)
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
	at, slot := p.known.find(s.signature, p.members)
	if at >= 0 { // its strings are the same ones
		p.members = append(p.members, p.members[at])
		m := &p.members[len(p.members)-1]
		m.Name, m.Lines, m.From, m.Rules = text(s.renamed), s.lines, s.from, nil
		if name := p.members[len(p.members)-2].Name; name == m.Name {
			m.Name = name
		}
		return
	}
	m := symbol.Member{Name: text(s.renamed), Field: s.field, Lines: s.lines, From: s.from}
	if reason := signed(&m, s.signature, p.class.Original); reason != "" {
		p.bad(indent, reason)
		return
	}
	if n := len(p.members); n > 0 && p.members[n-1].Name == m.Name {
		m.Name = p.members[n-1].Name
	}
	p.known.add(slot, s.signature, len(p.members))
	p.members = append(p.members, m)
}

// end emits the open class.
func (p *parser) end() error {
	if !p.open {
		p.members = p.members[:0]
		return nil
	}
	p.open = false
	c := &p.class
	c.Members = p.byName()
	c.Files = c.Files[:0]
	clear(p.named)
	last := ""
	for i := range c.Members {
		class := c.Members[i].Class
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
	p.run.Class = c
	err := p.emit(&p.run)
	p.members = p.members[:0]
	return err
}

// span is a row of members with one name.
type span struct{ from, to int }

// byName sorts the members by name. Most names stand together, so rows of them are sorted.
func (p *parser) byName() []symbol.Member {
	p.spans = p.spans[:0]
	ordered := true
	for i := range p.members {
		if n := len(p.spans); n > 0 {
			last := p.members[p.spans[n-1].from].Name
			if last == p.members[i].Name {
				p.spans[n-1].to = i + 1
				continue
			}
			ordered = ordered && last < p.members[i].Name
		}
		p.spans = append(p.spans, span{i, i + 1})
	}
	if ordered {
		return p.members
	}
	slices.SortFunc(p.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(p.members[a.from].Name, p.members[b.from].Name), cmp.Compare(a.from, b.from))
	})
	p.sorted = p.sorted[:0]
	for _, s := range p.spans {
		p.sorted = append(p.sorted, p.members[s.from:s.to]...)
	}
	return p.sorted
}

// signatures finds a member of the open class with the same signature, so that it is taken apart once and its strings
// are the same: open addressing, because most lines are looked up.
type signatures struct {
	seed  maphash.Seed
	slots []slot
	stamp uint32
	used  int
	texts [][]byte // by member that brought one
}

type slot struct {
	stamp, hash uint32
	member      int32
	text        int32
}

func (s *signatures) reset() {
	if s.stamp++; s.stamp == 0 {
		clear(s.slots)
		s.stamp = 1
	}
	s.used, s.texts = 0, s.texts[:0]
	if s.slots == nil {
		s.slots = make([]slot, 256)
	}
}

// find gives the member, or -1 and the slot for it.
func (s *signatures) find(signature []byte, members []symbol.Member) (member int, at uint64) {
	h := maphash.Bytes(s.seed, signature)
	mask := uint64(len(s.slots) - 1)
	for at = h >> 32 & mask; ; at = (at + 1) & mask {
		e := &s.slots[at]
		if e.stamp != s.stamp {
			e.hash = uint32(h)
			return -1, at
		}
		if e.hash == uint32(h) && string(s.texts[e.text]) == string(signature) {
			return int(e.member), at
		}
	}
}

// add enters a signature in the slot that find gave.
func (s *signatures) add(at uint64, signature []byte, member int) {
	e := &s.slots[at]
	e.stamp, e.member, e.text = s.stamp, int32(member), int32(len(s.texts))
	s.texts = append(s.texts, signature)
	if s.used++; 2*s.used < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	for _, e := range old {
		if e.stamp != s.stamp {
			continue
		}
		h := maphash.Bytes(s.seed, s.texts[e.text])
		mask := uint64(len(s.slots) - 1)
		at := h >> 32 & mask
		for s.slots[at].stamp == s.stamp {
			at = (at + 1) & mask
		}
		s.slots[at] = e
	}
}
