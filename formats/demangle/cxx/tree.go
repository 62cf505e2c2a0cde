package cxx

// ref names a node; 0 is none.
type ref int32

type kind uint8

const (
	kNone        kind = iota
	kName             // text
	kQualified        // a::b
	kTemplate         // a<list>
	kDestructor       // ~text
	kTagged           // a[abi:text]
	kBuiltin          // text
	kPointer          // a*
	kLvalue           // a&
	kRvalue           // a&&
	kConst            // a and text, " const" or " volatile"
	kMember           // b a::*
	kArray            // a [text]
	kFunction         // a(list), and text behind
	kArguments        // list: an argument that is a pack
	kPack             // list: a parameter that is a pack
	kExpansion        // a...
	kLiteral          // (a)text, or text
	kBinary           // a text b
	kPrefix           // text a
	kPostfix          // a text
	kEnclosed         // text(a)
	kCall             // a(list)
	kCast             // text<a>(b)
	kConvert          // (a)(list)
	kIndex            // a[b]
	kMemberOf         // a text b
	kChoice           // a ? b : list
	kBraced           // a{list}
	kSubobject        // b.<a at offset text>
	kTransformed      // text(a), of types
	kLambda           // 'lambda text'(list)
	kUnnamed          // 'unnamed text'
	kSpecial          // text a
	kEncoding         // b a(list), and text behind
)

// node is a part of a name. Its children are a, b and a list.
type node struct {
	text  string
	a, b  ref
	at, n int32 // the list
	// Where it stands in what is written, once it is.
	from, to int32
	kind     kind
	level    level // of an expression
}

// reader reads a name to a tree.
type reader struct {
	in      string
	pos     int
	nodes   []node
	lists   []ref
	subst   []ref
	params  []ref // what template parameters stand for, of the open encodings
	first   int   // where those of the innermost encoding begin
	listed  bool  // it has template arguments, perhaps none
	lambda  bool  // the parameters of a lambda are open that stands where there are none
	cast    bool  // the type of a conversion is open
	depth   int
	unknown bool
}

func (r *reader) reset(in string) {
	r.in, r.pos = in, 0
	r.nodes = append(r.nodes[:0], node{})
	r.lists, r.subst, r.params = r.lists[:0], r.subst[:0], r.params[:0]
	r.first, r.listed, r.lambda, r.cast = 0, false, false, false
	r.depth, r.unknown = 0, false
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
	r.nodes = append(r.nodes, n)
	return ref(len(r.nodes) - 1)
}

// withList makes a node with a list.
func (r *reader) withList(n node, kids []ref) ref {
	n.at, n.n = int32(len(r.lists)), int32(len(kids))
	r.lists = append(r.lists, kids...)
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
