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

// oldList reads elements up to "_".
func (p *parser) oldList(k kind, one func(*parser) ref) ref {
	var few [8]ref
	list := few[:0]
	for !p.accept('_') {
		r := one(p)
		if r == 0 {
			return 0
		}
		list = append(list, r)
	}
	return p.list(k, list)
}
