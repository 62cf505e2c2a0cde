package msvc

// How qualifiers stand before a type.
type mode uint8

const (
	asIs     mode = iota // not at all
	asResult             // perhaps, behind a question mark
	asTarget             // always
)

// Texts of types of one letter, and of those behind an underscore.
var (
	primitives = [26]string{
		'X' - 'A': "void", 'D' - 'A': "char", 'C' - 'A': "signed char", 'E' - 'A': "unsigned char", 'F' - 'A': "short", 'G' - 'A': "unsigned short",
		'H' - 'A': "int", 'I' - 'A': "unsigned int", 'J' - 'A': "long", 'K' - 'A': "unsigned long", 'M' - 'A': "float", 'N' - 'A': "double", 'O' - 'A': "long double",
	}
	extendedPrimitives = [26]string{
		'N' - 'A': "bool", 'J' - 'A': "__int64", 'K' - 'A': "unsigned __int64", 'W' - 'A': "wchar_t", 'Q' - 'A': "char8_t", 'S' - 'A': "char16_t",
		'U' - 'A': "char32_t", 'P' - 'A': "auto", 'T' - 'A': "decltype(auto)",
	}
	tags = [4]string{"union ", "struct ", "class ", "enum "}
)

// noConventionCode is the place of no calling convention in conventions.
const noConventionCode = 5

// conventions are the texts of calling conventions, by pairs of letters.
var conventions = [12]string{"__cdecl", "__pascal", "__thiscall", "__stdcall", "__fastcall", "", "__clrcall", "__eabi", "__vectorcall",
	"__attribute__((__swiftcall__)) ", "", "__attribute__((__swiftasynccall__)) "}

// convention reads a calling convention: its place in conventions.
func (r *reader) convention() uint8 {
	c := r.take()
	switch {
	case 'A' <= c && c <= 'P':
		return (c - 'A') / 2
	case c == 'Q' || c == 'S' || c == 'W':
		return (c - 'A') / 2
	}
	return noConventionCode
}

// qualifiers reads the qualifiers at the end of a type or before a pointer's target.
func (r *reader) qualifiers() quals {
	switch c := r.take(); {
	case 'A' <= c && c <= 'D':
		return quals(c - 'A')
	case 'Q' <= c && c <= 'T':
		return quals(c-'Q') | qMember
	}
	r.failed = true
	return 0
}

// extended reads qualifiers of a pointer itself. That it has 64 bits is not shown. C++/CX marks its handles, and methods of
// its classes.
func (r *reader) extended() quals {
	var q quals
	r.accept('E')
	if r.acceptText("$A") {
		q |= qHandle
	}
	if r.accept('I') {
		q |= qRestrict
	}
	if r.accept('F') {
		q |= qUnaligned
	}
	return q
}

// typeOf reads a type.
func (r *reader) typeOf(m mode) ref {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	var q quals
	if m == asTarget || m == asResult && r.accept('?') {
		q = r.qualifiers()
	}
	if r.failed {
		return 0
	}
	x := r.bare()
	if !r.failed {
		r.nodes[x].quals |= q &^ qMember
	}
	return x
}

// bare reads a type without qualifiers before it.
func (r *reader) bare() ref {
	switch c := r.peek(); c {
	case 'T', 'U', 'V', 'W':
		r.pos++
		if c == 'W' && !r.accept('4') {
			return r.fail()
		}
		name := r.typeName()
		return r.push(node{kind: kTag, a: name, code: c - 'T'})
	case 'A', 'P', 'Q', 'R', 'S':
		r.pos++
		n := node{kind: kPointer, code: byPointer}
		if c == 'A' {
			n.code = byReference
		} else {
			n.quals = quals(c - 'P')
		}
		return r.pointer(n)
	case 'Y':
		r.pos++
		return r.array()
	case '?':
		r.pos++
		x := r.typePart()
		if r.failed || !r.accept('@') {
			return r.fail()
		}
		return r.push(node{kind: kCustom, a: x})
	case '$':
		switch {
		case r.acceptText("$$Q"):
			return r.pointer(node{kind: kPointer, code: byRvalue})
		case r.acceptText("$$A8@@"):
			return r.functionType(signature{class: cGlobal}, true)
		case r.acceptText("$$A6"):
			return r.functionType(signature{class: cGlobal}, false)
		case r.acceptText("$$T"):
			return r.made(kPrimitive, "std::nullptr_t")
		}
		return r.fail()
	}
	table := &primitives
	if r.accept('_') {
		table = &extendedPrimitives
	}
	if c := r.take(); 'A' <= c && c <= 'Z' && table[c-'A'] != "" {
		x := r.push(node{kind: kPrimitive, code: c})
		if x != 0 && table == &extendedPrimitives {
			r.nodes[x].on = true
		}
		return x
	}
	return r.fail()
}

// member reports whether a pointer points to a member. Its first letter is read.
func (r *reader) member() bool {
	if c := r.peek(); isDigit(c) {
		r.failed = r.failed || c != '6' && c != '8'
		return c == '8'
	}
	at := r.pos
	r.extended()
	c := r.peek()
	r.pos = at
	r.failed = r.failed || (c < 'A' || c > 'D') && (c < 'Q' || c > 'T')
	return 'Q' <= c && c <= 'T'
}

// pointer reads what a pointer or reference points to.
func (r *reader) pointer(n node) ref {
	member := n.code == byPointer && r.member()
	if r.failed {
		return 0
	}
	switch {
	case !member && r.accept('6'):
		n.a = r.functionType(signature{class: cGlobal}, false)
	case !member:
		n.quals |= r.extended()
		n.a = r.typeOf(asTarget)
	default:
		n.quals |= r.extended()
		if r.accept('8') {
			n.b = r.typeName()
			n.a = r.functionType(signature{class: cGlobal}, true)
			break
		}
		q := r.qualifiers()
		n.b = r.typeName()
		if n.a = r.typeOf(asIs); n.a != 0 {
			r.nodes[n.a].quals = q &^ qMember
		}
	}
	return r.push(n)
}

// array reads dimensions and the type of elements.
func (r *reader) array() ref {
	rank, negative := r.natural()
	if r.failed || negative || rank == 0 || rank > uint64(len(r.in)) {
		return r.fail()
	}
	from := len(r.open)
	for range rank {
		v, negative := r.natural()
		if r.failed || negative {
			return r.fail()
		}
		r.open = append(r.open, r.push(node{kind: kInteger, number: int64(v)}))
	}
	x := r.push(node{kind: kArray})
	if x == 0 {
		return 0
	}
	r.list(x, from)
	if r.acceptText("$$C") {
		q := r.qualifiers()
		if q&qMember != 0 {
			return r.fail()
		}
		r.nodes[x].quals = q
	}
	element := r.typeOf(asIs)
	r.nodes[x].a = element
	return x
}

// functionType reads a function's type; with qualifiers of this, if it has one.
func (r *reader) functionType(s signature, this bool) ref {
	var q quals
	if this {
		q = r.extended()
		switch {
		case r.accept('G'):
			s.reference = byReference
		case r.accept('H'):
			s.reference = byRvalue
		}
		q |= r.qualifiers() &^ qMember
		q &^= qHandle
	}
	s.convention = r.convention()
	var result ref
	if !r.accept('@') { // constructors and destructors have none
		result = r.typeOf(asResult)
	}
	if r.failed {
		return 0
	}
	from := len(r.open)
	if !r.accept('X') {
		s.variadic = r.parameters()
	}
	switch {
	case r.failed:
		return 0
	case r.acceptText("_E"):
		s.noexcept = true
	case !r.accept('Z'):
		return r.fail()
	}
	r.signatures = append(r.signatures, s)
	x := r.push(node{kind: kFunction, a: result, quals: q, number: int64(len(r.signatures) - 1)})
	if x != 0 {
		r.list(x, from)
		r.nodes[x].listed = r.nodes[x].n > 0 || s.variadic
	}
	return x
}

// parameters reads a function's parameters, and whether more may follow them.
func (r *reader) parameters() (variadic bool) {
	for {
		switch c := r.peek(); {
		case c == '@':
			r.pos++
			return false
		case c == 'Z':
			r.pos++
			return true
		case isDigit(c):
			r.pos++
			if c-'0' >= r.backs.nParam {
				r.fail()
				return false
			}
			r.open = append(r.open, r.backs.params[c-'0'])
			continue
		}
		at := r.pos
		x := r.typeOf(asIs)
		if r.failed {
			return false
		}
		if r.pos-at > 1 && r.backs.nParam < 10 {
			r.backs.params[r.backs.nParam] = x
			r.backs.nParam++
		}
		r.open = append(r.open, x)
	}
}
