package cxx

// expression writes an expression.
func (p *printer) expression(n *node, depth int) {
	switch n.kind {
	case kBinary:
		if n.level == assignment {
			p.operand(n.a, logicAnd, depth)
		} else {
			p.operand(n.a, n.level, depth)
		}
		p.put(" ")
		p.put(n.text)
		p.put(" ")
		if n.level == assignment {
			p.operand(n.b, assignment, depth)
		} else {
			p.operand(n.b, n.level-1, depth)
		}
	case kPrefix:
		p.put(n.text)
		p.operand(n.a, n.level-1, depth)
	case kPostfix:
		p.operand(n.a, n.level, depth)
		p.put(n.text)
	case kMemberOf:
		p.operand(n.a, n.level, depth)
		p.put(n.text)
		p.operand(n.b, n.level-1, depth)
	case kIndex:
		p.operand(n.a, n.level-1, depth)
		p.put("[")
		p.print(n.b, depth+1)
		p.put("]")
	case kEnclosed:
		p.put(n.text)
		p.put("(")
		p.print(n.a, depth+1)
		p.put(")")
	case kCall:
		p.print(n.a, depth+1)
		p.put("(")
		p.join(p.kids(n), depth)
		p.put(")")
	case kConvert:
		p.put("(")
		p.print(n.a, depth+1)
		p.put(")(")
		p.join(p.kids(n), depth)
		p.put(")")
	case kCast:
		p.put(n.text)
		p.put("<")
		p.print(n.a, depth+1)
		p.put(">(")
		p.print(n.b, depth+1)
		p.put(")")
	case kChoice:
		p.operand(n.a, n.level-1, depth)
		p.put(" ? ")
		p.print(n.b, depth+1)
		p.put(" : ")
		p.operand(p.kids(n)[0], assignment, depth)
	case kBraced:
		if n.a != 0 {
			p.print(n.a, depth+1)
		}
		p.put("{")
		p.join(p.kids(n), depth)
		p.put("}")
	case kFoldLeft, kFoldRight:
		p.fold(n, depth)
	case kRequires:
		p.put("requires ")
		if n.a != 0 {
			p.put("(")
			p.print(n.a, depth+1)
			p.put(") ")
		}
		p.put("{")
		for _, x := range p.kids(n) {
			p.put(" ")
			p.print(x, depth+1)
			p.put(";")
		}
		p.put(" }")
	case kRequirement:
		if n.text == "" && n.b == 0 {
			p.print(n.a, depth+1)
			return
		}
		p.put("{")
		p.print(n.a, depth+1)
		p.put("}")
		p.put(n.text)
		if n.b != 0 {
			p.put(" -> ")
			p.print(n.b, depth+1)
		}
	case kSubobject:
		p.print(n.b, depth+1)
		p.put(".<")
		p.print(n.a, depth+1)
		p.put(" at offset ")
		p.put(n.text)
		p.put(">")
	default:
		p.failed = true
	}
}

// fold writes an operator between the elements of a pack.
func (p *printer) fold(n *node, depth int) {
	pack := func() {
		p.put("(")
		p.print(n.a, depth+1)
		p.put(")")
	}
	between := func() {
		p.put(" ")
		p.put(n.text)
		p.put(" ")
	}
	p.put("(")
	switch {
	case n.kind == kFoldRight:
		pack()
		between()
	case n.b != 0:
		p.operand(n.b, casting, depth)
		between()
	}
	p.put("...")
	switch {
	case n.kind == kFoldLeft:
		between()
		pack()
	case n.b != 0:
		between()
		p.operand(n.b, casting, depth)
	}
	p.put(")")
}

// operand writes an expression, in brackets if it binds less tightly than least.
func (p *printer) operand(x ref, least level, depth int) {
	if p.nodes[x].level <= least {
		p.print(x, depth+1)
		return
	}
	p.put("(")
	p.print(x, depth+1)
	p.put(")")
}
