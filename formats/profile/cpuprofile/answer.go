package cpuprofile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
)

// mostNode bounds the bytes of a node, and of an event.
const mostNode = 16 << 20

// answer writes the profile with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	a := &answerer{ctx: ctx, o: o, table: newTable(o.Room()), trees: map[int]*tree{}, mostHead: int(o.Room() / 4)}
	a.pass = collecting
	if err := a.read(in, nil); err != nil {
		return err
	}
	if a.table.full {
		o.Counts.Keep(whyPlaces, "the profile")
	}
	a.table.room += o.Room() / 8
	if err := a.table.ask(ctx, o); err != nil {
		return err
	}
	if again := a.merge(); again {
		a.pass = summing
		if err := a.read(in, nil); err != nil {
			return err
		}
	}
	a.pass = writing
	w := bufio.NewWriterSize(out, 32<<10)
	if err := a.read(in, w); err != nil {
		return err
	}
	return w.Flush()
}

// pass is what a reading of the input is for.
type pass uint8

const (
	collecting pass = iota // places and trees
	summing                // hits of nodes that are merged
	writing
)

// answerer answers one input, in two or three passes.
type answerer struct {
	ctx      context.Context
	o        *profile.Options
	table    *table
	pass     pass
	trees    map[int]*tree // by the number of the object that has them
	objects  int
	mostHead int // bytes of a nested call tree
	text     []byte
	fault    bool // the input is cut, or no JSON: nothing is merged
	r        *rewrite.Reader
}

// errOdd ends a pass over an input that changed since the first one.
var errOdd = errors.New("cpuprofile: the input changed while it was read")

// read reads the input once.
func (a *answerer) read(in *profile.Input, out *bufio.Writer) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	a.objects = 0
	for _, t := range a.trees {
		t.visited = 0
	}
	a.r = rewrite.New(from, out)
	if err := a.r.Run(func() error { return a.value(0) }); err != nil {
		return err
	}
	if a.r.Fault != "" && a.pass == collecting {
		a.fault = true
		a.o.Counts.Keep("the JSON ends early or is damaged: the rest stays as it came", a.r.Fault)
	}
	return nil
}

// value reads the input's value, or a profile in it.
func (a *answerer) value(depth int) error {
	switch a.r.Peek() {
	case '[':
		return a.r.Array(func(int) error {
			if a.r.Peek() != '{' {
				return nil
			}
			return a.element()
		})
	case '{':
		return a.object(depth)
	}
	return nil
}

// element reads an element of a list: a profile, or an event of a trace.
func (a *answerer) element() error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	return a.object(1)
}

// object reads an object that may be a profile.
func (a *answerer) object(depth int) error {
	number := a.objects
	a.objects++
	return a.r.Object(func(key string) error {
		c := a.r.Peek()
		switch {
		case key == "nodes" && c == '[':
			return a.nodes(number)
		case key == "head" && c == '{':
			return a.nested(number)
		case key == "samples" && c == '[':
			return a.samples(number)
		case key == "stackFrames" && c == '{':
			return a.stackFrames()
		case key == "profile" || key == "profiles":
			if depth < 4 {
				return a.value(depth + 1)
			}
		case key == "traceEvents" && c == '[':
			return a.r.Array(func(int) error { return a.element() })
		case key == "args" && depth == 1 && c == '{': // of an event in a list
			return a.args()
		}
		return nil
	})
}

// take removes the value at hand, and returns it; nil: it is too long, and was copied.
func (a *answerer) take(most int, why string) ([]byte, error) {
	at := a.r.Offset()
	value, whole, err := a.r.Take(most)
	if err != nil || whole {
		return value, err
	}
	if a.pass == collecting {
		a.o.Counts.Keep(why, fmt.Sprintf("byte %#x", at))
	}
	return nil, nil
}

// nodes reads the nodes of a profile.
func (a *answerer) nodes(number int) error {
	t := a.tree(number)
	return a.r.Array(func(i int) error {
		if i&0xfff == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if a.r.Peek() != '{' {
			return nil
		}
		text, err := a.take(mostNode, whyLong)
		if err != nil {
			return err
		}
		var n node
		if text == nil || !n.read(&json.Walker{Bytes: text}, nil) {
			t.fail(whyLong)
			a.r.Write(text)
			return nil
		}
		switch a.pass {
		case collecting:
			a.collect(t, text, &n)
		case summing:
			a.add(t, text, &n)
		case writing:
			return a.writeNode(t, text, &n)
		}
		return nil
	})
}

// tree returns the tree of an object.
func (a *answerer) tree(number int) *tree {
	t := a.trees[number]
	if t == nil {
		t = &tree{}
		a.trees[number] = t
	}
	return t
}

// collect takes a node of a list in.
func (a *answerer) collect(t *tree, text []byte, n *node) {
	p := a.seen(text, n)
	if t.broken == "" && !a.table.takeNode(nodeBytes) {
		t.fail(whyMany)
	}
	if t.broken == whyMany {
		return
	}
	i := t.add(n, p)
	if !n.hasID {
		t.fail(whyTwice)
		return
	}
	if n.hasUp {
		t.edges = append(t.edges, edge{i, n.parent, true})
	}
	numbersOf(text, n.children, func(id int64) {
		if t.broken == "" && !a.table.takeNode(nodeBytes/2) {
			t.fail(whyMany)
		}
		if t.broken == "" {
			t.edges = append(t.edges, edge{i, id, false})
		}
	})
}

// seen notes the place of a node, and the lines of its hits. It returns the place's number; -1: none.
func (a *answerer) seen(text []byte, n *node) int32 {
	p := a.table.add(placeOf(&n.frame), n.function, n.url)
	if p >= 0 && n.url != "" {
		for _, at := range ticksOf(text, n.ticks) {
			a.table.tick(p, at.line)
		}
	}
	return p
}

// merge finds the nodes that merge into others; again says that their hits are to be summed.
func (a *answerer) merge() (again bool) {
	for _, t := range a.trees {
		if a.fault {
			continue
		}
		keep := func(why string) { a.o.Counts.Keep(why, "the nodes") }
		if t.broken == "" {
			t.link(keep)
		}
		t.merge(a.table.results)
		if t.broken != "" {
			keep(t.broken)
		}
		again = again || t.merged > 0
	}
	return again
}

// add adds a node's hits to the node that takes it in.
func (a *answerer) add(t *tree, text []byte, n *node) {
	i := int32(t.visited)
	t.visited++
	if t.stays == nil || int(i) >= len(t.stays) {
		return
	}
	s := t.sum(i)
	if s == nil {
		return
	}
	s.hits += n.hits
	s.size += n.size
	a.mapped(s, t.places[i], ticksOf(text, n.ticks))
}

// mapped adds ticks to a sum, by their lines in the source.
func (a *answerer) mapped(to *sum, place int32, more []tick) []tick {
	found := place >= 0 && a.table.results[place].found
	if to.lines == nil {
		to.lines = make(map[int64]int, len(more))
	}
	for _, t := range more {
		if found {
			t.line = a.table.lineFor(place, t.line)
		}
		if i, ok := to.lines[t.line]; ok {
			to.ticks[i].ticks += t.ticks
			continue
		}
		to.lines[t.line] = len(to.ticks)
		to.ticks = append(to.ticks, t)
	}
	return to.ticks
}

// writeNode writes a node with its answer, or leaves it out.
func (a *answerer) writeNode(t *tree, text []byte, n *node) error {
	i := int32(t.visited)
	t.visited++
	if t.stays == nil {
		p := a.table.find(placeOf(&n.frame), n.function, n.url)
		e := a.edited(text, n, p, nil)
		a.text = e.apply(a.text[:0])
		a.r.Write(a.text)
		return nil
	}
	if int(i) >= len(t.stays) || t.ids[i] != n.id {
		return errOdd
	}
	if t.stays[i] != i {
		return nil
	}
	e := a.edited(text, n, t.places[i], t.sums[i])
	if n.hasUp {
		if up := t.up[i]; up >= 0 {
			e.put("parent", n.atUp, spelled(t.ids[t.stays[up]]))
		}
	}
	a.calls(&e, t, n, i)
	a.text = e.apply(a.text[:0])
	a.r.Write(a.text)
	return nil
}

// calls puts the list of children in place, where merging changes it.
func (a *answerer) calls(e *edits, t *tree, n *node, i int32) {
	changed := t.sums[i] != nil
	for _, child := range t.children(i) {
		changed = changed || t.stays[child] != child
	}
	ids := t.called(i)
	if !changed || n.children.to == 0 && (n.hasUp || len(ids) == 0) {
		return
	}
	var list []byte
	for k, id := range ids {
		if k > 0 {
			list = append(list, ',')
		}
		list = append(list, spelled(id)...)
	}
	e.put("children", n.children, append(append([]byte{'['}, list...), ']'))
}

// edited begins the edits of a node: its place, and s, its hits with the hits of all nodes that merge into it; nil: no node
// does.
func (a *answerer) edited(text []byte, n *node, p int32, s *sum) edits {
	e := edits{text: text, end: n.whole.to - 1}
	answered := p >= 0 && a.table.results[p].found
	if answered {
		a.put(&e, &n.frame, &a.table.results[p])
	}
	if s == nil {
		if all := ticksOf(text, n.ticks); answered && len(all) > 0 {
			e.put("positionTicks", n.ticks, ticksText(a.mapped(&sum{}, p, all)))
		}
		return e
	}
	if s.hits != n.hits {
		e.put("hitCount", n.atHits, spelled(s.hits))
	}
	if s.size != n.size {
		e.put("selfSize", n.atSize, spelled(s.size))
	}
	if len(s.ticks) > 0 {
		e.put("positionTicks", n.ticks, ticksText(s.ticks))
	}
	return e
}

// put puts an answer in place of a frame's members.
func (a *answerer) put(e *edits, f *frame, r *result) {
	from := int64(1)
	if f.one || isHermes(f) {
		from = 0
	}
	for i, value := range [...][]byte{quoted(a.table.texts[r.function]), quoted(a.table.texts[r.file]), spelled(int64(r.line) - from), spelled(int64(r.column) + 1 - from)} {
		at := f.at[i]
		if at.to == 0 || i == atFunction && f.function == a.table.texts[r.function] || i == atURL && f.url == a.table.texts[r.file] {
			continue
		}
		e.put("", at, value)
	}
}

// ticksText spells ticks.
func ticksText(all []tick) []byte {
	b := []byte{'['}
	for i, t := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, `{"line":`...), spelled(t.line)...), `,"ticks":`...), spelled(t.ticks)...)
		b = append(b, '}')
	}
	return append(b, ']')
}
