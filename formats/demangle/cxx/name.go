package cxx

import "strings"

// named is what a name says of the function it names.
type named struct {
	template bool
	structor bool // a constructor or destructor: its type has no result
	behind   string
}

// encoding reads a function with its parameters, or data, or what the compiler
// made for either.
func (r *reader) encoding() ref {
	if !r.enter() {
		return 0
	}
	var x ref
	if c := r.peek(); c == 'T' || c == 'G' {
		x = r.special()
	} else {
		outer := r.apart()
		x = r.ordinary()
		r.rejoin(outer)
	}
	r.depth--
	return x
}

// ordinary reads what the compiler did not add.
func (r *reader) ordinary() ref {
	var about named
	local := r.peek() == 'Z'
	name := r.fullName(&about, true)
	if name == 0 {
		return 0
	}
	from := len(r.subst)
	x := r.signature(name, &about)
	if local && about.template {
		if r.ofLocal.to == 0 {
			r.ofLocal.from = from
		}
		r.ofLocal.to = len(r.subst)
	}
	return x
}

// signature reads the part behind the name of a function or of data.
func (r *reader) signature(name ref, about *named) ref {
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
	from := len(r.open)
	if !r.parameters() {
		return r.give()
	}
	x := r.withList(n, from)
	if r.peek() == 'Q' && x != 0 {
		x = r.push(node{kind: kConstrained, a: x, b: r.constraint()})
	}
	if !r.ended() {
		return r.give()
	}
	return x
}

func (r *reader) ended() bool { return r.pos >= len(r.in) || r.peek() == 'E' || r.peek() == '.' }

// parameters opens the types up to the end of a function's.
func (r *reader) parameters() bool {
	if r.accept('v') { // none
		return true
	}
	for {
		if r.peek() == 'v' {
			r.unknown = true
		}
		t := r.typ()
		if t == 0 {
			return false
		}
		r.open = append(r.open, t)
		if r.ended() || r.peek() == 'Q' || r.second() == 'E' && (r.peek() == 'R' || r.peek() == 'O') { // a function type's qualifier
			return true
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
		if this := r.offset(); this && r.offset() {
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
// its parameters mean the last template arguments.
func (r *reader) fullName(about *named, tag bool) ref {
	if !r.enter() {
		return 0
	}
	x := r.anyName(about, tag)
	r.depth--
	return x
}

func (r *reader) anyName(about *named, tag bool) ref {
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
				if k := r.nodes[x].kind; k != kQualified && k != kInner && k != kTemplate && k != kName || r.standard(x) {
					return r.give()
				}
			}
		default:
			if about.structor {
				return r.give()
			}
			about.template = false
			if x != 0 && digit(c) { // most of them
				x = r.remember(r.tagged(r.push(node{kind: kInner, a: x, text: r.text()})))
				continue
			}
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

// unqualified reads one part of a name; x is what it is in.
func (r *reader) unqualified(x ref, about *named, tag bool) ref {
	var y ref
	switch c := r.peek(); {
	case digit(c), c == 'L' && digit(r.second()): // L: not seen by other files
		r.accept('L')
		y = r.source()
	case c == 'U' && (r.second() == 'l' || r.second() == 't') && tag && r.listed:
		r.another(false) // they are of what it is in
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
	return r.tagged(y)
}

// tagged reads the tags of a name.
func (r *reader) tagged(x ref) ref {
	for r.peek() == 'B' && x != 0 {
		r.pos++
		x = r.push(node{kind: kTagged, a: x, text: r.text()})
	}
	return x
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
	if inherited && r.fullName(new(named), tag) == 0 { // the class of the constructor
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
	return r.name(r.text())
}

// text reads what an identifier says.
func (r *reader) text() string {
	in, n, i := r.in[r.pos:], 0, 0
	for ; i < len(in) && digit(in[i]); i++ {
		if n = 10*n + int(in[i]-'0'); n > len(in) || n == 0 {
			break
		}
	}
	in = in[i:]
	if n == 0 || n > len(in) {
		r.unknown = true
		return ""
	}
	r.pos += i + n
	text := in[:n]
	if strings.HasPrefix(text, "_GLOBAL_") && n >= 10 && (text[8] == '.' || text[8] == '_' || text[8] == '$') && text[9] == 'N' {
		return "(anonymous namespace)"
	}
	return text
}

// base is the name of the class that a constructor is of, which a lambda does not have; false if there is no plain one.
func (r *reader) base(x ref) (string, bool) {
	for {
		switch n := &r.nodes[x]; n.kind {
		case kQualified:
			x = n.b
		case kInner:
			return n.text, n.text != "(anonymous namespace)"
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
