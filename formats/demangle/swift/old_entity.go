package swift

func (p *parser) oldDeclaration(k kind) ref {
	context := p.oldContext()
	if context == 0 {
		return 0
	}
	return p.remember(p.make(k, context, p.oldName()))
}

// oldProtocol reads the name of a protocol as a type. A substitution is the
// protocol or the module it is in.
func (p *parser) oldProtocol() ref {
	switch {
	case p.accept('S'):
		s := p.oldSubstitution()
		if s == 0 {
			return 0
		}
		return p.typed(p.oldProtocolIn(s))
	case p.accept('s'):
		return p.typed(p.remember(p.make(kProtocol, p.text(kModule, stdlib), p.oldName())))
	}
	return p.typed(p.oldDeclaration(kProtocol))
}

func (p *parser) oldProtocolIn(s ref) ref {
	switch p.kind(s) {
	case kProtocol:
		return s
	case kModule:
		return p.remember(p.make(kProtocol, s, p.oldName()))
	}
	return 0
}

func (p *parser) oldNominal() ref {
	switch p.next() {
	case 'S':
		return p.oldSubstitution()
	case 'V':
		return p.oldDeclaration(kStructure)
	case 'O':
		return p.oldDeclaration(kEnum)
	case 'C':
		return p.oldDeclaration(kClass)
	case 'P':
		return p.oldDeclaration(kProtocol)
	}
	return 0
}

// oldContext reads what a declaration stands in.
func (p *parser) oldContext() ref {
	if !p.deeper() {
		return 0
	}
	defer func() { p.depth-- }()
	switch c := p.peek(); c {
	case 'E', 'e': // an extension, with its requirements or not
		p.next()
		module := p.oldModule()
		if module == 0 {
			return 0
		}
		if c == 'E' {
			return p.make(kExtension, module, p.oldContext())
		}
		sig := p.oldSignature(kSignature)
		if sig == 0 {
			return 0
		}
		return p.make(kExtension, module, p.oldContext(), sig)
	case 'S':
		p.next()
		return p.oldSubstitution()
	case 's':
		p.next()
		return p.text(kModule, stdlib)
	case 'G':
		p.next()
		return p.oldBound()
	case 'F', 'I', 'v', 'P', 'Z', 'C', 'V', 'O':
		return p.oldEntity()
	}
	return p.oldModule()
}

// oldEntity reads a declaration: its kind, where it is, its name, its type.
func (p *parser) oldEntity() ref {
	if !p.deeper() {
		return 0
	}
	defer func() { p.depth-- }()
	static := p.accept('Z')
	var k kind
	switch p.peek() {
	case 'F':
		k = kFunction
	case 'v':
		k = kVariable
	case 'I':
		k = kInitializer
	case 'i':
		k = kSubscript
	default:
		return p.oldNominal() // which cannot be static
	}
	p.next()
	context := p.oldContext()
	if context == 0 {
		return 0
	}
	r := p.oldMember(k, context)
	if static {
		return p.make(kStatic, r)
	}
	return r
}

func (p *parser) oldMember(k kind, context ref) ref {
	switch c := p.peek(); c {
	case 'D', 'd', 'E', 'e':
		p.next()
		return p.make(map[byte]kind{'D': kDeallocator, 'd': kDestructor, 'E': kIVarDestroyer, 'e': kIVarInitializer}[c], context)
	case 'C':
		p.next()
		return p.make(kAllocator, context, p.oldTypes(p))
	case 'c':
		p.next()
		return p.make(kConstructor, context, p.oldTypes(p))
	case 'U', 'u':
		p.next()
		closure := kExplicitClosure
		if c == 'u' {
			closure = kImplicitClosure
		}
		number := p.index(kIndex, p.ordinal())
		if number == 0 {
			return 0
		}
		return p.make(closure, context, number, p.oldTypes(p))
	case 'a', 'l':
		p.next()
		table := &mutableAddressors
		if c == 'l' {
			table = &addressors
		}
		d := p.next()
		if d == 'p' && c == 'a' { // upper case in later manglings
			d = 'P'
		}
		if int(d) >= len(table) || table[d] == kNone {
			return 0
		}
		return p.oldAccessor(table[d], context)
	case 'g', 'G', 's', 'm', 'w', 'W', 'r', 'M':
		p.next()
		return p.oldAccessor(accessors[c], context)
	}
	if k == kInitializer {
		switch p.next() {
		case 'A':
			return p.make(kDefaultArgument, context, p.index(kIndex, p.ordinal()))
		case 'i':
			return p.make(kInitializer, context)
		}
		return 0
	}
	name := p.oldName()
	if name == 0 {
		return 0
	}
	return p.make(k, context, name, p.oldTypes(p))
}

// oldAccessor reads the variable of an accessor. A subscript is a variable of
// that name.
func (p *parser) oldAccessor(k kind, context ref) ref {
	name := p.oldName()
	if name == 0 {
		return 0
	}
	t := p.oldTypes(p)
	if t == 0 {
		return 0
	}
	const subscript = "subscript"
	switch {
	case p.kind(name) == kIdentifier && p.nodes[name].text == subscript:
		return p.make(k, p.make(kSubscript, context, t))
	case p.kind(name) == kPrivateName && p.nodes[p.kid(name, 1)].text == subscript:
		return p.make(k, p.make(kSubscript, context, t, p.make(kPrivateName, p.kid(name, 0))))
	}
	return p.make(k, p.make(kVariable, context, name, t))
}

// oldBound reads a type with its generic arguments, a list for each level of
// nesting, outermost first.
func (p *parser) oldBound() ref { return p.oldBind(p.oldNominal()) }

func (p *parser) oldBind(decl ref) ref {
	context := p.kid(decl, 0)
	if context == 0 || !p.deeper() {
		return 0
	}
	defer func() { p.depth-- }()
	switch p.kind(context) {
	case kModule, kFunction, kExtension:
	default:
		context = p.oldBind(context)
		if decl = p.make(p.kind(decl), context, p.kid(decl, 1)); decl == 0 {
			return 0
		}
	}
	args := p.oldList(kTypeList, p.oldTypes)
	if args == 0 {
		return 0
	}
	if p.nodes[args].n == 0 {
		return decl
	}
	switch p.kind(decl) {
	case kClass:
		return p.make(kBoundClass, p.typed(decl), args)
	case kStructure:
		return p.make(kBoundStructure, p.typed(decl), args)
	case kEnum:
		return p.make(kBoundEnum, p.typed(decl), args)
	}
	return 0
}

func (p *parser) oldParam() ref {
	switch {
	case p.accept('d'):
		depth := p.ordinal() + 1
		return p.param(depth, p.ordinal())
	case p.accept('x'):
		return p.param(0, 0)
	}
	return p.param(0, p.ordinal()+1)
}

// oldAssociated reads the name of an associated type of a base.
func (p *parser) oldAssociated(base ref) ref {
	if p.accept('S') {
		s := p.oldSubstitution()
		if s == 0 || p.kind(s) != kDependentAssociated {
			return 0
		}
		return p.make(kDependentMember, base, s)
	}
	var protocol ref
	if p.accept('P') {
		if protocol = p.oldProtocol(); protocol == 0 {
			return 0
		}
	}
	name := p.oldIdentifier(kNone)
	if name == 0 {
		return 0
	}
	return p.make(kDependentMember, base, p.remember(p.some(kDependentAssociated, name, protocol)))
}

// oldAssociatedPath reads an associated type of associated types.
func (p *parser) oldAssociatedPath() ref {
	base := p.oldParam()
	for base != 0 && !p.accept('_') {
		base = p.oldAssociated(p.typed(base))
	}
	return base
}

// oldSignature reads the parameters of a generic declaration, with their number
// for each depth, and the requirements on them.
func (p *parser) oldSignature(k kind) ref {
	var few [8]ref
	parts := few[:0]
	for p.peek() != 'R' && p.peek() != 'r' {
		count := 0
		if !p.accept('z') {
			if count = p.ordinal() + 1; count < 0 {
				return 0
			}
		}
		parts = append(parts, p.number(kParamCount, uint64(count)))
	}
	if len(parts) == 0 {
		parts = append(parts, p.number(kParamCount, 1))
	}
	if p.next() == 'r' {
		return p.list(k, parts)
	}
	for !p.accept('r') {
		requirement := p.oldRequirement()
		if requirement == 0 {
			return 0
		}
		parts = append(parts, requirement)
	}
	return p.list(k, parts)
}

func (p *parser) oldRequirement() ref {
	var subject ref
	switch {
	case p.accept('w'):
		if base := p.typed(p.oldParam()); base != 0 {
			subject = p.typed(p.oldAssociated(base))
		}
	case p.accept('W'):
		subject = p.typed(p.oldAssociatedPath())
	default:
		subject = p.typed(p.oldParam())
	}
	if subject == 0 {
		return 0
	}
	switch c := p.peek(); c {
	case 'z':
		p.next()
		return p.make(kSameTypeReq, subject, p.oldTypes(p))
	case 'l':
		p.next()
		return p.oldLayout(subject)
	case 'C':
		return p.make(kConformanceReq, subject, p.oldTypes(p))
	case 'S':
		p.next()
		s := p.oldSubstitution()
		if s != 0 && p.kind(s) != kClass {
			s = p.oldProtocolIn(s)
		}
		return p.make(kConformanceReq, subject, p.typed(s))
	}
	return p.make(kConformanceReq, subject, p.oldProtocol())
}

func (p *parser) oldLayout(subject ref) ref {
	c := p.next()
	var size, alignment ref
	switch c {
	case 'U', 'R', 'N', 'T':
	case 'E', 'M':
		if size = p.index(kIndex, p.natural()); size == 0 || !p.accept('_') {
			return 0
		}
		if alignment = p.index(kIndex, p.natural()); alignment == 0 {
			return 0
		}
	case 'e', 'm':
		if size = p.index(kIndex, p.natural()); size == 0 {
			return 0
		}
	default:
		return 0
	}
	return p.some(kLayoutReq, subject, p.text(kText, layouts[c]), size, alignment)
}
