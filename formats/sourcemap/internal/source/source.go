// Package source finds the functions of an original source in JavaScript, TypeScript or Flow, with or without JSX: where each
// begins and ends, and how V8 calls it.
//
// The parser is our own: it reads operands and operators without a syntax tree, and passes over types. It takes time in
// proportion to the source's length, and memory in proportion to its functions. Where the source contradicts the grammar
// that it knows, the rest of the function is Unknown. No name is guessed.
package source

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/sourcemap/internal/lines"
)

// MaxBytes is the largest source that is read.
const MaxBytes = 64 << 20

// A function's number in its Table.
const (
	// Unknown is the number of no function: the place may be in any.
	Unknown = int32(-1)
	// Outside is the number of the code outside all functions.
	Outside = int32(0)
)

// Table holds the functions of one source.
type Table struct {
	borders []place // ascending: where another function begins to answer
	heads   []place // ascending
	names   []span  // by function
	parents []int32 // by function: the function around it
	text    []byte
	lines   uint32
}

// place is a place of the source, line and column from 0, columns in UTF-16 units, and the function that it tells.
type place struct {
	at       uint64 // line<<32 | column
	function int32
}

type span struct{ from, to int32 }

// others are the endings of sources in other languages.
var others = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields("css scss sass less styl pcss postcss html htm json json5 wasm coffee litcoffee cljs cljc clj elm re rei res resi ml mli rs kt kts dart" +
		" hs purs c cc cpp cxx h hpp hxx py rb php java go swift scala sc fs fsx cs vb md mdx txt graphql gql hbs pug jade ejs svg xml yaml yml toml nim zig ls imba civet marko riot") {
		m[s] = true
	}
	return m
}()

// kindOf tells by a source's name what it is written in.
func kindOf(name string) (ending string) {
	if i := strings.IndexAny(name, "?#"); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexAny(name, "/\\")+1:]
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	return strings.ToLower(name[i+1:])
}

// Reads reports whether New reads sources of that name.
func Reads(name string) bool { return !others[kindOf(name)] }

// New finds the functions of a source, at most most of them. name tells the language. nil: the source is in another one,
// or too large. Nothing of text is kept but names. Only with heads does the table answer HeadAt.
func New(name string, text []byte, most int, heads bool) *Table {
	ending := kindOf(name)
	if others[ending] || len(text) > MaxBytes {
		return nil
	}
	out := &found{most: most}
	switch ending {
	case "vue", "svelte", "astro":
		if bytes.Contains(text, []byte("<script")) || ending == "astro" {
			scripts(ending, text, out)
			break
		}
		fallthrough
	default:
		read(text, 0, ending == "ts" || ending == "mts" || ending == "cts", out)
	}
	l := lines.NewCounter(text)
	t := newTable(text, out, *l)
	if heads {
		t.placeHeads(out, l)
	}
	return t
}

// tryBytes is how much of a source may be read twice, by its length.
func tryBytes(n int) int { return 2*n + 1<<16 }

// read finds the functions of text from byte from on.
func read(text []byte, from int, types bool, out *found) {
	p := &parser{src: text, types: types, at: from, as: none, room: tryBytes(len(text)), names: 16*len(text) + 1<<16, out: out}
	p.tok.to, p.end = int32(from), int32(from)
	p.next()
	for p.tok.kind != kindEnd || p.lost {
		at, s := p.tok.from, p.save()
		if !p.lost {
			p.as = none
			p.statement()
			p.parts = p.parts[:0]
		}
		if p.lost || p.tok.from == at {
			if !p.dead {
				out.functions, out.heads = out.functions[:s.count], out.heads[:s.heads]
			}
			p.unknown(at, int32(len(text)))
			return
		}
	}
}

// scripts finds the functions in the scripts of a single-file component. The rest of the file is unknown.
func scripts(ending string, text []byte, out *found) {
	at := 0
	unknown := func(from, to int) {
		if from < to {
			out.functions = append(out.functions, function{start: int32(from), end: int32(to), to: -1})
		}
	}
	if rest, ok := bytes.CutPrefix(text, []byte("---")); ok && ending == "astro" {
		if n := bytes.Index(rest, []byte("\n---")); n >= 0 {
			read(text[:3+n], 3, true, out)
			at = 3 + n
		}
	}
	for {
		n := bytes.Index(text[at:], []byte("<script"))
		if n < 0 {
			break
		}
		open := bytes.IndexByte(text[at+n:], '>')
		if open < 0 {
			break
		}
		from := at + n + open + 1
		tag := text[at+n : from]
		end := bytes.Index(text[from:], []byte("</script"))
		if end < 0 {
			break
		}
		unknown(at, from)
		types := (bytes.Contains(tag, []byte(`"ts"`)) || bytes.Contains(tag, []byte(`'ts'`))) || ending == "astro"
		read(text[:from+end], from, types, out)
		at = from + end
	}
	unknown(at, len(text))
}

// newTable makes a table of the functions found. l is at the beginning of text.
func newTable(text []byte, out *found, l lines.Counter) *Table {
	order := make([]int32, len(out.functions))
	for i := range order {
		order[i] = int32(i)
	}
	before := func(a, b int32) int {
		f, g := &out.functions[a], &out.functions[b]
		return cmp.Or(cmp.Compare(f.start, g.start), cmp.Compare(g.end, f.end), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(order, before) {
		slices.SortFunc(order, before)
	}
	t := &Table{text: out.text, names: make([]span, len(out.functions)+1), parents: make([]int32, len(out.functions)+1)}
	t.borders = make([]place, 0, 2*len(order))
	put := func(offset, f int32) {
		at := l.Of(int(offset))
		if n := len(t.borders); n > 0 && t.borders[n-1].at == at {
			t.borders[n-1].function = f
		} else {
			t.borders = append(t.borders, place{at, f})
		}
	}
	type open struct{ end, function int32 }
	stack := []open{{int32(len(text)) + 1, Outside}}
	leave := func() {
		end := stack[len(stack)-1].end
		stack = stack[:len(stack)-1]
		put(end, stack[len(stack)-1].function)
	}
	for _, i := range order {
		f := &out.functions[i]
		for f.start >= stack[len(stack)-1].end {
			leave()
		}
		number := i + 1
		t.parents[number] = stack[len(stack)-1].function
		if t.names[number] = (span{f.from, f.to}); f.to < 0 {
			number = Unknown
		}
		put(f.start, number)
		stack = append(stack, open{min(f.end, stack[len(stack)-1].end), number})
	}
	for len(stack) > 1 {
		leave()
	}
	t.lines = uint32(l.Of(len(text))>>32) + 1
	return t
}

// placeHeads makes the heads of functions places. l is at the beginning of the text.
func (t *Table) placeHeads(out *found, l *lines.Counter) {
	slices.Sort(out.heads)
	t.heads = make([]place, 0, len(out.heads))
	for i, h := range out.heads {
		if i > 0 && out.heads[i-1].at() == h.at() {
			continue // the inner function's
		}
		if int(h.function()) < len(out.functions) {
			t.heads = append(t.heads, place{l.Of(h.at()), h.function() + 1})
		}
	}
}

// At gives the function at a place, line and column from 0. hint is where the last one was found.
func (t *Table) At(line, column uint32, hint *int) int32 {
	if line >= t.lines {
		return Unknown
	}
	at := uint64(line)<<32 | uint64(column)
	i := *hint
	if i >= len(t.borders) || t.borders[i].at > at || i+1 < len(t.borders) && t.borders[i+1].at <= at {
		if i = t.behind(at) - 1; i < 0 {
			return Outside
		}
		*hint = i
	}
	return t.borders[i].function
}

// behind is the number of borders at or before a place. No branch depends on how they lie.
func (t *Table) behind(at uint64) int {
	from, n := 0, len(t.borders)
	for n > 1 {
		half := n / 2
		next := from
		if t.borders[from+half].at <= at {
			next = from + half
		}
		from, n = next, n-half
	}
	if n == 1 && t.borders[from].at <= at {
		from++
	}
	return from
}

// HeadAt gives the function that has a head at a place: its keyword, name or parameters begin there. Unknown: none has.
func (t *Table) HeadAt(line, column uint32) int32 {
	at := uint64(line)<<32 | uint64(column)
	n, ok := slices.BinarySearchFunc(t.heads, at, func(p place, at uint64) int { return cmp.Compare(p.at, at) })
	if !ok {
		return Unknown
	}
	return t.heads[n].function
}

// Name gives the name of a function. It stays the table's.
func (t *Table) Name(function int32) []byte {
	if function == Outside {
		return []byte(Global)
	}
	n := t.names[function]
	if n.to < 0 {
		return nil
	}
	return t.text[n.from:n.to]
}

// OfLine gives the function around a whole line. It is Unknown if functions begin or end in the line.
func (t *Table) OfLine(line uint32) int32 {
	at := uint64(line) << 32
	n, ok := slices.BinarySearchFunc(t.borders, at, func(p place, at uint64) int { return cmp.Compare(p.at, at) })
	switch {
	case line >= t.lines, ok && t.borders[n].function == Unknown:
		return Unknown
	case ok:
		n++
	}
	if n < len(t.borders) && t.borders[n].at>>32 == uint64(line) {
		return Unknown
	}
	if n == 0 {
		return Outside
	}
	return t.borders[n-1].function
}

// Functions is the number of the table's functions, with the code outside of all.
func (t *Table) Functions() int { return len(t.names) }

// Parent gives the function around a function.
func (t *Table) Parent(function int32) int32 { return t.parents[function] }
