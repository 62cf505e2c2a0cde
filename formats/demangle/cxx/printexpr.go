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
