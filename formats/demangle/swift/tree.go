package swift

import ()

// ref names a node of a tree; 0 is none. Constructors given none where a node
// must be answer none, so that a failure reaches the top by itself.
type ref int32

// node has a text, a number or children, by its kind. A number and the place
// of the children share a field.
type node struct {
	text string
	val  uint64 // the number, or where the children begin
	n    int32  // how many children
	kind kind
	num  bool // val is a number
}

// tree holds the nodes of one name in two arenas, which live from name to
// name. A node may have several parents: substitutions share it.
type tree struct {
	nodes []node
	kids  []ref
	bytes int  // of text that was put together
	over  bool // a bound was met: the name is given up
}

func (t *tree) reset() {
	t.nodes = append(t.nodes[:0], node{}) // ref 0
	t.kids = t.kids[:0]
	t.bytes, t.over = 0, false
}

func (t *tree) push(n node) ref {
	if len(t.nodes) >= maxNodes {
		t.over = true
		return 0
	}
	t.nodes = append(t.nodes, n)
	return ref(len(t.nodes) - 1)
}

// leaf makes a node without text, number and children.
func (t *tree) leaf(k kind) ref { return t.push(node{kind: k}) }

func (t *tree) text(k kind, s string) ref { return t.push(node{kind: k, text: s}) }

func (t *tree) number(k kind, v uint64) ref { return t.push(node{kind: k, val: v, num: true}) }

// index makes a node of a number that was read, or none if reading failed.
func (t *tree) index(k kind, v int) ref {
	if v < 0 {
		return 0
	}
	return t.number(k, uint64(v))
}

// make makes a node of its children. None may be missing.
func (t *tree) make(k kind, kids ...ref) ref {
	for _, kid := range kids {
		if kid == 0 {
			return 0
		}
	}
	return t.list(k, kids)
}

// some makes a node of those children that there are.
func (t *tree) some(k kind, kids ...ref) ref {
	at := len(t.kids)
	for _, kid := range kids {
		if kid != 0 {
			t.kids = append(t.kids, kid)
		}
	}
	return t.push(node{kind: k, val: uint64(at), n: int32(len(t.kids) - at)})
}

// list makes a node of a list of children.
func (t *tree) list(k kind, kids []ref) ref {
	if len(t.kids)+len(kids) > maxNodes {
		t.over = true
		return 0
	}
	at := len(t.kids)
	t.kids = append(t.kids, kids...)
	return t.push(node{kind: k, val: uint64(at), n: int32(len(kids))})
}

// typed wraps a node as a type.
func (t *tree) typed(r ref) ref { return t.make(kType, r) }

func (t *tree) kind(r ref) kind { return t.nodes[r].kind }

// children are the node's; the slice holds until a node is made.
func (t *tree) children(r ref) []ref {
	n := &t.nodes[r]
	if n.num || n.n == 0 {
		return nil
	}
	return t.kids[n.val : n.val+uint64(n.n)]
}

// kid is the i-th child, or none.
func (t *tree) kid(r ref, i int) ref {
	n := &t.nodes[r]
	if n.num || i < 0 || i >= int(n.n) {
		return 0
	}
	return t.kids[int(n.val)+i]
}

// last is the last child, or none.
func (t *tree) last(r ref) ref { return t.kid(r, int(t.nodes[r].n)-1) }

// find is the first child of a kind, or none.
func (t *tree) find(r ref, k kind) ref {
	for _, kid := range t.children(r) {
		if t.nodes[kid].kind == k {
			return kid
		}
	}
	return 0
}

// rekind makes a node with another kind, and the same content.
func (t *tree) rekind(r ref, k kind) ref {
	if r == 0 {
		return 0
	}
	n := t.nodes[r]
	n.kind = k
	return t.push(n)
}

// with makes a node with one more child at its end.
func (t *tree) with(r, kid ref) ref {
	if r == 0 || kid == 0 {
		return 0
	}
	at := len(t.kids)
	n := t.nodes[r]
	t.kids = append(t.kids, t.children(r)...)
	t.kids = append(t.kids, kid)
	n.val, n.n = uint64(at), n.n+1
	return t.push(n)
}

func (t *tree) is(r ref, f flag) bool { return forms[t.nodes[r].kind].flags&f != 0 }

// isProtocol reports whether a node is a protocol, or a type that is one.
func (t *tree) isProtocol(r ref) bool {
	for t.kind(r) == kType {
		r = t.kid(r, 0)
	}
	return t.kind(r) == kProtocol
}

const (
	// maxDepth bounds how deep rules and nodes may nest. Apple's printer, too,
	// gives up at this depth.
	maxDepth = 768
	// maxNodes bounds the tree and the stack. The largest real names have some
	// thousands of nodes.
	maxNodes = 1 << 18
	// maxText bounds a text put together from words: 26 letters may stand for
	// words of any length, again and again.
	maxText = 1 << 20
	// maxSteps bounds the printing of a name: by substitutions few bytes stand
	// for very many nodes. Some of them print nothing.
	maxSteps = 1 << 18
	// keepNodes is how much memory a Demangler keeps from name to name. Few
	// names need more.
	keepNodes = 1 << 13
	// maxNested bounds names of functions inside the name of a specialization.
	maxNested = 8
)
