package swift

// oldName reads the name of a declaration.
func (p *parser) oldName() ref {
	switch {
	case p.accept('L'):
		number := p.index(kIndex, p.ordinal())
		if number == 0 {
			return 0
		}
		return p.make(kLocalName, number, p.oldIdentifier(kIdentifier))
	case p.accept('P'):
		file := p.oldIdentifier(kIdentifier)
		if file == 0 {
			return 0
		}
		return p.make(kPrivateName, file, p.oldIdentifier(kNone))
	}
	return p.oldIdentifier(kNone)
}

// oldIdentifier reads a name: "X" before it is Punycode, "o" an operator, which
// may stand where no certain kind is asked for.
func (p *parser) oldIdentifier(k kind) ref {
	punycode := p.accept('X')
	operator := false
	if p.accept('o') {
		if operator = true; k != kNone {
			return 0
		}
		switch p.next() {
		case 'p':
			k = kPrefix
		case 'P':
			k = kPostfix
		case 'i':
			k = kInfix
		default:
			return 0
		}
	}
	if k == kNone {
		k = kIdentifier
	}
	name, ok := p.take(p.natural())
	if ok && punycode {
		name, ok = decode(name)
	}
	if ok && operator {
		name, ok = operatorName(name)
	}
	if !ok || name == "" {
		return 0
	}
	return p.text(k, name)
}

// oldSubstitution reads a reference behind its "S".
func (p *parser) oldSubstitution() ref {
	switch c := p.peek(); c {
	case 'o':
		p.next()
		return p.text(kModule, objcModule)
	case 'C':
		p.next()
		return p.text(kModule, clangModule)
	case 'c':
		p.next()
		return p.swiftType(kStructure, "UnicodeScalar")
	case 'Q':
		p.next()
		return p.swiftType(kEnum, "ImplicitlyUnwrappedOptional")
	case 'a', 'b', 'd', 'f', 'i', 'V', 'v', 'P', 'p', 'q', 'R', 'r', 'S', 'u':
		p.next()
		return p.swiftType(standardTypes[c].kind, standardTypes[c].name)
	}
	if n := p.ordinal(); n >= 0 && n < len(p.subst) {
		return p.subst[n]
	}
	return 0
}

func (p *parser) oldModule() ref {
	switch {
	case p.accept('s'):
		return p.text(kModule, stdlib)
	case p.accept('S'):
		if m := p.oldSubstitution(); m != 0 && p.kind(m) == kModule {
			return m
		}
		return 0
	}
	return p.remember(p.oldIdentifier(kModule))
}

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
		return p.make(kAllocator, context, p.oldType())
	case 'c':
		p.next()
		return p.make(kConstructor, context, p.oldType())
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
		return p.make(closure, context, number, p.oldType())
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
	return p.make(k, context, name, p.oldType())
}

// oldAccessor reads the variable of an accessor. A subscript is a variable of
// that name.
func (p *parser) oldAccessor(k kind, context ref) ref {
	name := p.oldName()
	if name == 0 {
		return 0
	}
	t := p.oldType()
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
