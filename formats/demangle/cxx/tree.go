package cxx

const (
	maxDepth = 100     // of rules and of nodes
	maxNodes = 1 << 14 // of a name
	maxSteps = 1 << 16 // of printing
)

func digit(b byte) bool { return '0' <= b && b <= '9' }

func lower(b byte) bool { return 'a' <= b && b <= 'z' }

// ref names a node; 0 is none.
type ref int32

type kind uint8

const (
	kNone       kind = iota
	kName            // text
	kQualified       // a::b
	kInner           // a::text
	kTemplate        // a<list>
	kDestructor      // ~text
	kTagged          // a[abi:text]
	kBuiltin         // text
	kArguments       // list: an argument that is a pack
	// These have a right part, or what they stand for does.
	kPointer  // a*
	kLvalue   // a&
	kRvalue   // a&&
	kConst    // a and text, " const" or " volatile"
	kMember   // b a::*
	kArray    // a [text]
	kFunction // a(list), and text behind
	kPack     // list: a parameter that is a pack
	// From here on they have none again.
	kExpansion   // a...
	kLiteral     // (a)text, or text
	kBinary      // a text b
	kPrefix      // text a
	kPostfix     // a text
	kEnclosed    // text(a)
	kCall        // a(list)
	kCast        // text<a>(b)
	kConvert     // (a)(list)
	kIndex       // a[b]
	kMemberOf    // a text b
	kChoice      // a ? b : list
	kBraced      // a{list}
	kSubobject   // b.<a at offset text>
	kTransformed // text(a), of types
	kFoldLeft    // (b text ... text (a)), b may be missing
	kFoldRight   // ((a) text ... text b), b may be missing
	kRequires    // requires (a) {list}, each behind a space and before a semicolon
	kRequirement // a, or {a} text -> b
	kLambda      // 'lambda text'(list), and a constraint a
	kUnnamed     // 'unnamed text'
	kSpecial     // text a
	kEncoding    // b a(list), and text behind
	kConstrained // a requires b
	kExtended    // a text
	kLater       // template parameter number at of template n, before the arguments of that were read
)

// twoParts reports whether a part may be written around another one.
func (k kind) twoParts() bool { return kPointer <= k && k <= kPack }

// node is a part of a name. Its children are a, b and a list.
type node struct {
	text  string
	a, b  ref
	at, n int32 // the list, or as the kind says
	// Its place in the written name, once it is there.
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
	open    []ref // of lists that are not whole yet, one behind the other
	subst   []ref
	ofLocal struct{ from, to int } // substitutions that came in the signature of a local function with template arguments
	params  []ref                  // what template parameters stand for, of the open encodings
	first   int                    // where the innermost encoding's begin
	listed  bool                   // it has template arguments, perhaps none
	whose   int32                  // number of the template that params are of
	last    int32                  // the highest of these numbers so far
	tag     bool                   // the open template arguments belong to params
	declare int32                  // number of the template that a declaration of a parameter is open of; 0: none, below 0: not the one of params
	lambda  bool                   // the parameters of a lambda are open that stands where there are none
	naming  bool                   // a constraint is open: its template parameters are not what they stand for
	cast    bool                   // the type of a conversion is open
	depth   int
	unknown bool
}

func (r *reader) reset(in string) {
	r.in, r.pos = in, 0
	r.nodes = append(r.nodes[:0], node{})
	r.lists, r.open, r.subst, r.params = r.lists[:0], r.open[:0], r.subst[:0], r.params[:0]
	r.ofLocal.from, r.ofLocal.to = 0, 0
	r.first, r.listed, r.lambda, r.naming, r.cast = 0, false, false, false, false
	r.whose, r.last, r.tag, r.declare = 0, 0, false, 0
	r.depth, r.unknown = 0, false
}

// give ends the name: it is not of the common part, or no name. Open nodes then stay open until the next name.
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

// withList makes a node with a list: the nodes opened from there on.
func (r *reader) withList(n node, from int) ref {
	n.at, n.n = int32(len(r.lists)), int32(len(r.open)-from)
	r.lists = append(r.lists, r.open[from:]...)
	r.open = r.open[:from]
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
