package cxx

// constraint reads what is required of template arguments.
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
