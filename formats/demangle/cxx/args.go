package cxx

import "strings"

// template reads the arguments of a template.
func (r *reader) template(x ref, tag bool) ref {
	if x == 0 || r.nodes[x].kind == kTemplate {
		return r.give()
	}
	if tag {
		r.another(true)
	}
	from := len(r.open)
	if !r.arguments(tag) {
		return 0
	}
	return r.withList(node{kind: kTemplate, a: x}, from)
}

// arguments opens template arguments, or the arguments of a pack. Template parameters stand for tagged ones from
// there on, also in those behind them.
func (r *reader) arguments(tag bool) bool {
	if !r.enter() {
		return false
	}
	template, outer := r.peek() == 'I', r.tag
	r.tag = tag
	for r.pos++; !r.accept('E'); {
		if r.peek() == 'Q' && template { // it is not written
			if r.constraint() == 0 || r.peek() != 'E' {
				r.unknown = true
				return false
			}
			continue
		}
		declared := r.declared()
		x := r.argument()
		if x == 0 || r.unknown {
			r.unknown = true
			return false
		}
		r.open = append(r.open, x)
		if tag {
			if n := r.nodes[x]; n.kind == kArguments && !declared {
				n.kind = kPack
				x = r.push(n)
			}
			r.params = append(r.params, x)
		}
	}
	r.tag = outer
	r.depth--
	return true
}

// declared reports whether an argument is behind a declaration of its parameter.
func (r *reader) declared() bool {
	c := r.second()
	return r.peek() == 'T' && (c == 'y' || c == 'n' || c == 'k' || c == 'p' || c == 't')
}

// declaration reads the declaration of a parameter, which is not written. Parameters in it may be that one, or come behind
// it.
func (r *reader) declaration() bool {
	if !r.enter() {
		return false
	}
	outer := r.declare
	switch {
	case outer != 0:
	case r.tag:
		r.declare = r.whose
	default:
		r.declare = -1
	}
	c, ok := r.second(), false
	r.pos += 2
	switch c {
	case 'y':
		ok = true
	case 'n':
		ok = r.typ() != 0
	case 'k':
		ok = r.fullName(new(named), false) != 0
	case 'p':
		ok = r.declared() && r.declaration()
	}
	r.declare = outer
	r.depth--
	return ok
}

// argument reads a template argument.
func (r *reader) argument() ref {
	if r.declared() {
		if !r.declaration() {
			return r.give()
		}
		x := r.argument()
		if k := r.nodes[x].kind; k == kLvalue || k == kRvalue {
			return r.give() // as a type it would be none of these
		}
		return x
	}
	switch r.peek() {
	case 'J':
		from := len(r.open)
		if !r.arguments(false) {
			return 0
		}
		return r.withList(node{kind: kArguments}, from)
	case 'L':
		return r.literal()
	case 'X':
		r.pos++
		x := r.expression()
		if !r.accept('E') {
			return r.give()
		}
		return x
	}
	return r.typ()
}

// literal reads a number, a truth value or a value of an enumeration.
func (r *reader) literal() ref {
	r.pos++
	suffix, plain := "", false
	c := r.peek()
	switch c {
	case 'b':
		if s := r.in[r.pos:]; len(s) > 2 && s[2] == 'E' && (s[1] == '0' || s[1] == '1') {
			r.pos += 3
			if s[1] == '1' {
				return r.name("true")
			}
			return r.name("false")
		}
		return r.give()
	case '_':
		r.pos++
		if !r.accept('Z') {
			return r.give()
		}
		x := r.encoding()
		if !r.accept('E') {
			return r.give()
		}
		return x
	case 'i':
		plain = true
	case 'j':
		suffix, plain = "u", true
	case 'l':
		suffix, plain = "l", true
	case 'm':
		suffix, plain = "ul", true
	case 'x':
		suffix, plain = "ll", true
	case 'y':
		suffix, plain = "ull", true
	case 'D':
		if strings.HasPrefix(r.in[r.pos:], "DnE") || strings.HasPrefix(r.in[r.pos:], "Dn0E") {
			for !r.accept('E') {
				r.pos++
			}
			return r.name("nullptr")
		}
		return r.give()
	case 'd', 'e', 'f', 'g', 'A', 'v', 'z', 'T':
		return r.give()
	}
	n := node{kind: kLiteral}
	if plain {
		r.pos++
	} else if n.a = r.typ(); n.a == 0 {
		return 0
	}
	negative := r.accept('n')
	value := r.digits()
	if value == "" || !r.accept('E') {
		return r.give()
	}
	if negative {
		value = "-" + value
	}
	n.text = value + suffix
	return r.push(n)
}
