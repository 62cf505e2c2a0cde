package msvc

// arguments reads the arguments of a template up to their at sign.
func (r *reader) arguments(of ref) {
	from := len(r.open)
	for !r.accept('@') {
		if r.acceptText("$S") || r.acceptText("$$V") || r.acceptText("$$$V") || r.acceptText("$$Z") { // borders of packs
			continue
		}
		x := r.argument()
		if r.failed {
			return
		}
		r.open = append(r.open, x)
	}
	r.list(of, from)
}

// argument reads one. The type of an argument for auto stands before it, and is not shown.
func (r *reader) argument() ref {
	auto := r.acceptText("$M")
	if auto {
		r.typeOf(asIs)
		if r.failed {
			return 0
		}
	}
	switch {
	case r.acceptText("$$Y"):
		return r.typeName()
	case r.acceptText("$$B"):
		return r.typeOf(asIs)
	case r.acceptText("$$C"):
		return r.typeOf(asTarget)
	case r.begins("$E?"):
		r.pos += 2
		return r.push(node{kind: kConstant, a: r.symbol(), code: byReference})
	}
	c := r.peek()
	if !auto {
		if c != '$' || len(r.in)-r.pos < 2 {
			return r.typeOf(asIs)
		}
		c = r.in[r.pos+1]
	}
	switch c {
	case '0', '1', 'H', 'I', 'J', 'F', 'G':
	default:
		return r.typeOf(asIs)
	}
	if !auto {
		r.pos++
	}
	r.pos++
	switch c {
	case '0':
		v, negative := r.natural()
		return r.push(node{kind: kInteger, number: int64(v), on: negative})
	case 'F':
		return r.offsets(node{kind: kConstant}, 2)
	case 'G':
		return r.offsets(node{kind: kConstant}, 3)
	}
	// A function, and behind it how many offsets the class needs.
	n := node{kind: kConstant, code: byPointer}
	if r.peek() == '?' {
		n.a = r.symbol()
		if r.failed || r.nodes[n.a].b == 0 {
			return r.fail()
		}
		r.rememberWhole(r.lastPart(r.nodes[n.a].b))
	}
	switch c {
	case 'H':
		return r.offsets(n, 1)
	case 'I':
		return r.offsets(n, 2)
	case 'J':
		return r.offsets(n, 3)
	}
	return r.push(n)
}

// offsets reads the offsets of a pointer to a member.
func (r *reader) offsets(n node, count int) ref {
	values := [4]int64{3: int64(count)}
	for i := range count {
		values[i] = r.signed()
	}
	r.numbers = append(r.numbers, values)
	n.number, n.on = int64(len(r.numbers)-1), true
	return r.push(n)
}
