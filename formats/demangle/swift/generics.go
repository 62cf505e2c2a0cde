package swift

import "strconv"

// param makes a type parameter, by the depth of its declaration and its place
// there.
func (p *parser) param(depth, index int) ref {
	if depth < 0 || index < 0 {
		return 0
	}
	return p.make(kParamType, p.number(kIndex, uint64(depth)), p.number(kIndex, uint64(index)))
}

func (p *parser) paramIndex() ref {
	switch {
	case p.accept('d'):
		depth := p.ordinal() + 1
		return p.param(depth, p.ordinal())
	case p.accept('z'):
		return p.param(0, 0)
	case p.accept('s'):
		return p.leaf(kExistentialSelf)
	}
	return p.param(0, p.ordinal()+1)
}

// signature reads the parameters of a generic declaration, with their number
// for each depth, and takes the requirements before it.
func (p *parser) signature(counted bool) ref {
	var few [16]ref
	parts := few[:0]
	if counted {
		for !p.accept('l') {
			count := 0
			if !p.accept('z') {
				count = p.ordinal() + 1
			}
			if count < 0 {
				return 0
			}
			parts = append(parts, p.number(kParamCount, uint64(count)))
		}
	} else {
		parts = append(parts, p.number(kParamCount, 1))
	}
	first := len(p.stack)
	for first > 0 && p.is(p.stack[first-1], fRequirement) {
		first--
	}
	parts = append(parts, p.stack[first:]...)
	p.stack = p.stack[:first]
	return p.list(kSignature, parts)
}

// requirement reads a requirement on a type parameter, or on an associated
// type of one. The letter says of what, and what.
func (p *parser) requirement() ref {
	switch p.next() {
	case 'V':
		subject := p.typed(p.paramIndex())
		return p.make(kParamValue, subject, p.pop(kType))
	case 'v':
		return p.make(kParamPack, p.typed(p.paramIndex()))
	case 'c':
		return p.baseClass(p.remember(p.associated(p.paramIndex())))
	case 'C':
		return p.baseClass(p.remember(p.associatedPath(p.paramIndex())))
	case 'b':
		return p.baseClass(p.typed(p.paramIndex()))
	case 'B':
		return p.baseClass(p.pop(kType))
	case 't':
		return p.same(kSameTypeReq, p.remember(p.associated(p.paramIndex())))
	case 'T':
		return p.same(kSameTypeReq, p.remember(p.associatedPath(p.paramIndex())))
	case 's':
		return p.same(kSameTypeReq, p.typed(p.paramIndex()))
	case 'S':
		return p.same(kSameTypeReq, p.pop(kType))
	case 'h':
		return p.same(kSameShapeReq, p.typed(p.paramIndex()))
	case 'm':
		return p.layout(p.remember(p.associated(p.paramIndex())))
	case 'M':
		return p.layout(p.remember(p.associatedPath(p.paramIndex())))
	case 'l':
		return p.layout(p.typed(p.paramIndex()))
	case 'L':
		return p.layout(p.pop(kType))
	case 'p':
		return p.conforms(p.remember(p.associated(p.paramIndex())))
	case 'P':
		return p.conforms(p.remember(p.associatedPath(p.paramIndex())))
	case 'Q':
		return p.conforms(p.pop(kType))
	case 'i':
		what := p.inverse()
		return p.make(kInverseReq, p.typed(p.paramIndex()), what)
	case 'I':
		what := p.inverse()
		return p.make(kInverseReq, p.pop(kType), what)
	}
	p.back()
	return p.conforms(p.typed(p.paramIndex()))
}

func (p *parser) conforms(subject ref) ref {
	return p.make(kConformanceReq, subject, p.popProtocol())
}

func (p *parser) baseClass(subject ref) ref {
	return p.make(kConformanceReq, subject, p.pop(kType))
}

func (p *parser) same(k kind, subject ref) ref {
	return p.make(k, subject, p.pop(kType))
}

// inverse reads the protocol that a type need not conform to.
func (p *parser) inverse() ref {
	switch n := p.ordinal(); {
	case n < 0:
		return 0
	case n == 0:
		return p.text(kText, "Swift.Copyable")
	case n == 1:
		return p.text(kText, "Swift.Escapable")
	default:
		return p.text(kText, "Swift.<bit "+strconv.Itoa(n)+">")
	}
}

var layouts = [128]string{
	'U': "_UnknownLayout", 'R': "_RefCountedObject", 'N': "_NativeRefCountedObject", 'C': "AnyObject", 'D': "_NativeClass",
	'T': "_Trivial", 'E': "_Trivial", 'e': "_Trivial", 'M': "_TrivialAtMost", 'm': "_TrivialAtMost", 'B': " ", 'S': " ",
}

// layout reads how a type must be laid out in memory: for some layouts with a
// size in bits, for some with an alignment too.
func (p *parser) layout(subject ref) ref {
	c := p.next()
	if int(c) >= len(layouts) || layouts[c] == "" || subject == 0 {
		return 0
	}
	name := layouts[c]
	if name == " " { // Apple's printer has no word for it
		name = ""
	}
	var size, alignment ref
	switch c {
	case 'E', 'M':
		size = p.index(kIndex, p.ordinal())
		if size == 0 {
			return 0
		}
		alignment = p.index(kIndex, p.ordinal())
	case 'e', 'm', 'S':
		if size = p.index(kIndex, p.ordinal()); size == 0 {
			return 0
		}
	}
	return p.some(kLayoutReq, subject, p.text(kText, name), size, alignment)
}

// associated takes the name of an associated type of a base, which may be none:
// then it stands on the stack.
func (p *parser) associated(base ref) ref {
	name := p.associatedName()
	base = p.baseOr(base)
	return p.typed(p.make(kDependentMember, base, name))
}

func (p *parser) baseOr(base ref) ref {
	if base != 0 {
		return p.typed(base)
	}
	return p.pop(kType)
}

// associatedPath takes the names of associated types of associated types.
func (p *parser) associatedPath(base ref) ref {
	var few [8]ref
	names := few[:0]
	for {
		first := p.pop(kFirstElement) != 0
		name := p.associatedName()
		if name == 0 {
			return 0
		}
		names = append(names, name)
		if first {
			break
		}
	}
	base = p.baseOr(base)
	for i := len(names) - 1; i >= 0; i-- {
		base = p.typed(p.make(kDependentMember, base, names[i]))
	}
	return base
}

// associatedName takes the name of an associated type with its protocol, if
// that is given.
func (p *parser) associatedName() ref {
	protocol := p.pop(kType)
	if protocol != 0 && !p.isProtocol(protocol) {
		return 0
	}
	name := p.pop(kIdentifier)
	if name == 0 {
		return 0
	}
	return p.some(kDependentAssociated, name, protocol)
}

func (p *parser) associatedNames() ref {
	return p.popSome(kAssociatedPath, (*parser).associatedName)
}

// archetype reads types that depend on parameters, opaque types and packs.
func (p *parser) archetype() ref {
	switch p.next() {
	case 'a':
		name := p.pop(kIdentifier)
		return p.remember(p.typed(p.make(kAssociatedTypeRef, p.popTypeContent(), name)))
	case 'O':
		return p.make(kOpaqueReturnOf, p.popContext())
	case 'o':
		return p.opaque()
	case 'r':
		return p.typed(p.leaf(kOpaqueReturn))
	case 'R':
		if p.ordinal() < 0 {
			return 0
		}
		return p.typed(p.leaf(kOpaqueReturn))
	case 'x':
		return p.remember(p.associated(0))
	case 'X':
		return p.remember(p.associatedPath(0))
	case 'y':
		return p.remember(p.associated(p.paramIndex()))
	case 'Y':
		return p.remember(p.associatedPath(p.paramIndex()))
	case 'z':
		return p.remember(p.associated(p.param(0, 0)))
	case 'Z':
		return p.remember(p.associatedPath(p.param(0, 0)))
	case 'p':
		count := p.popTypeContent()
		return p.typed(p.make(kPackExpansion, p.popTypeContent(), count))
	case 'e':
		pack := p.popTypeContent()
		return p.typed(p.make(kPackElement, pack, p.index(kIndex, p.ordinal())))
	case 'P':
		return p.typed(p.popList(kPack, popType))
	case 'S':
		switch p.next() {
		case 'd':
			return p.typed(p.popList(kSILPackDirect, popType))
		case 'i':
			return p.typed(p.popList(kSILPackIndirect, popType))
		}
	}
	return 0
}

// opaque reads the type behind a "some" of a declaration, with the arguments
// of that declaration.
func (p *parser) opaque() ref {
	number := p.ordinal()
	lists, retroactive, ok := p.popArguments()
	name := p.popAny()
	if !ok || name == 0 {
		return 0
	}
	var few [4]ref
	outward := few[:0]
	for i := len(lists) - 1; i >= 0; i-- {
		outward = append(outward, lists[i])
	}
	opaque := p.some(kOpaqueType, name, p.number(kIndex, uint64(number)), p.list(kTypeList, outward), retroactive)
	return p.remember(p.typed(opaque))
}
