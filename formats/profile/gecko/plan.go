package gecko

import (
	"cmp"
	"strconv"

	"github.com/symlake/symlake/formats/profile"
)

// isFit reports whether tables are whole, so that they can change.
func (t *tables) isFit() bool {
	frames, l := t.of("frameTable"), t.list()
	if !frames.whole || l == nil || !l.whole || !t.of("stackTable").whole && t.named["stackTable"] != nil {
		return false
	}
	return frames.rowwise || t.of("funcTable").whole
}

// each calls visit with each frame that has a place; leaf: it is asked for as it is recorded, caller: as a return address.
func (t *tables) each(counts *profile.Counts, visit func(row int32, f *frame, leaf, caller bool)) {
	frames := t.of("frameTable")
	leaf, caller := t.roles()
	for row := range frames.rows {
		f, ok := t.frame(row)
		if !ok {
			counts.Keep("a frame refers to a row that its table does not have", "frame "+strconv.Itoa(row))
			continue
		}
		isLeaf, isCaller := true, false
		if f.kind == native && leaf != nil {
			isLeaf, isCaller = leaf.has(row), caller.has(row)
			isLeaf = isLeaf || !isCaller
		}
		visit(int32(row), &f, isLeaf, isCaller)
	}
}

// roles returns which frames have the address that the processor was at, and which have return addresses; nil: the profile has
// moved those back.
func (t *tables) roles() (leaf, caller bits) {
	if t.uses == nil || t.process.version >= nudged {
		return nil, nil
	}
	stacks, frames := t.of("stackTable"), t.of("frameTable")
	leaf = bits{0}
	for i := range stacks.rows {
		at := stacks.index("frame", i, frames)
		if at < 0 {
			continue
		}
		if t.uses.leaf.has(i) {
			leaf.set(at)
		}
		if t.uses.caller.has(i) {
			caller.set(at)
		}
		if up, ok := stacks.prefix(i); ok && up >= 0 {
			if at := stacks.index("frame", up, frames); at >= 0 {
				caller.set(at)
			}
		}
	}
	return leaf, caller
}

// ofTables notes the places of the tables.
func (p *places) ofTables(t *tables, counts *profile.Counts) {
	full := false
	want := func(at place, ok bool, function string) {
		if ok && !full && !p.add(at, function) {
			full = true
		}
		if ok && full {
			counts.Keep("the profile has more places than memory holds, and the last frames stay", "frames")
		}
	}
	t.each(counts, func(_ int32, f *frame, leaf, caller bool) {
		if f.named {
			counts.Named++
			return
		}
		if f.kind == other {
			return
		}
		if leaf {
			at, ok := p.of(f, false)
			want(at, ok, f.function)
		}
		if caller {
			at, ok := p.of(f, true)
			want(at, ok, f.function)
		}
		at, ok := p.begin(f)
		want(at, ok, f.function)
	})
}

// newPlan returns how the tables change by their answers; nil: they stay.
func newPlan(t *tables, p *places, counts *profile.Counts) *plan {
	made := &plan{t: t, p: p, counts: counts, frames: map[int32]*frameRow{}, funcs: map[int32]*funcRow{}, fnOf: map[fnKey]int32{}, symbolOf: map[symbolKey]int32{},
		answered: map[int32]int{}, total: map[int32]int{}, paths: map[int32][2]path{}}
	type change struct {
		row          int32
		f            frame
		leaf, caller []site
	}
	var changes []change
	t.each(&profile.Counts{}, func(row int32, f *frame, leaf, caller bool) {
		made.total[int32(f.fn)]++
		if f.named || f.kind == other {
			return
		}
		c := change{row: row, f: *f}
		if at, ok := p.of(f, false); ok && leaf {
			c.leaf = p.answer(at)
		}
		if at, ok := p.of(f, true); ok && caller {
			c.caller = p.answer(at)
		}
		if c.leaf != nil || c.caller != nil {
			made.answered[int32(f.fn)]++
			changes = append(changes, c)
		}
	})
	if len(changes) == 0 {
		return nil
	}
	stacks := t.of("stackTable")
	expand := t.named["stackTable"] != nil && stacks.isTree(t.of("frameTable"))
	if p.room.left -= int64(40 * stacks.rows); p.room.left < 0 {
		expand = false
		counts.Keep("the table of stacks is too large for memory, and its stacks get no inlined functions", "stack table")
	}
	for i := range changes {
		c := &changes[i]
		made.change(c.row, &c.f, c.leaf, c.caller, expand)
	}
	if len(made.paths) > 0 {
		made.stacks = planStacks(made)
	}
	return made
}

// change gives a frame its functions. Where a sample's own frame and one of a caller are different functions, the row is the
// caller's, and another one the sample's.
func (p *plan) change(row int32, f *frame, leaf, caller []site, expand bool) {
	first, second := leaf, []site(nil)
	if caller != nil {
		first, second = caller, leaf
	}
	main := p.path(row, row, f, first, expand)
	paths := [2]path{main, main}
	if second != nil && !same(first, second) && expand {
		paths[1] = p.path(null, row, f, second, true)
	}
	if len(paths[0]) > 1 || len(paths[1]) > 1 || paths[0][0] != paths[1][0] {
		p.paths[row] = paths
	}
}

func same(a, b []site) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// path returns the rows of a chain. at is the row of its outermost function; null: it is a new one.
func (p *plan) path(at, base int32, f *frame, chain []site, expand bool) (rows path) {
	if f.vague { // a function's beginning says nothing about what it has inlined elsewhere
		chain = chain[len(chain)-1:]
	}
	depth := 0
	for i := len(chain) - 1; i >= 0; i-- {
		if depth > 0 && !expand {
			break
		}
		made := p.row(base, f, &chain[i], depth == 0, &chain[len(chain)-1])
		made.depth = depth
		if depth == 0 && at >= 0 {
			p.frames[at] = made
			rows = append(rows, at)
		} else {
			rows = append(rows, int32(p.t.of("frameTable").rows+len(p.framed)))
			p.framed = append(p.framed, made)
		}
		depth++
	}
	return rows
}

// row returns the values of a frame.
func (p *plan) row(base int32, f *frame, at *site, outermost bool, outer *site) *frameRow {
	r := &frameRow{base: base, symbol: null, original: null, location: null, line: at.line, column: at.column}
	if p.t.of("frameTable").rowwise {
		r.location, r.withLocation = p.t.list().add(written(p.p, f, at, outermost)), true
		r.keepPlace = f.kind == managed || f.vague
		return r
	}
	r.withFunc = true
	switch {
	case f.kind == native:
		r.symbol = p.symbol(base, f, outer)
		r.column = 0
	case f.kind == managed:
		r.keepPlace, r.keepSymbol = true, true
	case p.hasOriginals():
		r.keepPlace, r.keepSymbol = true, true
		if !f.vague && at.line > 0 {
			r.original = p.locate(*at)
		}
	default:
		r.keepPlace, r.keepSymbol = f.vague, true
	}
	r.fn = p.fn(f, at, outermost)
	return r
}

// written returns a frame of the browser's own form: "f(int) (in libcart.so) (cart.cc:12)", "total (src/cart.ts:3:15)".
func written(p *places, f *frame, at *site, outermost bool) string {
	switch f.kind {
	case managed:
		return at.name
	case script:
		file, line, column := at.file, at.line, at.column
		if begin, ok := p.begin(f); ok && outermost {
			if chain := p.answer(begin); chain != nil && chain[len(chain)-1].line > 0 {
				last := &chain[len(chain)-1]
				file, line, column = last.file, last.line, last.column
			}
		}
		return cmp.Or(at.name, f.function) + " (" + file + ":" + strconv.FormatUint(uint64(line), 10) + ":" + strconv.FormatUint(uint64(max(column, 1)), 10) + ")"
	}
	text := at.name + " (in " + cmp.Or(f.lib.debugName, f.lib.name) + ")"
	if at.file != "" && at.line > 0 {
		text += " (" + at.file + ":" + strconv.FormatUint(uint64(at.line), 10) + ")"
	}
	return text
}
