package sourcemap

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/symlake/symlake/formats"
)

// maxBundleBytes is the largest script that is parsed for names: its syntax
// tree takes some ten times as much, and the parser two seconds. Both depend on the
// length alone if isModest. (The parser bounds nesting itself.)
const maxBundleBytes = 32 << 20

// wantsScript reports whether the functions' names are to be taken from the script.
func (o *object) wantsScript(under *packed) bool {
	if under != nil {
		return under.functions == nil
	}
	return o.layout.lacksFunctions()
}

// lacksFunctions: no part of the map says what functions there are.
func (l *layout) lacksFunctions() bool {
	if l.hermes || l.scopes != (span{}) || l.functions != (span{}) {
		return false
	}
	for i := range l.sections {
		if !l.sections[i].layout.lacksFunctions() {
			return false
		}
	}
	return true
}

// script finds the script that a map belongs to; nil: it is not there.
func (o *object) findScript(ctx context.Context, under *packed) (*formats.Input, error) {
	if o.script != nil {
		shared := *o.script
		shared.Release = nil
		return &shared, nil
	}
	var names []string
	stem := strings.TrimSuffix(formats.Base(o.in.Name), ".map")
	if under != nil {
		stem = strings.TrimSuffix(strings.TrimSuffix(stem, ".compiler"), ".hbc")
	}
	for _, n := range []string{stem, formats.Base(pathOf(o.layout.file))} {
		if n != "" && n != "." && n != formats.Base(o.in.Name) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return companion(ctx, o.in, names, func(c *formats.Input) bool { return c.Size <= maxBundleBytes })
}

// readScript names functions by the script. What is wrong with the script costs the names alone.
func (o *object) readScript(ctx context.Context, e *emitter, under *packed) (err error) {
	in, err := o.findScript(ctx, under)
	if err != nil || in == nil {
		return err
	}
	if in.Release != nil {
		defer func() { err = errors.Join(err, in.Release()) }()
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return err
	}
	var all []function
	failed := formats.Guard(name, func() error {
		all = functionsOf(b, in.Limits.Symbols)
		return nil
	})
	if failed != nil || len(all) == 0 {
		return nil
	}
	p := positionsOf(b, all)
	if p.lines < o.layout.lines && under == nil {
		return nil // another script of that name
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t := &tokenNames{wanted: p.names}
	if under != nil {
		t.fromPacked(under, e)
	} else if err := t.read(e, o.in, o.layout); err != nil {
		return err
	}
	borders := e.functionBorders(all, p, t)
	if under != nil {
		under.borders = borders
	} else {
		e.setBorders(borders)
	}
	return nil
}

// functionsOf parses a script and gives its functions; none if it cannot be parsed.
func functionsOf(script []byte, most int) []function {
	if !isModest(script) {
		return nil
	}
	in := parse.NewInputBytes(script)
	tree, err := js.Parse(in, js.Options{})
	if err != nil {
		return nil
	}
	w := &walker{script: in.Bytes(), most: most}
	w.stmts(tree.List)
	in.Reset()
	if w.full || !w.scan(in) {
		return nil
	}
	return slices.Concat(w.keyword, w.arrow, w.method)
}

// positions are those of functions and of the identifiers in their names.
type positions struct {
	start, end []uint64       // by function
	names      map[int]uint64 // by offset
	lines      uint32
}

// positionsOf turns offsets into lines and columns, in one pass over the script.
func positionsOf(script []byte, all []function) *positions {
	p := &positions{start: make([]uint64, len(all)), end: make([]uint64, len(all)), names: make(map[int]uint64)}
	offsets := make([]int, 0, 3*len(all))
	for i := range all {
		offsets = append(offsets, all[i].start, all[i].end)
		for _, n := range all[i].name {
			if n.at >= 0 {
				offsets = append(offsets, n.at)
			}
		}
	}
	slices.Sort(offsets)
	offsets = slices.Compact(offsets)
	at := make(map[int]uint64, len(offsets))
	line, column, i := uint32(0), uint32(0), 0
	for _, to := range offsets {
		for i < to {
			switch c := script[i]; {
			case c == '\n', c == '\r' && (i+1 == len(script) || script[i+1] != '\n'):
				line, column, i = line+1, 0, i+1
			case c < utf8.RuneSelf:
				column, i = column+1, i+1
			default:
				r, n := utf8.DecodeRune(script[i:])
				if column++; r > 0xffff {
					column++
				}
				i += n
			}
		}
		at[to] = uint64(line)<<32 | uint64(column)
	}
	p.lines = line + 1
	for _, c := range script[i:] {
		if c == '\n' {
			p.lines++
		}
	}
	for i := range all {
		p.start[i], p.end[i] = at[all[i].start], at[all[i].end]
		for _, n := range all[i].name {
			if n.at >= 0 {
				p.names[n.at] = at[n.at]
			}
		}
	}
	return p
}

// tokenNames finds what identifiers of the script are called in the source.
type tokenNames struct {
	wanted map[int]uint64 // position by offset
	found  map[uint64]string
}

// read looks through a map's segments for those that begin at a wanted position and have a name.
func (t *tokenNames) read(e *emitter, in *formats.Input, l *layout) error {
	wanted := make(map[uint64]bool, len(t.wanted))
	for _, at := range t.wanted {
		wanted[at] = true
	}
	t.found = make(map[uint64]string)
	return l.each(position{}, end, func(l *layout, from, to position) error {
		words := newEmitter(e.ctx, in.Limits, 0, nil)
		text := newText(in, 0)
		w, err := words.readWords(text, l)
		if err != nil {
			return err
		}
		r := mappingReader{t: text, sources: int64(len(w.sources)), names: int64(len(w.names)), ordered: l.ordered}
		return r.read(l.mappings, func(line uint32, segments []mapping, _ bool) (int, error) {
			at := from.plus(line, 0)
			for i := range segments {
				m := &segments[i]
				if m.name < 0 {
					continue
				}
				pos := uint64(at.line)<<32 | uint64(at.column+m.column)
				if wanted[pos] {
					t.found[pos] = words.run.Strings[w.names[m.name]]
				}
			}
			return len(segments), e.ctx.Err()
		})
	})
}

// fromPacked does the same with a map in memory.
func (t *tokenNames) fromPacked(p *packed, e *emitter) {
	t.found = make(map[uint64]string)
	for _, at := range t.wanted {
		if m := p.at(uint32(at>>32), uint32(at)); m != nil && m.name >= 0 && m.column == uint32(at) {
			t.found[at] = e.run.Strings[p.names[m.name]]
		}
	}
}

// original is a function's name as its source spells it.
func (t *tokenNames) original(f *function) string {
	if len(f.name) == 0 {
		return anonymous
	}
	var b strings.Builder
	for _, p := range f.name {
		if s := ""; p.at >= 0 {
			if s = t.found[t.wanted[p.at]]; s != "" {
				b.WriteString(s)
				continue
			}
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// functionBorders makes nodes of functions, and lists where each begins and ends to answer. They
// nest as their extents do.
func (e *emitter) functionBorders(all []function, p *positions, t *tokenNames) []border {
	order := make([]int, 0, len(all))
	for i := range all {
		if all[i].end > all[i].start {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.start[a], p.start[b]), cmp.Compare(p.end[b], p.end[a]))
	})
	known := map[uint32]int32{}
	global := e.named(e.intern("<global>"), known)
	e.node = global
	borders := []border{{0, global}}
	put := func(at uint64, n int32) {
		if k := len(borders); borders[k-1].at == at {
			borders[k-1].node = n
		} else {
			borders = append(borders, border{at, n})
		}
	}
	type open struct {
		end  uint64
		node int32
	}
	stack := []open{{^uint64(0), global}}
	for _, i := range order {
		for p.start[i] >= stack[len(stack)-1].end {
			end := stack[len(stack)-1].end
			stack = stack[:len(stack)-1]
			put(end, stack[len(stack)-1].node)
		}
		n := e.named(e.intern(t.original(&all[i])), known)
		put(p.start[i], n)
		stack = append(stack, open{p.end[i], n})
	}
	for len(stack) > 1 {
		end := stack[len(stack)-1].end
		stack = stack[:len(stack)-1]
		put(end, stack[len(stack)-1].node)
	}
	return borders
}
