package cxx

// printer writes a tree. Types are written around what they declare: a left and
// a right part.
type printer struct {
	nodes  []node
	lists  []ref
	out    []byte
	start  int // of the name in out
	max    int // of out
	steps  int
	pack   int  // the element of the packs of an expansion
	size   int  // how many elements they have
	packs  bool // an expansion is open
	found  bool // and it has a pack
	failed bool
}

func (p *printer) put(s string) {
	p.out = append(p.out, s...)
	if len(p.out) > p.max {
		p.failed = true
	}
}

func (p *printer) kids(n *node) []ref { return p.lists[n.at : n.at+n.n] }

// element is what a pack stands for at the element that is being written.
func (p *printer) element(x ref) ref {
	if p.nodes[x].kind != kPack {
		return x
	}
	return p.ofPack(x)
}

func (p *printer) ofPack(x ref) ref {
	for x != 0 && p.nodes[x].kind == kPack {
		n := &p.nodes[x]
		if !p.packs {
			p.failed = true
			return 0
		}
		if !p.found {
			p.found, p.size, p.pack = true, int(n.n), 0
		} else if p.size != int(n.n) {
			p.failed = true
			return 0
		}
		if p.pack >= int(n.n) {
			return 0
		}
		x = p.kids(n)[p.pack]
	}
	return x
}

// print writes a whole part. What stands in the name already is copied, but for what packs may be in.
func (p *printer) print(x ref, depth int) {
	n := &p.nodes[x]
	if n.kind == kName || n.kind == kBuiltin {
		p.put(n.text)
		return
	}
	if n.to > n.from {
		p.out = append(p.out, p.out[n.from:n.to]...)
		p.failed = p.failed || len(p.out) > p.max
		return
	}
	from := len(p.out)
	p.left(x, depth)
	if n.kind.twoParts() {
		p.right(x, depth)
	}
	if !p.packs && !p.failed {
		p.nodes[x].from, p.nodes[x].to = int32(from), int32(len(p.out))
	}
}

func (p *printer) open(depth int) bool {
	p.steps--
	if depth > maxDepth || p.steps < 0 {
		p.failed = true
	}
	return !p.failed
}

// join writes a list. What writes nothing has no comma.
func (p *printer) join(list []ref, depth int) {
	first := true
	for _, x := range list {
		before := len(p.out)
		if !first {
			p.put(", ")
		}
		at := len(p.out)
		p.print(x, depth+1)
		if len(p.out) == at {
			p.out = p.out[:before]
			continue
		}
		first = false
	}
}

func (p *printer) left(x ref, depth int) {
	if x = p.element(x); x == 0 || !p.open(depth) {
		return
	}
	n := &p.nodes[x]
	switch n.kind {
	case kName, kBuiltin:
		p.put(n.text)
	case kQualified:
		p.print(n.a, depth+1)
		p.put("::")
		p.print(n.b, depth+1)
	case kInner:
		p.print(n.a, depth+1)
		p.put("::")
		p.put(n.text)
	case kTemplate:
		p.print(n.a, depth+1)
		p.put("<")
		p.join(p.kids(n), depth)
		p.put(">")
	case kDestructor:
		p.put("~")
		p.put(n.text)
	case kLater:
		p.failed = true
	case kTagged:
		p.print(n.a, depth+1)
		p.put("[abi:")
		p.put(n.text)
		p.put("]")
	case kConst:
		p.left(n.a, depth+1)
		p.put(n.text)
	case kPointer, kLvalue, kRvalue:
		to, mark := p.pointee(x)
		p.left(to, depth+1)
		array, function := p.shape(to)
		if array {
			p.put(" ")
		}
		if array || function {
			p.put("(")
		}
		p.put(mark)
	case kMember:
		p.left(n.b, depth+1)
		if array, function := p.shape(n.b); array || function {
			p.put("(")
		} else {
			p.put(" ")
		}
		p.print(n.a, depth+1)
		p.put("::*")
	case kArray:
		p.left(n.a, depth+1)
	case kFunction:
		p.left(n.a, depth+1)
		p.put(" ")
	case kArguments:
		p.join(p.kids(n), depth)
	case kExpansion:
		p.expand(n, depth)
	case kLiteral:
		if n.a != 0 {
			p.put("(")
			p.print(n.a, depth+1)
			p.put(")")
		}
		p.put(n.text)
	case kLambda:
		p.put("'lambda")
		p.put(n.text)
		p.put("'(")
		p.join(p.kids(n), depth)
		p.put(")")
		if n.a != 0 {
			p.put(" requires ")
			p.print(n.a, depth+1)
		}
	case kUnnamed:
		p.put("'unnamed")
		p.put(n.text)
		p.put("'")
	case kSpecial:
		p.put(n.text)
		p.print(n.a, depth+1)
	case kEncoding:
		if n.b != 0 {
			p.left(n.b, depth+1)
			if !p.behind(n.b) {
				p.put(" ")
			}
		}
		p.print(n.a, depth+1)
		p.put("(")
		p.join(p.kids(n), depth)
		p.put(")")
		p.right(n.b, depth+1)
		p.put(n.text)
	case kConstrained:
		p.print(n.a, depth+1)
		p.put(" requires ")
		p.print(n.b, depth+1)
	case kExtended:
		p.print(n.a, depth+1)
		p.put(" ")
		p.put(n.text)
	case kTransformed:
		p.put(n.text)
		p.put("(")
		p.print(n.a, depth+1)
		p.put(")")
	default:
		p.expression(n, depth)
	}
}

func (p *printer) right(x ref, depth int) {
	if x = p.element(x); x == 0 || !p.open(depth) {
		return
	}
	n := &p.nodes[x]
	switch n.kind {
	case kConst:
		p.right(n.a, depth+1)
	case kPointer, kLvalue, kRvalue:
		to, _ := p.pointee(x)
		if array, function := p.shape(to); array || function {
			p.put(")")
		}
		p.right(to, depth+1)
	case kMember:
		if array, function := p.shape(n.b); array || function {
			p.put(")")
		}
		p.right(n.b, depth+1)
	case kArray:
		if len(p.out) > p.start && p.out[len(p.out)-1] != ']' {
			p.put(" ")
		}
		p.put("[")
		p.put(n.text)
		p.print(n.b, depth+1)
		p.put("]")
		p.right(n.a, depth+1)
	case kFunction:
		p.put("(")
		p.join(p.kids(n), depth)
		p.put(")")
		p.right(n.a, depth+1)
		p.put(n.text)
	}
}

// pointee is what a pointer or a reference points to: a reference to a
// reference is one reference, an lvalue's if one of them is.
func (p *printer) pointee(x ref) (to ref, mark string) {
	n := &p.nodes[x]
	if n.kind == kPointer {
		return n.a, "*"
	}
	mark = "&&"
	for depth := 0; depth < maxDepth; depth++ {
		if n.kind == kLvalue {
			mark = "&"
		}
		inner := p.element(n.a)
		if k := p.nodes[inner].kind; k != kLvalue && k != kRvalue {
			break
		}
		n = &p.nodes[inner]
	}
	return n.a, mark
}

// shape reports whether a type is an array or a function.
func (p *printer) shape(x ref) (array, function bool) {
	for x = p.element(x); p.nodes[x].kind == kConst; {
		x = p.element(p.nodes[x].a)
	}
	k := p.nodes[x].kind
	return k == kArray, k == kFunction
}

// behind reports whether a type has a right part.
func (p *printer) behind(x ref) bool {
	for x = p.element(x); x != 0; x = p.element(x) {
		switch n := &p.nodes[x]; n.kind {
		case kConst, kPointer, kLvalue, kRvalue:
			x = n.a
		case kMember:
			x = n.b
		default:
			return n.kind == kArray || n.kind == kFunction
		}
	}
	return false
}

// expand writes a type or expression once for each element of the packs in it.
func (p *printer) expand(n *node, depth int) {
	outer := *p
	at := len(p.out)
	p.packs, p.found, p.pack, p.size = true, false, 0, 0
	p.print(n.a, depth+1)
	switch {
	case !p.found: // a function's parameter
		p.put("...")
	case p.size == 0:
		p.out = p.out[:at]
	default:
		for p.pack = 1; p.pack < p.size && !p.failed; p.pack++ {
			p.put(", ")
			p.print(n.a, depth+1)
		}
	}
	p.packs, p.found, p.pack, p.size = outer.packs, outer.found, outer.pack, outer.size
}
