package cpuprofile

import (
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// askedAtOnce bounds the questions in memory.
const askedAtOnce = 4 << 10

// bundles are what React Native calls a bundle, where a profile does not say its name.
var bundles = []string{"index.android.bundle", "main.jsbundle", "index.ios.bundle", "index.bundle"}

// ask looks all places up.
func (t *table) ask(ctx context.Context, o *profile.Options) error {
	t.results = make([]result, len(t.places))
	order := make([]int32, 0, len(t.places))
	paths := map[string]int32{}
	for i := range t.places {
		if f, ok := t.question(int32(i), 0); ok {
			order = append(order, int32(i))
			if _, known := paths[f.File]; !known {
				paths[f.File] = int32(len(paths))
			}
			t.scripts[t.places[i].url] = paths[f.File]
		}
	}
	slices.SortFunc(order, t.compare) // scripts stand together, and their places in order
	for len(order) > 0 {
		n := min(len(order), askedAtOnce)
		for n < len(order) && t.compare(order[n-1], order[n]) == 0 {
			n++
		}
		if err := t.askSome(ctx, o, order[:n]); err != nil {
			return err
		}
		order = order[n:]
	}
	for i := range t.places {
		if r := &t.results[i]; !r.found {
			r.is = -1 - int32(i)
		}
	}
	return t.askTicks(ctx, o)
}

func (t *table) compare(a, b int32) int {
	p, q := &t.places[a], &t.places[b]
	for _, d := range [...]int64{int64(p.style) - int64(q.style), int64(t.scripts[p.url]) - int64(t.scripts[q.url]), int64(p.line) - int64(q.line), int64(p.column) - int64(q.column)} {
		if d != 0 {
			return int(max(-1, min(1, d)))
		}
	}
	return 0
}

// question returns the question for a place, so many columns further.
func (t *table) question(i, further int32) (f report.Frame, ok bool) {
	p := &t.places[i]
	if p.line < 0 || p.column < 0 {
		return f, false
	}
	if p.style == bytecode {
		return report.Frame{Kind: symbol.SourceMap, Script: &report.Script{}, Image: bundles, Raw: uint64(p.column),
			At: symbol.Where{Space: symbol.Position, Value: uint64(p.column)}}, true
	}
	return scripts.Place("", t.texts[p.url], uint64(p.line)+1, uint64(p.column+further))
}

// askSome looks up places that may be asked for.
func (t *table) askSome(ctx context.Context, o *profile.Options, some []int32) error {
	found := make([]heads, len(some))
	w := answers{t, make(map[position]*symbol.Frame, 2*len(some))}
	// A function's place is counted as it was asked one column behind its beginning, where names are surest.
	err := w.look(ctx, o.Look, some, 1, func(i int, a *symbol.Frame) { found[i].in = a })
	if err != nil {
		return err
	}
	var begins, rest []int
	for i, n := range some {
		if t.places[n].style == begin {
			begins = append(begins, i)
		}
	}
	pick := func(from []int) []int32 {
		all := make([]int32, len(from))
		for k, i := range from {
			all[k] = some[i]
		}
		return all
	}
	if err := w.look(ctx, o.Ask, pick(begins), 0, func(k int, a *symbol.Frame) { found[begins[k]].at = a }); err != nil {
		return err
	}
	for _, i := range begins {
		if h := &found[i]; h.in == nil || strings.TrimPrefix(h.in.Readable(), "new ") == t.texts[t.places[some[i]].function] {
			rest = append(rest, i)
		}
	}
	if err := w.look(ctx, o.Ask, pick(rest), 3, func(k int, a *symbol.Frame) { found[rest[k]].behind = a }); err != nil {
		return err
	}
	for i, n := range some {
		t.settle(n, &found[i])
	}
	return nil
}

// asker asks for frames.
type asker func(ctx context.Context, frames []report.Frame, answer func(i int, a *symbol.Answer)) error

// answers are answers of some places, by the position in its script.
type answers struct {
	table *table
	known map[position]*symbol.Frame
}

// position is a place that is asked for.
type position struct {
	file string
	at   uint64
}

// look asks for places that were not asked for yet, and hands out copies of the innermost frames that were found.
func (w *answers) look(ctx context.Context, ask asker, some []int32, further int32, take func(i int, a *symbol.Frame)) error {
	var frames []report.Frame
	at := make([]position, len(some))
	for i, n := range some {
		by := further
		if w.table.places[n].style != begin {
			by = 0
		}
		f, _ := w.table.question(n, by)
		at[i] = position{f.File, f.At.Value}
		if _, asked := w.known[at[i]]; !asked {
			w.known[at[i]] = nil
			frames = append(frames, f)
		}
	}
	if len(frames) > 0 {
		err := ask(ctx, frames, func(i int, a *symbol.Answer) {
			if a.Status == symbol.Found && len(a.Frames) > 0 && a.Frames[0].File != "" {
				f := a.Frames[0]
				w.known[position{frames[i].File, frames[i].At.Value}] = &f
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range some {
		take(i, w.known[at[i]])
	}
	return nil
}

// settle notes what a place became.
func (t *table) settle(n int32, h *heads) {
	p, r := &t.places[n], result{}
	engine := t.texts[p.function]
	if p.style == called || p.style == traced {
		engine, _, _ = strings.Cut(engine, "(")
	}
	name, at := "", h.in
	if p.style == begin {
		var ok bool
		if name, at, ok = h.name(engine); !ok {
			return
		}
	} else {
		if at == nil {
			return
		}
		if name = strings.TrimPrefix(at.Readable(), "new "); nameless(name) && engine != "" {
			name = engine
		}
		column := int64(at.Column)
		if p.style == called {
			column++
		}
		name += placeIn(at.File, int64(at.Line), column)
	}
	r.function, r.file = t.intern(name), t.intern(at.File)
	if r.function < 0 || r.file < 0 || at.Line == 0 {
		return
	}
	r.line, r.column, r.found = int32(at.Line), int32(at.Column), true
	is, known := t.becomes[r]
	if !known {
		is = int32(len(t.becomes))
		t.becomes[r] = is
	}
	r.is = is
	t.results[n] = r
}

// lineEnd is a column behind the last of any line.
const lineEnd = 1 << 30

// askTicks finds the lines of the source for lines of the script in which hits fell. A line of the script is known by its end.
func (t *table) askTicks(ctx context.Context, o *profile.Options) error {
	all := make([]lineOf, 0, len(t.ticks))
	for at := range t.ticks {
		if t.results[at.place].found && at.line > 0 {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b lineOf) int {
		if c := int(t.scripts[t.places[a.place].url]) - int(t.scripts[t.places[b.place].url]); c != 0 {
			return c
		}
		if a.line != b.line {
			return int(a.line) - int(b.line)
		}
		return int(a.place) - int(b.place)
	})
	for len(all) > 0 {
		n := min(len(all), askedAtOnce)
		var frames []report.Frame
		var first []int // of all, by frame
		for i := 0; i < n; i++ {
			f, ok := scripts.Place("", t.texts[t.places[all[i].place].url], uint64(all[i].line), lineEnd)
			if last := len(frames) - 1; !ok || last >= 0 && f.File == frames[last].File && f.At == frames[last].At {
				continue
			}
			frames, first = append(frames, f), append(first, i)
		}
		err := o.Ask(ctx, frames, func(k int, a *symbol.Answer) {
			end := n
			if k+1 < len(first) {
				end = first[k+1]
			}
			for _, at := range all[first[k]:end] {
				t.settleTick(at, a)
			}
		})
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// settleTick notes the line of a tick, if its answer is in the function of its place.
func (t *table) settleTick(at lineOf, a *symbol.Answer) {
	if a.Status != symbol.Found || len(a.Frames) == 0 {
		return
	}
	f, r := &a.Frames[0], &t.results[at.place]
	if f.File == t.texts[r.file] && last(f.Readable()) == last(t.texts[r.function]) && f.Line >= uint32(r.line) {
		t.ticks[at] = int32(f.Line)
	}
}

// lineFor returns the line of the source for a line of the script in which hits of a place fell: the function's first, if no
// other is known.
func (t *table) lineFor(place int32, line int64) int64 {
	if at := t.ticks[lineOf{place, small(line)}]; at > 0 {
		return int64(at)
	}
	return int64(t.results[place].line)
}

// heads are the answers for places of one function.
type heads struct {
	at     *symbol.Frame // where it begins, at the parenthesis of its parameters
	in     *symbol.Frame // one column behind that: in its parameters
	behind *symbol.Frame // three columns behind that: in its parameters or its body
}

// name tells a function's name and place. engine is the name that the engine has for it in the script. ok is false if
// nothing is known.
//
// The name is spelled as V8 spells it, and a profile of the program before it was bundled has it: without the class of a
// method, with the object that a function was assigned to, and empty for functions without one.
func (h *heads) name(engine string) (function string, place *symbol.Frame, ok bool) {
	pick := h.pick(engine)
	if pick == nil {
		return "", nil, false
	}
	place = h.at
	if place == nil || h.in != nil && (h.at.File != h.in.File || h.other(engine)) {
		place = pick
		if h.in != nil {
			place = h.in
		}
	}
	name := pick.Readable()
	switch {
	case strings.HasPrefix(engine, "<"), strings.HasPrefix(last(engine), "<") && nameless(name):
		return engine, place, true // an initializer of a class, or a computed name
	case nameless(name):
		return "", place, true
	case engine == "":
		if !h.named(pick, place) {
			return "", place, true
		}
		return last(name), place, true
	}
	name = strings.TrimPrefix(name, "new ")
	if !strings.Contains(engine, ".") {
		name = last(name)
	} else {
		name = strings.TrimPrefix(strings.ReplaceAll(name, ".prototype.", "."), "<object>.")
	}
	for _, kind := range []string{"get ", "set "} {
		if strings.HasPrefix(engine, kind) && !strings.HasPrefix(name, kind) {
			name = kind + name
		}
	}
	return name, place, true
}

// mostHead is how many lines a function's head may have.
const mostHead = 6

// other reports whether the answer for a function's beginning is of another function: of the code that it was moved into.
func (h *heads) other(engine string) bool {
	at, in := h.at.Readable(), h.in.Readable()
	near := h.in.Line >= h.at.Line && h.in.Line <= h.at.Line+mostHead // parameters in lines of their own
	return !near && !nameless(at) && !nameless(in) && last(at) != last(engine) && last(at) != last(in)
}

// pick chooses the answer that knows the function's name. The name that the function has in the script says nothing.
func (h *heads) pick(engine string) *symbol.Frame {
	tells := func(f *symbol.Frame) bool {
		return f != nil && strings.TrimPrefix(f.Readable(), "new ") != engine
	}
	switch {
	case tells(h.at) && tells(h.in):
		same := h.at.File == h.in.File && h.at.Line == h.in.Line && h.at.Column == h.in.Column
		if same || engine != "" && last(engine) == last(h.at.Readable()) && last(engine) != last(h.in.Readable()) {
			return h.at
		}
		return h.in
	case tells(h.in):
		return h.in
	case tells(h.behind):
		return h.behind
	case tells(h.at), h.in == nil && h.behind == nil:
		return h.at
	case h.in != nil:
		return h.in
	}
	return h.behind
}

// named reports whether a function that has no name in the script has one in the source. Functions that a call takes, as in
// fields = list.map(f), are called by the variable in an answer, and have no name in V8.
func (h *heads) named(pick, place *symbol.Frame) bool {
	own := last(pick.Readable())
	if pick.Line == place.Line {
		// The name, or "function" and the name, stand between the function's beginning and its parameters.
		switch int(pick.Column) - int(place.Column) - len(own) {
		case 1, 2, 10, 11, 12, 16, 17:
			return true
		}
	}
	if last(place.Name) == own {
		return true
	}
	if pick.Compiled == "" {
		return false
	}
	return h.at != nil && h.in != nil && h.at.Readable() != h.in.Readable() || !nameless(pick.Compiled)
}

// nameless: the name is none.
func nameless(name string) bool {
	return name == "" || name == "<anonymous>" || name == "<global>"
}

// last returns the last member of a name.
func last(name string) string {
	for _, word := range []string{"new ", "get ", "set ", "static ", "async "} {
		if rest, ok := strings.CutPrefix(name, word); ok {
			name = rest
			break
		}
	}
	if i := strings.LastIndex(name, ".["); i >= 0 && strings.HasSuffix(name, "]") {
		return name[i+1:]
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}
