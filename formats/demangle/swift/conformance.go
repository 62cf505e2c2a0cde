package swift

// popConformance takes the conformance of a type to a protocol, as a module
// declared it.
func (p *parser) popConformance() ref {
	sig := p.pop(kSignature)
	module := p.popModule()
	protocol := p.popProtocol()
	t := p.pop(kType)
	var behavior ref
	if t == 0 {
		behavior = p.pop(kIdentifier)
		t = p.pop(kType)
	}
	if sig != 0 {
		t = p.typed(p.make(kDependentType, sig, t))
	}
	if module == 0 || protocol == 0 || t == 0 {
		return 0
	}
	return p.some(kConformance, t, protocol, module, behavior)
}

// conformanceOperation reads conformances as type metadata and records of the
// runtime name them.
func (p *parser) conformanceOperation() ref {
	switch p.next() {
	case 'A':
		number := p.conformanceIndex()
		protocol := p.popProtocol()
		t := p.pop(kType)
		associated := p.make(kAssociatedConformance, t, protocol)
		return p.make(kDependentAssociatedConformance, p.popFlag(fDependent), associated, number)
	case 'C':
		return p.concreteConformance()
	case 'D':
		number := p.conformanceIndex()
		protocol := p.popProtocol()
		return p.make(kDependentRoot, p.pop(kType), protocol, number)
	case 'I':
		number := p.conformanceIndex()
		protocol := p.popProtocol()
		return p.make(kDependentInherited, p.popFlag(fDependent), protocol, number)
	case 'O':
		t := p.pop(kType)
		return p.make(kDependentOpaque, p.popFlag(fDependent), t)
	case 'P':
		return p.make(kRefTypeModule, p.popProtocol())
	case 'p':
		return p.make(kRefProtocolModule, p.popProtocol())
	case 'X':
		return p.make(kPackConformance, p.conformanceList())
	case 'c':
		return p.make(kConformanceRecord, p.popConformance())
	case 'n':
		return p.make(kNominalRecord, p.pop(kType))
	case 'o':
		return p.make(kOpaqueRecord, p.popAny())
	case 'r':
		return p.make(kProtocolRecord, p.popProtocol())
	case 'F':
		return p.leaf(kAccessibleRecord)
	}
	return 0
}

func (p *parser) conformanceList() ref {
	return p.popList(kConformanceList, func(p *parser) ref { return p.popFlag(fConformance) })
}

func (p *parser) concreteConformance() ref {
	conditional := p.conformanceList()
	to := p.pop(kRefTypeModule)
	if to == 0 {
		to = p.pop(kRefProtocolModule)
	}
	if to == 0 {
		module := p.popModule()
		to = p.make(kRefOtherModule, p.popProtocol(), module)
	}
	return p.make(kConcreteConformance, p.pop(kType), to, conditional)
}

// conformanceIndex reads which requirement of a protocol a conformance is; 1
// marks it as unknown, 0 is no index.
func (p *parser) conformanceIndex() ref {
	switch n := p.ordinal(); {
	case n <= 0:
		return 0
	case n == 1:
		return p.leaf(kUnknownIndex)
	default:
		return p.number(kIndex, uint64(n-2))
	}
}
