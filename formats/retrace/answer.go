package retrace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// slabFrames is how many frames are allocated at once, at most, for the answers of a thread: two a line.
const slabFrames = 64

// meaning is a chain as it is answered.
type meaning struct {
	frames []symbol.Frame
	line   *line // of the innermost frame that is left
	number int
	next   context // for the next line, if this chain is right
}

// answer makes an answer of the chains of a line, and says what the line
// leaves for the next.
func (r *retracer) answer(m *report.Managed, x *Class, number int, ambiguous bool, a *symbol.Answer) {
	thrown := r.context.thrown
	*a = symbol.Answer{Status: symbol.Found}
	if len(r.chains) == 1 {
		one := r.mean(&r.chains[0], m, x, number, ambiguous, thrown)
		a.Frames, r.context = one.frames, one.next
		return
	}
	var all []meaning
	seen := map[meaningKey]bool{}
	for i := range r.chains {
		one := r.mean(&r.chains[i], m, x, number, ambiguous, thrown)
		r.context = one.next
		if len(one.frames) == 0 || seen[r.key(&one, m)] {
			continue
		}
		seen[r.key(&one, m)] = true
		all = append(all, one)
	}
	switch len(all) {
	case 0:
		return
	case 1:
		r.context = all[0].next
	default:
		r.context = context{}
	}
	if r.o.School == report.List {
		slices.SortStableFunc(all, func(a, b meaning) int { return cmp.Compare(a.line.From.First, b.line.From.First) })
	} else {
		slices.SortStableFunc(all, compare)
	}
	a.Frames = all[0].frames
	for i := range all[1:] {
		a.Or = append(a.Or, all[1+i].frames)
	}
}

// meaningKey tells meanings apart by what their text shows of the innermost frame.
type meaningKey struct {
	class, name, of, params string
	number                  int
}

func (r *retracer) key(one *meaning, m *report.Managed) meaningKey {
	k := meaningKey{class: one.line.className(), name: one.line.Original}
	if r.o.Verbose || m.Lined && m.Line > 0 {
		k.number = one.number
	}
	if r.o.Verbose || m.Params {
		k.of, k.params = one.line.Type, one.line.Params
	}
	return k
}

// compare is R8's order of alternatives.
func compare(a, b meaning) int {
	return cmp.Or(cmp.Compare(a.line.className(), b.line.className()), cmp.Compare(a.line.Original, b.line.Original), cmp.Compare(a.line.Type, b.line.Type),
		compareParams(a.line.Params, b.line.Params), cmp.Compare(a.frames[0].File, b.frames[0].File), cmp.Compare(a.number, b.number))
}

func compareParams(a, b string) int {
	if c := cmp.Compare(paramCount(a), paramCount(b)); c != 0 {
		return c
	}
	for a != b {
		var x, y string
		x, a, _ = strings.Cut(a, ",")
		y, b, _ = strings.Cut(b, ",")
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

func paramCount(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(s, ",") + 1
}

// mean makes the frames of one chain. number is the line number that chose it.
func (r *retracer) mean(c *chain, m *report.Managed, x *Class, number int, ambiguous bool, thrown string) (one meaning) {
	from, to := c.left(thrown, r.o.School)
	if c.over.outline {
		one.next = context{outlined: true, outline: number}
		if r.left == 1 && r.o.School == report.List { // no caller's line follows
			to = len(c.lines)
		}
	}
	if from == to {
		return one
	}
	if cap(r.slab)-len(r.slab) < to-from {
		r.slab = make([]symbol.Frame, 0, max(min(2*r.left, slabFrames), to-from))
	}
	start := len(r.slab)
	for i := from; i < to; i++ {
		l := &c.lines[i]
		original, ok := c.original(i, number, ambiguous)
		if !ok {
			original = m.Line
		}
		if i == from {
			one.line, one.number = l, original
		}
		f := symbol.Frame{Function: l.linkage[:l.function], Linkage: l.linkage, File: l.file}
		if f.File == "" {
			f.File = r.guess(x, l.className(), m)
		}
		if m.Lined && (m.Line > -1 || !ambiguous || r.o.Verbose) {
			f.Line = positive(original)
		}
		r.slab = append(r.slab, f)
	}
	one.frames = r.slab[start:len(r.slab):len(r.slab)]
	return one
}

// taking keeps the overloads that take the printed types; all of them if
// none is known to.
func (r *retracer) taking(m method, p *report.Managed) method {
	if len(m) < 2 {
		return m
	}
	var params, residual strings.Builder
	for i := range p.Types {
		t := &p.Types[i]
		if i > 0 {
			params.WriteByte(',')
		}
		if t.Original != "" {
			params.WriteString(t.Original)
		} else {
			params.WriteString(t.Name)
		}
		descriptor(&residual, t.Name)
	}
	var kept method
	for i := range m {
		last := &m[i].lines[len(m[i].lines)-1]
		if last.Params == params.String() || takes(&m[i], residual.String()) {
			kept = append(kept, m[i])
		}
	}
	if kept == nil {
		return m
	}
	return kept
}

// takes: the mapping says that in the program the method takes these types.
func takes(o *overload, types string) bool {
	for i := range o.lines {
		for k := range o.lines[i].rules() {
			if rule := &o.lines[i].rules()[k]; rule.Kind == symbol.ResidualSignature && strings.HasPrefix(rule.Text, "("+types+")") {
				return true
			}
		}
	}
	return false
}

var primitiveDescriptors = map[string]string{"boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}

// descriptor appends a type as a descriptor has it.
func descriptor(to *strings.Builder, name string) {
	bare := strings.TrimRight(name, "[]")
	for range (len(name) - len(bare)) / 2 {
		to.WriteByte('[')
	}
	if d, ok := primitiveDescriptors[bare]; ok {
		to.WriteString(d)
		return
	}
	to.WriteString("L" + strings.ReplaceAll(bare, ".", "/") + ";")
}
