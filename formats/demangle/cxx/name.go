package cxx

import "strings"

// named is what a name says of the function it names.
type named struct {
	template bool
	structor bool // a constructor or destructor, whose type has no result
	behind   string
}

// encoding reads a function with its parameters, or data, or what the compiler
// made for either.
func (r *reader) encoding() ref {
	if !r.enter() {
		return 0
	}
	defer func() { r.depth-- }()
	switch r.peek() {
	case 'T', 'G':
		return r.special()
	}
	defer r.apart()()
	var about named
	name := r.fullName(&about, true)
	if name == 0 {
		return 0
	}
	if r.ended() {
		if about.behind != "" {
			return r.give()
		}
		return name
	}
	n := node{kind: kEncoding, a: name, text: about.behind}
	if about.template && !about.structor {
		if n.b = r.typ(); n.b == 0 {
			return 0
		}
	}
	var few [12]ref
	list, ok := r.parameters(few[:0])
	if !ok || !r.ended() {
		return r.give()
	}
	return r.withList(n, list)
}

// apart begins something whose template parameters are its own, and gives what ends it.
func (r *reader) apart() (end func()) {
	first, listed := r.first, r.listed
	r.first, r.listed = len(r.params), false
	return func() { r.params, r.first, r.listed = r.params[:r.first], first, listed }
}

func (r *reader) ended() bool { return r.pos >= len(r.in) || r.peek() == 'E' || r.peek() == '.' }

// parameters reads types up to the end of a function's.
func (r *reader) parameters(to []ref) ([]ref, bool) {
	if r.accept('v') { // none
		return to, true
	}
	for {
		if r.peek() == 'v' {
			r.unknown = true
		}
		t := r.typ()
		if t == 0 {
			return nil, false
		}
		to = append(to, t)
		if r.ended() || r.second() == 'E' && (r.peek() == 'R' || r.peek() == 'O') { // a function type's qualifier
			return to, true
		}
	}
}

// special reads the tables and thunks that the compiler makes.
func (r *reader) special() ref {
	code := ""
	if len(r.in)-r.pos >= 2 {
		code = r.in[r.pos : r.pos+2]
	}
	r.pos += len(code)
	switch code {
	case "TV":
		return r.push(node{kind: kSpecial, text: "vtable for ", a: r.typ()})
	case "TT":
		return r.push(node{kind: kSpecial, text: "VTT for ", a: r.typ()})
	case "TI":
		return r.push(node{kind: kSpecial, text: "typeinfo for ", a: r.typ()})
	case "TS":
		return r.push(node{kind: kSpecial, text: "typeinfo name for ", a: r.typ()})
	case "GV":
		return r.push(node{kind: kSpecial, text: "guard variable for ", a: r.fullName(new(named), false)})
	case "Th":
		if r.offset() {
			return r.push(node{kind: kSpecial, text: "non-virtual thunk to ", a: r.encoding()})
		}
	case "Tv":
		if r.offset() && r.offset() {
			return r.push(node{kind: kSpecial, text: "virtual thunk to ", a: r.encoding()})
		}
	}
	return r.give()
}

// offset reads a number that a thunk adds.
func (r *reader) offset() bool {
	r.accept('n')
	return r.digits() != "" && r.accept('_')
}

// fullName reads a name with what it is in. In the name of an encoding the
// last template arguments are those that its parameters mean.
func (r *reader) fullName(about *named, tag bool) ref {
	if !r.enter() {
		return 0
	}
	defer func() { r.depth-- }()
	switch c := r.peek(); {
	case c == 'N':
		return r.nested(about, tag)
	case c == 'Z':
		return r.localName(about, tag)
	case c == 'S' && r.second() != 't':
		s := r.substitution()
		if r.peek() != 'I' {
			return r.give()
		}
		about.template = true
		return r.template(s, tag)
	}
	std := r.peek() == 'S'
	if std {
		r.pos += 2
	}
	x := r.unqualified(0, about, tag)
	if std && x != 0 {
		x = r.push(node{kind: kQualified, a: r.name("std"), b: x})
	}
	if r.peek() == 'I' && x != 0 {
		about.template = true
		return r.template(r.remember(x), tag)
	}
	return x
}

func (r *reader) nested(about *named, tag bool) ref {
	r.pos++
	if r.accept('V') {
		about.behind = " volatile"
	}
	if r.accept('K') {
		about.behind += " const"
	}
	if len(about.behind) > len(" volatile") {
		return r.give()
	}
	if r.accept('R') {
		about.behind += " &"
	} else if r.accept('O') {
		about.behind += " &&"
	}
	var x ref
	for !r.accept('E') {
		switch c := r.peek(); {
		case r.unknown, c == 0:
			return r.give()
		case c == 'I':
			about.template = true
			x = r.remember(r.template(x, tag))
		case c == 'T':
			if x != 0 {
				return r.give()
			}
			if x = r.remember(r.param()); x == 0 || r.nodes[x].kind == kPack {
				return r.give()
			}
		case c == 'S':
			if x != 0 {
				return r.give()
			}
			if r.second() == 't' {
				r.pos += 2
				x = r.name("std")
				continue
			}
			if x = r.substitution(); r.peek() == 'C' || r.peek() == 'D' {
				if k := r.nodes[x].kind; k != kQualified && k != kTemplate && k != kName || r.standard(x) {
					return r.give()
				}
			}
		default:
			if about.structor {
				return r.give()
			}
			about.template = false
			y := r.unqualified(x, about, tag)
			if x != 0 && y != 0 {
				y = r.push(node{kind: kQualified, a: x, b: y})
			}
			x = r.remember(y)
		}
	}
	if x == 0 || len(r.subst) == 0 || r.nodes[x].kind == kNone {
		return r.give()
	}
	if r.subst[len(r.subst)-1] != x { // "NS_E": a name must add something
		return r.give()
	}
	r.subst = r.subst[:len(r.subst)-1] // the whole is no candidate by itself
	return x
}

// standard reports whether a node is one of the abbreviated names of std.
func (r *reader) standard(x ref) bool {
	return r.nodes[x].kind == kName && strings.HasPrefix(r.nodes[x].text, "std::")
}

// localName reads an entity that is declared in a function.
func (r *reader) localName(about *named, tag bool) ref {
	r.pos++
	outer := r.encoding()
	if outer == 0 || !r.accept('E') {
		return r.give()
	}
	if c := r.peek(); c == 's' || c == 'd' || c == 'S' || c == 'N' && r.second() == 'S' {
		return r.give()
	}
	defer r.apart()()
	nested := r.peek() == 'N' || r.peek() == 'Z'
	inner := r.fullName(about, tag)
	if about.template && (!nested || about.structor) { // no function has such templates
		return r.give()
	}
	if r.accept('_') { // which of several of that name
		if r.accept('_') {
			if r.digits() == "" || !r.accept('_') {
				return r.give()
			}
		} else if !digit(r.peek()) {
			return r.give()
		} else {
			r.pos++
		}
	}
	if inner == 0 {
		return 0
	}
	return r.push(node{kind: kQualified, a: outer, b: inner})
}

// unqualified reads one part of a name; x is what it is in.
func (r *reader) unqualified(x ref, about *named, tag bool) ref {
	var y ref
	switch c := r.peek(); {
	case digit(c), c == 'L' && digit(r.second()): // L: not seen by other files
		r.accept('L')
		y = r.source()
	case c == 'U' && (r.second() == 'l' || r.second() == 't') && tag && r.listed:
		r.params, r.listed = r.params[:r.first], false // they are of what it is in
		return r.unqualified(x, about, tag)
	case c == 'U' && r.second() == 'l':
		y = r.closure()
	case c == 'U' && r.second() == 't':
		r.pos += 2
		y = r.push(node{kind: kUnnamed, text: r.digits()})
		if !r.accept('_') {
			return r.give()
		}
	case c == 'C', c == 'D':
		y = r.structor(x, about, tag)
	case c == 'c' && r.second() == 'v':
		r.pos += 2
		cast := r.cast
		r.cast, about.structor = true, true
		y = r.push(node{kind: kSpecial, text: "operator ", a: r.typ()})
		r.cast = cast
	case lower(c):
		y = r.operatorName()
	default:
		return r.give()
	}
	for r.peek() == 'B' && y != 0 {
		r.pos++
		tag := r.source()
		y = r.push(node{kind: kTagged, a: y, text: r.nodes[tag].text})
	}
	return y
}

// structor reads a constructor or destructor of x.
func (r *reader) structor(x ref, about *named, tag bool) ref {
	c := r.peek()
	r.pos++
	inherited := c == 'C' && r.accept('I')
	if v := r.peek(); v < '0' || v > '5' || c == 'C' && v == '0' || c == 'D' && v == '3' {
		return r.give()
	}
	r.pos++
	base, ok := r.base(x)
	if !ok {
		return r.give()
	}
	about.structor = true
	if inherited && r.fullName(new(named), tag) == 0 { // whose constructor it is
		return r.give()
	}
	if c == 'C' {
		return r.name(base)
	}
	return r.push(node{kind: kDestructor, text: base})
}

// operatorName reads the name of an operator.
func (r *reader) operatorName() ref {
	op, ok := operators[[2]byte{r.peek(), r.second()}]
	if !ok {
		return r.give()
	}
	r.pos += 2
	return r.name("operator" + op.sign)
}

// source reads an identifier.
func (r *reader) source() ref {
	if r.peek() == '0' {
		return r.give()
	}
	n := 0
	for digit(r.peek()) {
		if n = 10*n + int(r.in[r.pos]-'0'); n > len(r.in) {
			return r.give()
		}
		r.pos++
	}
	if n == 0 || n > len(r.in)-r.pos {
		return r.give()
	}
	r.pos += n
	text := r.in[r.pos-n : r.pos]
	if strings.HasPrefix(text, "_GLOBAL_") && n >= 10 && (text[8] == '.' || text[8] == '_' || text[8] == '$') && text[9] == 'N' {
		text = "(anonymous namespace)"
	}
	return r.name(text)
}

// base is the name of the class that a constructor is of, which a lambda does not have; false if there is no plain one.
func (r *reader) base(x ref) (string, bool) {
	for {
		switch n := &r.nodes[x]; n.kind {
		case kQualified:
			x = n.b
		case kTemplate:
			x = n.a
		case kLambda, kUnnamed:
			return "", true
		case kName:
			if n.text == "std::allocator" || n.text == "std::basic_string" {
				return n.text[len("std::"):], true
			}
			ok := !strings.HasPrefix(n.text, "operator") && !strings.HasPrefix(n.text, "std::") && n.text != "(anonymous namespace)"
			return n.text, ok
		default:
			return "", false
		}
	}
}

// closure reads a lambda. Where no template parameters are known, those of its own parameters are "auto".
func (r *reader) closure() ref {
	r.pos += 2
	lambda := r.lambda
	if lambda && r.peek() != 'v' {
		return r.give() // a lambda in the parameters of another one
	}
	r.lambda = !r.listed
	var few [8]ref
	params, ok := r.parameters(few[:0])
	r.lambda = lambda
	if !ok || !r.accept('E') {
		return r.give()
	}
	n := node{kind: kLambda, text: r.digits()}
	if !r.accept('_') {
		return r.give()
	}
	return r.withList(n, params)
}
