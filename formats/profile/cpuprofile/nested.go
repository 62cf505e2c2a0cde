package cpuprofile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
)

// mostNesting bounds how deep a nested call tree is followed.
const mostNesting = 10_000

// nested reads a call tree of nested nodes.
func (a *answerer) nested(number int) error {
	text, err := a.take(a.mostHead, whyNested)
	if err != nil || text == nil {
		return err
	}
	t := a.tree(number)
	if a.pass == collecting && !json.Valid(text) {
		t.fail(whyDamaged)
		return nil
	}
	if t.broken != "" && t.broken != whyCircle && a.pass != collecting {
		a.r.Write(text)
		return nil
	}
	w := &nestedText{a: a, tree: t, text: text, j: json.Walker{Bytes: text}}
	if a.pass != collecting {
		w.nodes = make([]nestedNode, 0, len(t.ids))
	}
	w.read(-1, 0)
	switch a.pass {
	case collecting:
		return nil // it is out of the way: nothing is copied
	case summing:
		for i := range w.nodes {
			a.add(t, text, &w.nodes[i].node)
		}
	case writing:
		if len(w.nodes) != len(t.ids) {
			return errOdd
		}
		a.text = w.append(a.text[:0], 0)
		a.r.Write(a.text)
		a.text = nil
	}
	return nil
}

// nestedText is a nested call tree.
type nestedText struct {
	a     *answerer
	tree  *tree
	text  []byte
	j     json.Walker
	nodes []nestedNode // by number; empty while nodes are collected
}

// nestedNode is a node with the numbers of its children.
type nestedNode struct {
	node
	below []int32
	cut   bool // its children stay as they came
}

// read reads the node at hand and the nodes below it: into the tree at first, then into nodes.
func (w *nestedText) read(up int32, depth int) {
	var n nestedNode
	var i int32
	if w.a.pass == collecting {
		if w.tree.broken != "" || !w.a.table.takeNode(nodeBytes*2) {
			w.tree.fail(whyMany)
			return
		}
		i = w.tree.add(&n.node, -1)
		w.tree.up[i] = up
	} else {
		i = int32(len(w.nodes))
		w.nodes = append(w.nodes, n)
	}
	ok := n.node.read(&w.j, func() {
		if depth == mostNesting {
			n.cut = true
			return
		}
		if w.a.pass != collecting {
			n.below = append(n.below, int32(len(w.nodes)))
		}
		w.read(i, depth+1)
	})
	switch {
	case w.a.pass != collecting:
		w.nodes[i] = n
	case !ok:
		w.tree.fail(whyLong)
	default:
		w.tree.ids[i], w.tree.places[i] = n.id, w.a.seen(w.text, &n.node)
		if !n.hasID {
			w.tree.ids[i] = -1 - int64(i) // heap profiles of old versions have none
		}
		if n.cut {
			w.a.o.Counts.Keep(whyDeep, fmt.Sprintf("node %d", n.id))
		}
	}
}

// append appends a node's text with its answer, and with the children of the nodes that are merged into it.
func (w *nestedText) append(to []byte, i int32) []byte {
	n := &w.nodes[i]
	e := w.a.edited(w.text, &n.node, w.tree.places[i], w.tree.sums[i])
	slices.SortFunc(e.all, func(a, b rewrite.Edit) int { return cmp.Compare(a.From, b.From) })
	at := n.whole.from
	put := func(until int) {
		for len(e.all) > 0 && e.all[0].From < until {
			to = append(append(to, w.text[at:e.all[0].From]...), e.all[0].Text...)
			at, e.all = e.all[0].To, e.all[1:]
		}
		to = append(to, w.text[at:until]...)
		at = until
	}
	if n.children.to > 0 && !n.cut {
		put(n.children.from)
		to, at = w.children(to, i), n.children.to
	}
	put(n.whole.to - 1)
	to = append(to, e.more...)
	if n.children.to == 0 && w.tree.sum(i) != nil {
		before := len(to)
		to = w.children(append(to, `,"children":`...), i)
		if bytes.HasSuffix(to, []byte("[]")) {
			to = to[:before]
		}
	}
	return append(to, w.text[n.whole.to-1:n.whole.to]...)
}

// children appends the list of a node's children after merging. What stood between them in the file stays there.
func (w *nestedText) children(to []byte, i int32) []byte {
	n := &w.nodes[i]
	if len(n.below) == 0 && w.tree.sum(i) == nil {
		return append(to, w.text[n.children.from:n.children.to]...)
	}
	gone := func(child int32) bool { return w.tree.stays != nil && w.tree.stays[child] != child }
	end, none := n.children.to-1, true
	to = append(to, '[')
	last := n.children.from + 1
	for k, child := range n.below {
		c := &w.nodes[child]
		if !gone(child) {
			before := w.text[last:c.whole.from]
			if none && k > 0 {
				before = bytes.ReplaceAll(before, []byte{','}, nil)
			}
			to = w.append(append(to, before...), child)
			none = false
		}
		last = c.whole.to
	}
	if w.tree.sum(i) != nil {
		for of := w.tree.next[i]; of >= 0; of = w.tree.next[of] {
			for _, child := range w.nodes[of].below {
				if gone(child) {
					continue
				}
				if !none {
					to = append(to, ',')
				}
				none = false
				to = w.append(to, child)
			}
		}
	}
	if n.children.to > 0 {
		to = append(to, w.text[min(last, end):end]...)
	}
	return append(to, ']')
}
