package retrace

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// chain is one of the meanings of a line: a frame with the frames inlined into
// it, innermost first.
type chain struct {
	lines []line // never empty
	at    int    // original line of the innermost; -1: by its own range
	over  *overload
}

// frame answers a line with a method.
func (r *retracer) frame(m *report.Managed, x *Class, a *symbol.Answer) {
	chosen, number := r.choose(x.method(m.Method), m)
	if len(chosen) == 0 { // the class is mapped, the method is not: the context stays
		name := x.Original + "." + m.Method
		f := symbol.Frame{Function: name, Linkage: name, Line: positive(m.Line), File: r.file(x, "", m)}
		*a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{f}}
		return
	}
	ambiguous := isAmbiguous(chosen)
	r.chains = r.chains[:0]
	for i := range chosen {
		r.split(&chosen[i], ambiguous)
	}
	r.answer(m, x, number, ambiguous, a)
}

// choice is an overload that a line may mean, and its lines that fit.
type choice struct {
	over  *overload
	lines []line // empty: none in particular
}

// choose finds the lines of the mapping that a line of the text means. It
// returns the number they were chosen by: at the caller of an outline it is
// another than printed.
func (r *retracer) choose(m method, p *report.Managed) (found []choice, number int) {
	if p.Params {
		m = r.taking(m, p)
	}
	printed := p.Line > 0
	by := anywhere
	if printed {
		by = byNumber
	}
	found, number = r.narrow(m, by, p.Line)
	if printed && len(found) == 0 {
		found, number = r.narrow(m, unlined, p.Line)
	}
	if !printed && len(found) == 0 {
		number = p.Line
		if r.o.School == report.List && len(m) == 1 && groupEnd(m[0].lines, 0) == len(m[0].lines) {
			return []choice{{&m[0], m[0].lines}}, number // there is nothing else that it can be
		}
		for i := range m {
			found = append(found, choice{over: &m[i]})
		}
	}
	return found, number
}

// selection is a way to choose of an overload's lines.
type selection uint8

const (
	byNumber selection = iota
	anywhere
	unlined
)

func (o *overload) choose(by selection, number int) []line {
	switch by {
	case anywhere:
		return o.anywhere()
	case unlined:
		return o.bare
	}
	return o.at(number)
}

// narrow takes the lines that each overload has to offer. If one of them calls
// the outline of the line before, it takes the lines that the call's lines lead
// to. Its result is valid until the next call.
func (r *retracer) narrow(m method, by selection, number int) (found []choice, _ int) {
	found = r.choices[:0]
	defer func() { r.choices = found }()
	for i := range m {
		chosen := m[i].choose(by, number)
		if len(chosen) == 0 {
			continue
		}
		if r.context.outlined {
			if at, ok := callsite(&chosen[len(chosen)-1], r.context.outline); ok {
				found = found[:0]
				for k := range m {
					if chosen := m[k].at(at); len(chosen) > 0 {
						found = append(found, choice{&m[k], chosen})
					}
				}
				return found, at
			}
		}
		found = append(found, choice{&m[i], chosen})
	}
	return found, number
}

// callsite is the line in the caller for a line in the outline it called.
func callsite(call *line, outline int) (int, bool) {
	for i := range call.rules() {
		if rule := &call.rules()[i]; rule.Kind == symbol.OutlineCallsite {
			positions := rule.Positions
			at, ok := slices.BinarySearchFunc(positions, uint32(outline), func(p symbol.OutlinePosition, want uint32) int { return cmp.Compare(p.Outline, want) })
			if ok {
				return int(positions[at].Line), true
			}
			return outline, true
		}
	}
	return 0, false
}

// at gives the first lines of one range that holds a line of the program.
func (o *overload) at(number int) []line {
	from := 0
	if o.ends != nil {
		if number < 0 || int64(number) > math.MaxUint32 {
			return nil
		}
		from, _ = slices.BinarySearch(o.ends, uint32(number))
	}
	for ; from < len(o.lines); from++ {
		if contains(o.lines[from].Lines, number) {
			return o.lines[from:groupEnd(o.lines, from)]
		}
		if o.ends != nil {
			break
		}
	}
	return nil
}

// anywhere gives what a frame without line means: the lines for all of the
// method, which R8 writes as line 0, else the first line without range.
func (o *overload) anywhere() []line {
	if lines := o.at(0); len(lines) > 0 {
		return lines
	}
	return o.bare[:min(1, len(o.bare))]
}

func contains(l symbol.Lines, line int) bool {
	if l.Count == 0 || line < 0 {
		return false
	}
	return int64(l.First) <= int64(line) && int64(line) <= int64(l.Last)
}

// span is how many lines a range has.
func span(l symbol.Lines) int64 {
	if l.Count == 1 {
		return 1
	}
	return int64(l.Last) - int64(l.First) + 1
}

// isSpread: the line stands for several in the source, and the number in the
// program does not tell which.
func isSpread(m *line) bool {
	return m.From.Count > 0 && span(m.From) != 1 && (m.Lines.Count == 0 || span(m.Lines) != span(m.From))
}

// isAmbiguous is R8's notion: the lines may mean more than one frame.
func isAmbiguous(chosen []choice) bool {
	if len(chosen) > 1 {
		return true
	}
	lines := chosen[0].lines
	for i := range lines {
		if isSpread(&lines[i]) || i > 0 && (lines[i].Lines.Count == 0 || lines[i].Lines != lines[0].Lines) {
			return true
		}
	}
	return false
}

// split cuts the chosen lines into chains: by range in the program, and by
// line in the source where the innermost one is spread over several.
func (r *retracer) split(c *choice, ambiguous bool) {
	lines := c.lines
	if len(lines) == 0 {
		only := *c.over.original
		only.Lines, only.From, only.ruled = symbol.Lines{}, symbol.Lines{}, nil
		r.chains = append(r.chains, chain{lines: []line{only}, at: -1, over: c.over})
		return
	}
	for from := 0; from < len(lines) && len(r.chains) < MaxAlternatives; {
		end := groupEnd(lines, from)
		one := chain{lines: lines[from:end:end], at: -1, over: c.over}
		from = end
		if !ambiguous || !isSpread(&one.lines[0]) || r.o.School == report.List {
			r.chains = append(r.chains, one)
			continue
		}
		first := int64(one.lines[0].From.First)
		for i := range span(one.lines[0].From) {
			if len(r.chains) == MaxAlternatives {
				break
			}
			one.at = int(first + i)
			r.chains = append(r.chains, one)
		}
	}
}

// original is the source line of chain's line i, where the program's line is
// line (0 or less: not printed). ok is false where there is none.
func (c *chain) original(i, line int, ambiguous bool) (int, bool) {
	m := &c.lines[i]
	if i == 0 && c.at >= 0 {
		return c.at, true
	}
	fixed := m.From.Count > 0 && span(m.From) == 1
	switch {
	case fixed:
		return int(m.From.First), true
	case !ambiguous && (m.Lines.Count == 0 || line == -1):
		first := int(m.Lines.First)
		if m.From.Count > 0 {
			first = int(m.From.First)
		}
		return first, first > 0
	case !contains(m.Lines, line):
		return 0, false
	case m.From.Count == 0:
		return line, true
	}
	return int(m.From.First) + line - int(m.Lines.First), true
}

// removed is how many inner frames the chain's rules drop under an exception.
func (c *chain) removed(thrown string) int {
	if !c.over.ruled {
		return 0
	}
	n := 0
	for i := range c.lines {
		for k := range c.lines[i].rules() {
			if rule := &c.lines[i].rules()[k]; rule.Kind == symbol.RewriteFrame && holds(rule, thrown) {
				n += innerFrames(rule)
			}
		}
	}
	if n > len(c.lines) { // a rule for another chain
		return 0
	}
	return n
}

func holds(rule *symbol.Rule, thrown string) bool {
	for _, condition := range rule.Conditions {
		desc, ok := strings.CutPrefix(condition, "throws(L")
		desc, end := strings.CutSuffix(desc, ";)")
		if !ok || !end || thrown == "" || strings.ReplaceAll(desc, "/", ".") != thrown {
			return false
		}
	}
	return true
}

func innerFrames(rule *symbol.Rule) int {
	n := 0
	for _, action := range rule.Actions {
		if arg, ok := strings.CutPrefix(action, "removeInnerFrames("); ok {
			if k, err := strconv.ParseUint(strings.TrimSuffix(arg, ")"), 10, 16); err == nil {
				n += int(k)
			}
		}
	}
	return n
}

// left are the chain's lines [from, to) that stay.
func (c *chain) left(thrown string, school report.School) (from, to int) {
	from, to = c.removed(thrown), len(c.lines)
	if c.over.outline || c.over.synthesized && school != report.List {
		to--
	}
	return min(from, to), to
}

func positive(line int) uint32 { return uint32(max(line, 0)) }
