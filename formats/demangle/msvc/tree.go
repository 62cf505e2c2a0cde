package msvc

const (
	maxMangled = 32 << 10 // bytes of a name; compilers replace names above 4 KiB by a hash
	maxDepth   = 200      // of names and types in each other
	maxNodes   = 1 << 16  // of a name
	maxText    = 1 << 20  // bytes of all texts that a name refers back to
	keepNodes  = 1 << 12
	keepText   = 1 << 16
)

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// ref is the number of a node; 0 is none.
type ref int32

type kind uint8

const (
	_ kind = iota
	// Names of one part. Those from kNamed to kLiteral may have template arguments, list.
	kNamed       // text; a: the part it is the full form of; on: the function it stands in
	kOperator    // operators[code]
	kStructor    // a, a class; on: its destructor
	kConversion  // operator a
	kLiteral     // operator ""text
	kVcall       // `vcall'{number, {flat}}
	kGuard       // `local static guard'{number}; on: of threads
	kBase        // `RTTI Base Class Descriptor at (4 numbers)'
	kInitializer // `dynamic initializer for a'; on: the destructor at exit
	kQualified   // list, joined by ::
	// Types.
	kPrimitive // primitives[code]
	kTag       // tags[code] a
	kPointer   // a *, code: affinity; b: class of a member
	kArray     // a [list]
	kFunction  // a (list), further values in signatures[number]
	kCustom    // a
	// Symbols.
	kCode     // function b of type a
	kData     // variable b of type a, code: storage
	kTable    // table b for list
	kString   // text, whole
	kJust     // b
	kInteger  // number; on: below zero
	kConstant // template argument a with offsets; code: affinity
)

// node is a part of a name.
type node struct {
	a, b     ref
	at, n    int32 // the list
	from, to int32 // the text
	fullFrom int32 // the node's full form, once it is rendered
	fullTo   int32
	number   int64 // or the place in numbers or signatures
	kind     kind
	code     uint8
	quals    quals
	on       bool
	listed   bool // it has a list, perhaps an empty one
	rendered bool // it has its full form
	varies   bool // which is not the form with flags
}

type quals uint8

const (
	qConst quals = 1 << iota
	qVolatile
	qRestrict
	qUnaligned
	qMember // of a member pointer's target
	qHandle // of C++/CX: counted by its system
)

// Affinities of pointers.
const (
	byNone uint8 = iota
	byPointer
	byReference
	byRvalue
)

// signature is what a function's type has beside its result and parameters.
type signature struct {
	class      class
	convention uint8
	reference  uint8 // byReference and byRvalue of this
	variadic   bool
	noexcept   bool
	thunk      bool
	offsets    [4]int64 // static, displacement, and of the vbptr form two more
}

type class uint16

const (
	cPublic class = 1 << iota
	cProtected
	cPrivate
	cGlobal
	cStatic
	cVirtual
	cExternC
	cNoParameters
	cAdjustStatic
	cAdjustVirtual
	cAdjustExtended
)

// backs are what digits refer back to. The arguments of a template have their own.
type backs struct {
	names  [10]ref
	params [10]ref
	nName  uint8
	nParam uint8
}

// reader reads a name to a tree.
type reader struct {
	in         string
	pos        int
	nodes      []node
	lists      []ref
	open       []ref // of lists that are not whole yet, one behind the other
	numbers    [][4]int64
	signatures []signature
	text       []byte // the name, then all texts that were made, then the result
	backs      backs
	depth      int
	failed     bool
}

func (r *reader) reset(in string) {
	r.in, r.pos, r.depth, r.failed = in, 0, 0, false
	r.nodes = append(r.nodes[:0], node{})
	r.lists, r.open, r.numbers, r.signatures = r.lists[:0], r.open[:0], r.numbers[:0], r.signatures[:0]
	r.text = append(r.text[:0], in...)
	r.backs.nName, r.backs.nParam = 0, 0
}

// fail ends the name: it is none.
func (r *reader) fail() ref {
	r.failed = true
	return 0
}

func (r *reader) push(n node) ref {
	if r.failed || len(r.nodes) >= maxNodes {
		return r.fail()
	}
	r.nodes = append(r.nodes, n)
	return ref(len(r.nodes) - 1)
}

// list makes a list of the nodes opened from there on, and gives it to a node.
func (r *reader) list(of ref, from int) {
	n := &r.nodes[of]
	n.at, n.n, n.listed = int32(len(r.lists)), int32(len(r.open)-from), true
	r.lists = append(r.lists, r.open[from:]...)
	r.open = r.open[:from]
}

// made makes a node of a text that is appended.
func (r *reader) made(k kind, text string) ref {
	from := len(r.text)
	r.text = append(r.text, text...)
	return r.push(node{kind: k, from: int32(from), to: int32(len(r.text))})
}

// left returns the rest of the name.
func (r *reader) left() string { return r.in[r.pos:] }

func (r *reader) peek() byte {
	if r.pos < len(r.in) {
		return r.in[r.pos]
	}
	return 0
}

// take reads one byte.
func (r *reader) take() byte {
	if r.pos >= len(r.in) {
		r.failed = true
		return 0
	}
	r.pos++
	return r.in[r.pos-1]
}

func (r *reader) accept(b byte) bool {
	if r.pos < len(r.in) && r.in[r.pos] == b {
		r.pos++
		return true
	}
	return false
}

func (r *reader) acceptText(s string) bool {
	if len(r.in)-r.pos >= len(s) && r.in[r.pos:r.pos+len(s)] == s {
		r.pos += len(s)
		return true
	}
	return false
}

// begins reports whether the rest of the name begins with a text.
func (r *reader) begins(s string) bool {
	return len(r.in)-r.pos >= len(s) && r.in[r.pos:r.pos+len(s)] == s
}

// enter counts the rules that are open; leave is its counterpart.
func (r *reader) enter() bool {
	r.depth++
	r.failed = r.failed || r.depth > maxDepth
	return !r.failed
}

func (r *reader) leave() { r.depth-- }

// natural reads a number: one digit is one less than it, more are letters from A for 0 to P for 15, and an at sign.
func (r *reader) natural() (value uint64, negative bool) {
	negative = r.accept('?')
	if c := r.peek(); isDigit(c) {
		r.pos++
		return uint64(c-'0') + 1, negative
	}
	for r.pos < len(r.in) {
		c := r.in[r.pos]
		r.pos++
		if c == '@' {
			return value, negative
		}
		if c < 'A' || c > 'P' {
			break
		}
		value = value<<4 + uint64(c-'A')
	}
	r.failed = true
	return 0, false
}

func (r *reader) unsigned() int64 {
	v, negative := r.natural()
	r.failed = r.failed || negative
	return int64(v)
}

func (r *reader) signed() int64 {
	v, negative := r.natural()
	r.failed = r.failed || v > 1<<63-1
	if negative {
		return -int64(v)
	}
	return int64(v)
}

// short reads a number of 32 bits with a sign.
func (r *reader) short() int64 { return int64(int32(r.signed())) }
