package retrace

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats/symbol"
)

// Members are the members of a class. A *symbol.Class has them all; a row makes a member when a caller asks for
// it. Safe for concurrent use.
type Members interface {
	// Named gives those with a name, as symbol.Class.Named does.
	Named(name string) []symbol.Member
	// Whole gives the class with all of them.
	Whole() *symbol.Class
}

// Class is a class made ready for retracing: the lines of each looked-up method,
// cut by overload. Safe for concurrent use.
type Class struct {
	*symbol.Class // maybe without Members
	members       Members
	seed          maphash.Seed
	mu            sync.Mutex // of writers of asked
	asked         atomic.Pointer[asked]
}

// asked are the methods that were asked for: of most classes these are few.
type asked struct {
	slots []atomic.Pointer[named] // by hash of the name, open addressing, a power of two
	used  int
}

// named is a name in the program with members in the class.
type named struct {
	name   string
	hash   uint64
	method method
	one    [1]overload // of method, if there is one: at hand
}

func newNamed(name string, hash uint64, m method) *named {
	n := &named{name: name, hash: hash, method: m}
	if len(m) == 1 {
		n.one[0] = m[0]
		n.method = n.one[:]
	}
	return n
}

// method is what a name in the program stands for: one original method or,
// where names were overloaded or merged, several.
type method []overload

// line is a line of a mapping. It is small: of a method with thousands of lines a trace needs one.
type line struct {
	*said
	Lines, From symbol.Lines   // as symbol.Member has them
	ruled       *[]symbol.Rule // nil: none stand below it
}

func (l *line) rules() []symbol.Rule {
	if l.ruled == nil {
		return nil
	}
	return *l.ruled
}

// said is a method of the source with what answers say of it. Lines that are about it share it, mostly.
type said struct {
	*symbol.Method
	linkage  string // CLASS.METHOD(PARAMS)TYPE
	file     string // of the class; "": the mapping does not say
	class    uint32 // where the original class ends in linkage
	function uint32 // where the method's name does
}

func (s *said) className() string { return s.linkage[:s.class] }

// overload is a run of a mapping's lines that belong to one original method,
// with the methods inlined into it.
type overload struct {
	lines []line
	// original is the method where no line is chosen; it is not always the last of lines.
	original    *line
	synthesized bool // dropped where it is outermost
	outline     bool
	ruled       bool // rules stand below one of the lines
	// ends holds the ends of the lines' ranges in the program, if the ranges ascend and none lie in one another; else nil.
	ends []uint32
	bare []line // the lines without a range in the program
}

// NewClass returns a class of c with the members m. Neither may change afterwards.
func NewClass(c *symbol.Class, m Members) *Class {
	x := &Class{Class: c, members: m, seed: maphash.MakeSeed()}
	x.asked.Store(&asked{slots: make([]atomic.Pointer[named], 4)})
	return x
}

// Named returns the members with that obfuscated name, as Members does.
func (x *Class) Named(name string) []symbol.Member { return x.members.Named(name) }

// Whole returns the class with all of its members, as Members does.
func (x *Class) Whole() *symbol.Class { return x.members.Whole() }

// method gives what a name stands for; nil: no method has it.
func (x *Class) method(name string) method {
	h := maphash.String(x.seed, name)
	if n, _ := x.asked.Load().find(name, h); n != nil {
		return n.method
	}
	members := x.Named(name)
	if len(members) == 0 {
		return nil
	}
	return x.enter(newNamed(members[0].Name, h, x.ready(members)))
}

// find gives a name, or nil and the slot for it.
func (t *asked) find(name string, h uint64) (n *named, at uint64) {
	mask := uint64(len(t.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		if n = t.slots[at].Load(); n == nil || n.hash == h && n.name == name {
			return n, at
		}
	}
}

// enter adds a name, unless another goroutine added it first. A reader sees it whole or not at all.
func (x *Class) enter(n *named) method {
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.asked.Load()
	had, at := t.find(n.name, n.hash)
	if had != nil {
		return had.method
	}
	if t.used++; 2*t.used <= len(t.slots) {
		t.slots[at].Store(n)
		return n.method
	}
	grown := &asked{slots: make([]atomic.Pointer[named], 2*len(t.slots)), used: t.used}
	for i := range t.slots {
		if old := t.slots[i].Load(); old != nil {
			_, at := grown.find(old.name, old.hash)
			grown.slots[at].Store(old)
		}
	}
	_, at = grown.find(n.name, n.hash)
	grown.slots[at].Store(n)
	x.asked.Store(grown)
	return n.method
}

// ready makes the method of members of one name; empty: they are fields.
func (x *Class) ready(members []symbol.Member) method {
	lines := make([]line, 0, len(members))
	for i := range members {
		if m := &members[i]; !m.Field {
			l := line{said: x.said(m.Method, lines), Lines: ascending(m.Lines), From: source(m.From)}
			if len(m.Rules) > 0 {
				rules := m.Rules
				l.ruled = &rules
			}
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return newMethod(lines)
}

// ascending returns a range that some tools write from its last line to its first, as R8 reads it.
func ascending(l symbol.Lines) symbol.Lines {
	l.First, l.Last = min(l.First, l.Last), max(l.First, l.Last)
	return l
}

// source does the same with a range of the source. A last line 0 stands for the first line alone.
func source(l symbol.Lines) symbol.Lines {
	if l.Last == 0 {
		l.Last = l.First
	}
	return ascending(l)
}

// said makes the name of a method once: a method in a line of above shares it.
func (x *Class) said(m *symbol.Method, above []line) *said {
	for i := len(above) - 1; i >= max(0, len(above)-4); i-- {
		if sameMethod(above[i].Method, m) {
			return above[i].said
		}
	}
	class := m.Class
	if class == "" {
		class = x.Original
	}
	return &said{Method: m, linkage: class + "." + m.Original + "(" + m.Params + ")" + m.Type, file: x.FileOf(m.Class),
		class: uint32(len(class)), function: uint32(len(class) + 1 + len(m.Original))}
}

// newMethod cuts the lines of a name into overloads. A group is a line with
// what follows of the same range in the program, innermost first: the last
// one's method is the group's. Groups of one method that follow one another
// are an overload; all are one if the first and the last are of one method.
func newMethod(lines []line) method {
	var m method
	for from := 0; from < len(lines); {
		end := groupEnd(lines, from)
		if from == 0 && sameMethod(lines[end-1].Method, lines[len(lines)-1].Method) {
			end = len(lines)
		}
		for end < len(lines) {
			next := groupEnd(lines, end)
			if !sameMethod(lines[end-1].Method, lines[next-1].Method) {
				break
			}
			end = next
		}
		m = append(m, overload{lines: lines[from:end:end], original: &lines[end-1], ruled: hasRules(lines[from:end]), ends: ends(lines[from:end]), bare: bare(lines[from:end])})
		from = end
	}
	m.name(lines)
	return m
}

func groupEnd(lines []line, from int) int {
	end := from + 1
	for end < len(lines) && lines[from].Lines.Count > 0 && lines[end].Lines == lines[from].Lines {
		end++
	}
	return end
}

// sameMethod: of one class, name, and signature.
func sameMethod(a, b *symbol.Method) bool {
	return a == b || a.Original == b.Original && a.Class == b.Class && a.Type == b.Type && a.Params == b.Params
}

func ends(lines []line) []uint32 {
	all := make([]uint32, len(lines))
	for i := range lines {
		l := lines[i].Lines
		if l.Count == 0 || l.First > l.Last || i > 0 && l != lines[i-1].Lines && l.First <= lines[i-1].Lines.Last {
			return nil
		}
		all[i] = l.Last
	}
	return all
}

// bare returns the lines without a range.
func bare(lines []line) []line {
	n := 0
	for i := range lines {
		if lines[i].Lines.Count == 0 {
			n++
		}
	}
	switch n {
	case 0:
		return nil
	case len(lines):
		return lines
	}
	all := make([]line, 0, n)
	for i := range lines {
		if lines[i].Lines.Count == 0 {
			all = append(all, lines[i])
		}
	}
	return all
}

// naming is a method in the program, by its name and the signature it has
// there. Synthesized and outline are facts about it, wherever among its lines
// they stand.
type naming struct {
	original             *line
	synthesized, outline bool
}

// signature tells methods of one name in the program apart: by the descriptor
// that the mapping says, else by the types of the source.
type signature struct{ residual, of, params string }

// name finds facts about the methods that the overloads are in the program.
func (m method) name(lines []line) {
	if len(m) == 1 && !m[0].ruled {
		return
	}
	known := map[signature]*naming{}
	ends := map[*line]*naming{} // by the line that ends a group
	var last *naming
	var facts naming
	residual := ""
	for i := range lines {
		line := &lines[i]
		for r := range line.rules() {
			switch rule := &line.rules()[r]; rule.Kind {
			case symbol.Synthesized:
				facts.synthesized = true
			case symbol.Outline:
				facts.synthesized, facts.outline = true, true
			case symbol.ResidualSignature:
				residual = rule.Text
			}
		}
		if i+1 < len(lines) && line.Lines.Count > 0 && lines[i+1].Lines == line.Lines && lines[i+1].From.Count == 1 {
			continue // inlined into the next: what stands here belongs to that
		}
		n := last
		if last == nil || line.Lines.Count == 0 || !sameMethod(last.original.Method, line.Method) {
			key := signature{residual: residual}
			if residual == "" {
				key = signature{of: line.Type, params: line.Params}
			}
			if n = known[key]; n == nil {
				n = &naming{original: line}
				known[key] = n
			}
		}
		n.synthesized = n.synthesized || facts.synthesized
		n.outline = n.outline || facts.outline
		last, facts, residual = n, naming{}, ""
		ends[line] = n
	}
	for i := range m {
		if n := ends[&m[i].lines[len(m[i].lines)-1]]; n != nil {
			m[i].original, m[i].synthesized, m[i].outline = n.original, n.synthesized, n.outline
		}
	}
}

func hasRules(lines []line) bool {
	for i := range lines {
		if lines[i].ruled != nil {
			return true
		}
	}
	return false
}
