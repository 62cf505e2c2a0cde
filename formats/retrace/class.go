package retrace

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats/symbol"
)

// Class is a class made ready for retracing: the lines of each method that
// was asked for, cut into those that one name stands for. Safe for concurrent use.
type Class struct {
	*symbol.Class
	once  sync.Once
	seed  maphash.Seed
	names []named // by hash of the name, open addressing, a power of two
}

// named is a name in the program of which the class has members.
type named struct {
	name     string
	from, to int32 // of Members; to 0: the slot is free
	hash     uint32
	method   atomic.Pointer[method] // nil: not asked for yet
}

// method is what a name in the program stands for: one original method or,
// where names were overloaded or merged, several.
type method []overload

// line is a line of a mapping with what is said of it in answers.
type line struct {
	*symbol.Member
	class    string // original
	function string // CLASS.METHOD, the beginning of linkage
	linkage  string // CLASS.METHOD(PARAMS)TYPE
	file     string // of class; "": the mapping does not say

	// The member's, at hand.
	Lines, From symbol.Lines
	Rules       []symbol.Rule
}

// overload is a run of a mapping's lines that belong to one original method,
// with what was inlined into it.
type overload struct {
	lines []line
	// original is the method where no line is chosen; it is not always the last of lines.
	original    *line
	synthesized bool // dropped where it is outermost
	outline     bool
	// ends are those of the lines' ranges in the program, if the ranges ascend and none lie in one another; else nil.
	ends []uint32
}

// NewClass makes a class of c, which must not change.
func NewClass(c *symbol.Class) *Class { return &Class{Class: c} }

// method gives what a name stands for; nil: no method has it.
func (x *Class) method(name string) method {
	x.once.Do(x.index)
	h := maphash.String(x.seed, name)
	mask := uint64(len(x.names) - 1)
	for at := h >> 32 & mask; x.names[at].to > 0; at = (at + 1) & mask {
		n := &x.names[at]
		if n.hash != uint32(h) || n.name != name {
			continue
		}
		m := n.method.Load()
		if m == nil {
			m = x.ready(x.Members[n.from:n.to])
			n.method.Store(m) // who was as fast made the same
		}
		return *m
	}
	return nil
}

// index enters the names, whose members stand together.
func (x *Class) index() {
	distinct, slots := 0, 2
	for i := range x.Members {
		if i == 0 || x.Members[i].Name != x.Members[i-1].Name {
			distinct++
		}
	}
	for slots < 2*distinct {
		slots *= 2
	}
	x.seed, x.names = maphash.MakeSeed(), make([]named, slots)
	mask := uint64(len(x.names) - 1)
	for from := 0; from < len(x.Members); {
		to := from + 1
		for to < len(x.Members) && x.Members[to].Name == x.Members[from].Name {
			to++
		}
		h := maphash.String(x.seed, x.Members[from].Name)
		at := h >> 32 & mask
		for x.names[at].to > 0 {
			at = (at + 1) & mask
		}
		n := &x.names[at]
		n.name, n.from, n.to, n.hash = x.Members[from].Name, int32(from), int32(to), uint32(h)
		from = to
	}
}

// ready makes the method of members of one name; empty: they are fields.
func (x *Class) ready(members []symbol.Member) *method {
	lines := make([]line, 0, len(members))
	for i := range members {
		if !members[i].Field {
			lines = append(lines, x.line(&members[i], lines))
		}
	}
	var m method
	if len(lines) > 0 {
		m = newMethod(lines)
	}
	return &m
}

// line makes a line ready; a method that stands above is not named anew.
func (x *Class) line(m *symbol.Member, above []line) line {
	for i := len(above) - 1; i >= max(0, len(above)-4); i-- {
		if sameMethod(above[i].Member, m) {
			again := above[i]
			again.Member, again.Lines, again.From, again.Rules = m, m.Lines, m.From, m.Rules
			return again
		}
	}
	l := line{Member: m, class: m.Class, file: x.FileOf(m.Class), Lines: m.Lines, From: m.From, Rules: m.Rules}
	if l.class == "" {
		l.class = x.Original
	}
	l.linkage = l.class + "." + m.Original + "(" + m.Params + ")" + m.Type
	l.function = l.linkage[:len(l.class)+1+len(m.Original)]
	return l
}

// newMethod cuts the lines of a name into overloads. A group is a line with
// what follows of the same range in the program, innermost first: the last
// one's method is the group's. Groups of one method that follow one another
// are an overload; all are one if the first and the last are of one method.
func newMethod(lines []line) method {
	var m method
	for from := 0; from < len(lines); {
		end := groupEnd(lines, from)
		if from == 0 && sameMethod(lines[end-1].Member, lines[len(lines)-1].Member) {
			end = len(lines)
		}
		for end < len(lines) {
			next := groupEnd(lines, end)
			if !sameMethod(lines[end-1].Member, lines[next-1].Member) {
				break
			}
			end = next
		}
		m = append(m, overload{lines: lines[from:end:end], original: &lines[end-1], ends: ends(lines[from:end])})
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
func sameMethod(a, b *symbol.Member) bool {
	return a.Method == b.Method || a.Original == b.Original && a.Class == b.Class && a.Type == b.Type && a.Params == b.Params
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

// name finds what is known about the methods that the overloads are in the
// program.
func (m method) name(lines []line) {
	if len(m) == 1 && !hasFacts(lines) {
		return
	}
	known := map[signature]*naming{}
	ends := map[*line]*naming{} // by the line that ends a group
	var last *naming
	var facts naming
	residual := ""
	for i := range lines {
		line := &lines[i]
		for r := range line.Rules {
			switch line.Rules[r].Kind {
			case symbol.Synthesized:
				facts.synthesized = true
			case symbol.Outline:
				facts.synthesized, facts.outline = true, true
			case symbol.ResidualSignature:
				residual = line.Rules[r].Text
			}
		}
		if i+1 < len(lines) && line.Lines.Count > 0 && lines[i+1].Lines == line.Lines && lines[i+1].From.Count == 1 {
			continue // inlined into the next: what stands here belongs to that
		}
		n := last
		if last == nil || line.Lines.Count == 0 || !sameMethod(last.original.Member, line.Member) {
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

func hasFacts(lines []line) bool {
	for i := range lines {
		if len(lines[i].Rules) > 0 {
			return true
		}
	}
	return false
}
