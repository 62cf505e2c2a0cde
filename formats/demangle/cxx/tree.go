package cxx

// ref names a node; 0 is none.
type ref int32

type kind uint8

const (
	kNone       kind = iota
	kName            // text
	kQualified       // a::b
	kTemplate        // a<list>
	kDestructor      // ~text
	kTagged          // a[abi:text]
	kBuiltin         // text
	kPointer         // a*
	kLvalue          // a&
	kRvalue          // a&&
	kConst           // a and text, " const" or " volatile"
	kMember          // b a::*
	kArray           // a [text]
	kFunction        // a(list), and text behind
	kArguments       // list: an argument that is a pack
	kPack            // list: a parameter that is a pack
	kExpansion       // a...
	kLiteral         // (a)text, or text
	kLambda          // 'lambda text'(list)
	kUnnamed         // 'unnamed text'
	kSpecial         // text a
	kEncoding        // b a(list), and text behind
)

// node is a part of a name. Its children are a, b and a list.
type node struct {
	text  string
	a, b  ref
	at, n int32 // the list
	scope int32 // the function whose template parameters it depends on
	kind  kind
}

// mixed is the scope of what depends on several functions.
const mixed = -1

// reader reads a name to a tree.
type reader struct {
	in      string
	pos     int
	nodes   []node
	lists   []ref
	subst   []ref
	params  []ref // what template parameters stand for, while it is known
	depth   int
	lambda  int   // open lists of a lambda's parameters
	scope   int32 // the function that is being read
	scopes  int32
	unknown bool
}

func (r *reader) reset(in string) {
	r.in, r.pos = in, 0
	r.nodes = append(r.nodes[:0], node{})
	r.lists, r.subst, r.params = r.lists[:0], r.subst[:0], nil
	r.depth, r.lambda, r.scope, r.scopes, r.unknown = 0, 0, 0, 0, false
}

// give ends the name: it is not of the common part, or no name.
func (r *reader) give() ref {
	r.unknown = true
	return 0
}

func (r *reader) push(n node) ref {
	if r.unknown || len(r.nodes) >= maxNodes {
		return r.give()
	}
	n.scope = both(n.scope, both(r.nodes[n.a].scope, r.nodes[n.b].scope))
	r.nodes = append(r.nodes, n)
	return ref(len(r.nodes) - 1)
}

// both is the scope of what has parts of two.
func both(a, b int32) int32 {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	return mixed
}

// withList makes a node with a list.
func (r *reader) withList(n node, kids []ref) ref {
	n.at, n.n = int32(len(r.lists)), int32(len(kids))
	r.lists = append(r.lists, kids...)
	for _, kid := range kids {
		n.scope = both(n.scope, r.nodes[kid].scope)
	}
	return r.push(n)
}

func (r *reader) name(text string) ref { return r.push(node{kind: kName, text: text}) }

// remember adds a node to what later parts may refer to.
func (r *reader) remember(x ref) ref {
	if x != 0 {
		r.subst = append(r.subst, x)
	}
	return x
}

func (r *reader) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0
}

// second is the byte behind the next.
func (r *reader) second() byte {
	if r.pos+1 < len(r.in) {
		return r.in[r.pos+1]
	}
	return 0
}

func (r *reader) accept(b byte) bool {
	if r.pos < len(r.in) && r.in[r.pos] == b {
		r.pos++
		return true
	}
	return false
}

// digits reads a run of digits, which may be empty.
func (r *reader) digits() string {
	start := r.pos
	for digit(r.peek()) {
		r.pos++
	}
	return r.in[start:r.pos]
}

// enter counts the rules that are open.
func (r *reader) enter() bool {
	r.depth++
	if r.depth > maxDepth {
		r.unknown = true
	}
	return !r.unknown
}
