package cxx

import (
	"strings"
)

// expression reads an expression.
func (r *reader) expression() ref {
	if !r.enter() {
		return 0
	}
	x := r.anyExpression()
	r.depth--
	return x
}

func (r *reader) anyExpression() ref {
	key := [2]byte{r.peek(), r.second()}
	op, ok := operators[key]
	if !ok {
		op, ok = more[key]
	}
	if ok {
		r.pos += 2
		return r.operation(op)
	}
	switch c := key[0]; {
	case c == 'L':
		return r.literal()
	case c == 'T':
		return r.param()
	case c == 'f' && (key[1] == 'p' || key[1] == 'L' && r.pos+2 < len(r.in) && digit(r.in[r.pos+2])):
		return r.functionParam()
	case c == 'f':
		return r.fold()
	case string(key[:]) == "gs":
		r.pos += 2
		if in := r.in[r.pos:]; !digit(r.peek()) && !(len(in) > 2 && in[:2] == "sr" && digit(in[2])) {
			return r.give()
		}
		x := r.unresolved()
		if x == 0 {
			return 0
		}
		return r.push(node{kind: kSpecial, text: "::", a: x})
	case string(key[:]) == "rq", string(key[:]) == "rQ":
		return r.requires()
	case string(key[:]) == "sP":
		r.pos++
		from := len(r.open)
		if !r.arguments(false) {
			return 0
		}
		return r.push(node{kind: kEnclosed, text: "sizeof... ", a: r.withList(node{kind: kArguments}, from)})
	case string(key[:]) == "sp":
		r.pos += 2
		x := r.expression()
		if x == 0 {
			return 0
		}
		return r.push(node{kind: kExpansion, a: x})
	case string(key[:]) == "sZ" && r.pos+2 < len(r.in):
		r.pos += 2
		if r.peek() != 'T' {
			return r.give()
		}
		x := r.param()
		if x == 0 {
			return 0
		}
		return r.push(node{kind: kEnclosed, text: "sizeof...", a: r.push(node{kind: kExpansion, a: x})})
	case string(key[:]) == "so":
		r.pos += 2
		return r.subobject()
	case string(key[:]) == "tl", string(key[:]) == "il":
		r.pos += 2
		n := node{kind: kBraced}
		if c == 't' {
			if n.a = r.typ(); n.a == 0 {
				return 0
			}
		}
		return r.expressions(n)
	}
	return r.unresolved()
}

// operation reads the operands of an operator.
func (r *reader) operation(op operator) ref {
	n := node{text: op.sign, level: op.level}
	operands := 1
	switch op.shape {
	case binary:
		n.kind, operands = kBinary, 2
	case memberOf:
		n.kind, operands = kMemberOf, 2
	case indexed:
		n.kind, operands = kIndex, 2
	case suffix:
		if n.kind = kPostfix; r.accept('_') {
			n.kind = kPrefix
		}
	case prefix:
		n.kind = kPrefix
	case ofExpression:
		n.kind = kEnclosed
	case ofType:
		n.kind, operands, n.a = kEnclosed, 0, r.typ()
	case called:
		if n.kind, n.a = kCall, r.expression(); n.a == 0 {
			return 0
		}
		return r.expressions(n)
	case converted:
		cast := r.cast
		r.cast = true
		n.kind, n.a = kConvert, r.typ()
		if r.cast = cast; n.a == 0 {
			return 0
		}
		if r.accept('_') {
			return r.expressions(n)
		}
		x := r.expression()
		if x == 0 {
			return 0
		}
		r.open = append(r.open, x)
		return r.withList(n, len(r.open)-1)
	case namedCast:
		if n.kind, n.a = kCast, r.typ(); n.a == 0 {
			return 0
		}
		n.b = r.expression()
		return r.push(n)
	case choice:
		n.kind, operands = kChoice, 2
	default:
		return r.give()
	}
	if operands > 0 {
		n.a = r.expression()
	}
	if operands > 1 && n.a != 0 {
		n.b = r.expression()
	}
	if n.a == 0 || operands > 1 && n.b == 0 {
		return r.give()
	}
	if n.kind == kChoice {
		other := r.expression()
		if other == 0 {
			return 0
		}
		r.open = append(r.open, other)
		return r.withList(n, len(r.open)-1)
	}
	return r.push(n)
}

// expressions reads the expressions that end a node.
func (r *reader) expressions(n node) ref {
	from := len(r.open)
	for !r.accept('E') {
		x := r.expression()
		if x == 0 {
			return r.give()
		}
		r.open = append(r.open, x)
	}
	return r.withList(n, from)
}

// functionParam reads a parameter of the function that an expression is of.
func (r *reader) functionParam() ref {
	if r.pos++; r.accept('L') {
		if r.digits() == "" {
			return r.give()
		}
	}
	if !r.accept('p') {
		return r.give()
	}
	if r.accept('T') {
		return r.name("this")
	}
	r.accept('r')
	r.accept('V')
	r.accept('K')
	n := r.digits()
	if !r.accept('_') {
		return r.give()
	}
	return r.push(node{kind: kLiteral, text: "fp" + n})
}

// subobject reads a part of an object.
func (r *reader) subobject() ref {
	n := node{kind: kSubobject, a: r.typ()}
	if n.a == 0 {
		return 0
	}
	if n.b = r.expression(); n.b == 0 {
		return 0
	}
	negative := r.accept('n')
	if n.text = r.digits(); n.text == "" {
		n.text = "0"
	} else if negative {
		n.text = "-" + n.text
	}
	for r.accept('_') {
		r.digits()
	}
	if r.accept('p'); !r.accept('E') {
		return r.give()
	}
	return r.push(n)
}

// decltype reads the type of an expression.
func (r *reader) decltype() ref {
	r.pos += 2
	x := r.expression()
	if x == 0 || !r.accept('E') {
		return r.give()
	}
	return r.push(node{kind: kEnclosed, text: "decltype", a: x})
}

// unresolved reads a name that depends on template arguments.
func (r *reader) unresolved() ref {
	if !strings.HasPrefix(r.in[r.pos:], "sr") {
		return r.simple()
	}
	r.pos += 2
	var x ref
	switch nested := r.accept('N'); {
	case digit(r.peek()) && !nested:
		for !r.accept('E') {
			if x = r.within(x, r.identifier()); x == 0 {
				return 0
			}
		}
	default:
		if x = r.unresolvedType(); x == 0 {
			return 0
		}
		if r.peek() == 'I' {
			x = r.template(x, false)
		}
		for nested && !r.accept('E') {
			if x = r.within(x, r.identifier()); x == 0 {
				return 0
			}
		}
	}
	return r.within(x, r.simple())
}

// within puts a name into what it is in, if that is something.
func (r *reader) within(x, y ref) ref {
	switch {
	case y == 0 || r.unknown:
		return r.give()
	case x == 0:
		return y
	}
	return r.push(node{kind: kQualified, a: x, b: y})
}

func (r *reader) unresolvedType() ref {
	switch c := r.peek(); {
	case c == 'T':
		return r.remember(r.param())
	case c == 'D' && (r.second() == 't' || r.second() == 'T'):
		return r.remember(r.decltype())
	case c == 'S' && r.second() != 't':
		return r.substitution()
	case c == 'S': // as GCC wrote it before it followed the ABI: any type
		return r.typ()
	}
	return r.give()
}

// identifier reads an identifier with its template arguments.
func (r *reader) identifier() ref {
	if !digit(r.peek()) {
		return r.give()
	}
	x := r.source()
	if r.peek() == 'I' && x != 0 {
		return r.template(x, false)
	}
	return x
}

// simple reads the last part of an unresolved name.
func (r *reader) simple() ref {
	if digit(r.peek()) {
		return r.identifier()
	}
	if !strings.HasPrefix(r.in[r.pos:], "on") {
		return r.give()
	}
	r.pos += 2
	x := r.operatorName()
	if r.peek() == 'I' && x != 0 {
		return r.template(x, false)
	}
	return x
}

// constraint reads a requirement on template arguments.
func (r *reader) constraint() ref {
	r.pos++
	naming := r.naming
	r.naming = true
	x := r.expression()
	r.naming = naming
	return x
}

// requires reads an expression that is true if others are valid.
func (r *reader) requires() ref {
	n := node{kind: kRequires}
	r.pos += 2
	if r.in[r.pos-1] == 'Q' {
		from := len(r.open)
		for !r.accept('_') {
			x := r.typ()
			if x == 0 {
				return 0
			}
			r.open = append(r.open, x)
		}
		n.a = r.withList(node{kind: kArguments}, from)
	}
	from := len(r.open)
	for {
		x := r.requirement()
		if x == 0 {
			return r.give()
		}
		if r.open = append(r.open, x); r.accept('E') {
			return r.withList(n, from)
		}
	}
}

func (r *reader) requirement() ref {
	switch {
	case r.accept('X'):
		n := node{kind: kRequirement, a: r.expression()}
		if r.accept('N') {
			n.text = " noexcept"
		}
		if r.accept('R') {
			if n.b = r.fullName(new(named), false); n.b == 0 {
				return 0
			}
		}
		return r.push(n)
	case r.accept('T'):
		return r.push(node{kind: kSpecial, text: "typename ", a: r.typ()})
	case r.accept('Q'):
		return r.push(node{kind: kSpecial, text: "requires ", a: r.expression()})
	}
	return r.give()
}

// fold reads an operator between all elements of a pack.
func (r *reader) fold() ref {
	form := r.second()
	if len(r.in)-r.pos < len("fraa") {
		return r.give()
	}
	op := operators[[2]byte{r.in[r.pos+2], r.in[r.pos+3]}]
	if r.pos += len("fraa"); op.shape != binary {
		return r.give()
	}
	n := node{kind: kFoldRight, text: op.sign, a: r.expression()}
	switch form {
	case 'l':
		n.kind = kFoldLeft
	case 'L':
		n.kind, n.b, n.a = kFoldLeft, n.a, r.expression()
	case 'r':
	case 'R':
		n.b = r.expression()
	default:
		return r.give()
	}
	if r.unknown {
		return 0
	}
	n.a = r.push(node{kind: kExpansion, a: n.a})
	return r.push(n)
}
