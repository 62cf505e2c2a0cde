package swift

// The manglings before Swift 4 are read from the front: operators before their
// operands. The rules have the names that later manglings use, with "old"
// before.

// old reads a whole symbol to a tree; none if it is no such symbol. The text
// left at its end is a suffix.
func (p *parser) old(name string) ref {
	p.reset()
	p.subst, p.depth, p.oldTypes = p.subst[:0], 0, (*parser).oldType
	p.cursor = cursor{in: name}
	if !p.acceptAll("_T") {
		return 0
	}
	var few [4]ref
	parts := few[:0]
	if p.acceptAll("TS") {
		for {
			s := p.oldSpecialization()
			if s == 0 {
				return 0
			}
			parts = append(parts, s)
			p.subst = p.subst[:0] // each begins anew
			if !p.acceptAll("_TTS") {
				break
			}
		}
		if !p.acceptAll("_T") {
			return 0
		}
	} else {
		for _, a := range [...]struct {
			code string
			kind kind
		}{{"To", kObjC}, {"TO", kNonObjC}, {"TD", kDynamic}, {"Td", kDirectMethod}, {"TV", kOverride}} {
			if p.acceptAll(a.code) {
				parts = append(parts, p.leaf(a.kind))
				break
			}
		}
	}
	g := p.oldGlobal()
	if g == 0 || p.over {
		return 0
	}
	parts = append(parts, g)
	if p.pos < len(p.in) {
		parts = append(parts, p.text(kSuffix, p.in[p.pos:]))
	}
	return p.list(kGlobal, parts)
}

func (p *parser) oldGlobal() ref {
	if !p.deeper() {
		return 0
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept('M'):
		return p.oldMetadata()
	case p.acceptAll("PA"):
		k := kPartialApply
		if p.accept('o') {
			k = kPartialApplyObjC
		}
		if p.acceptAll("__T") {
			return p.make(k, p.oldGlobal())
		}
		return p.leaf(k)
	case p.accept('t'):
		return p.make(kTypeMangling, p.oldType())
	case p.accept('w'):
		code, ok := p.take(2)
		if name := valueWitnesses[code]; ok && name != "" {
			return p.make(kValueWitness, p.text(kText, name), p.oldType())
		}
		return 0
	case p.accept('W'):
		return p.oldWitness()
	case p.accept('T'):
		switch p.next() {
		case 'R':
			return p.oldReabstraction(kReabstractionHelper)
		case 'r':
			return p.oldReabstraction(kReabstraction)
		case 'W':
			conformance := p.oldConformance()
			if conformance == 0 {
				return 0
			}
			return p.make(kWitness, conformance, p.oldEntity())
		}
		return 0
	}
	return p.oldEntity()
}

func (p *parser) oldMetadata() ref {
	switch c := p.peek(); c {
	case 'P', 'a', 'L', 'm', 'n', 'f':
		p.next()
		return p.make(metadataRules[c].kind, p.oldType())
	case 'p':
		p.next()
		return p.make(kProtocolDescriptor, p.oldProtocol())
	}
	return p.make(kMetadata, p.oldType())
}

func (p *parser) oldWitness() ref {
	switch c := p.next(); c {
	case 'V':
		return p.make(kValueWitnessTable, p.oldType())
	case 'v':
		word := "direct"
		if p.accept('i') {
			word = "indirect"
		} else if !p.accept('d') {
			return 0
		}
		return p.make(kFieldOffset, p.text(kText, word), p.oldEntity())
	case 'P', 'G', 'I', 'a':
		return p.make(witnessRules[c].kind, p.oldConformance())
	case 'l', 'L':
		k := kWitnessTableLazy
		if c == 'L' {
			k = kWitnessTableLazyCache
		}
		t := p.oldType()
		if t == 0 {
			return 0
		}
		return p.make(k, t, p.oldConformance())
	case 't', 'T':
		conformance := p.oldConformance()
		if conformance == 0 {
			return 0
		}
		name := p.oldName()
		if name == 0 {
			return 0
		}
		if c == 't' {
			return p.make(kAssociatedTypeAccessor, conformance, name)
		}
		return p.make(kAssociatedWitnessAccessor, conformance, name, p.oldProtocol())
	}
	return 0
}

func (p *parser) oldReabstraction(k kind) ref {
	var sig ref
	if p.accept('G') {
		if sig = p.oldSignature(kSignature); sig == 0 {
			return 0
		}
	}
	from := p.oldType()
	if from == 0 {
		return 0
	}
	to := p.oldType()
	if to == 0 {
		return 0
	}
	return p.some(k, sig, from, to)
}

func (p *parser) oldConformance() ref {
	t := p.oldType()
	if t == 0 {
		return 0
	}
	protocol := p.oldProtocol()
	if protocol == 0 {
		return 0
	}
	return p.make(kConformance, t, protocol, p.oldContext())
}

// oldSpecialization reads a copy of a function for certain arguments.
func (p *parser) oldSpecialization() ref {
	var few [8]ref
	parts := few[:0]
	k := kGenericSpec
	switch p.next() {
	case 'g':
	case 'r':
		k = kGenericSpecNotReabstracted
	case 'f':
		k = kFunctionSpec
	default:
		return 0
	}
	if p.accept('q') {
		parts = append(parts, p.leaf(kSerialized))
	}
	parts = append(parts, p.number(kSpecPass, uint64(p.next())))
	for !p.accept('_') {
		var param ref
		if k == kFunctionSpec {
			param = p.oldSpecParam()
		} else {
			param = p.oldSpecType()
		}
		if param == 0 {
			return 0
		}
		parts = append(parts, param)
	}
	return p.list(k, parts)
}

// oldSpecType reads a type that a parameter became, with its conformances.
func (p *parser) oldSpecType() ref {
	t := p.oldType()
	if t == 0 {
		return 0
	}
	parts := []ref{t}
	for !p.accept('_') {
		conformance := p.oldConformance()
		if conformance == 0 {
			return 0
		}
		parts = append(parts, conformance)
	}
	return p.list(kSpecParam, parts)
}

// oldSpecParam reads the change of a parameter.
func (p *parser) oldSpecParam() ref {
	s := specParam{kind: kFunctionSpecParam}
	switch {
	case p.acceptAll("n_"):
	case p.acceptAll("cp"):
		if !p.oldSpecConstant(&s) {
			return 0
		}
	case p.acceptAll("cl"):
		name := p.oldIdentifier(kFunctionSpecPayload)
		if name == 0 {
			return 0
		}
		s.add(p, specClosure)
		s.parts = append(s.parts, name)
		for p.peek() != '_' {
			t := p.oldType()
			if t == 0 {
				return 0
			}
			s.parts = append(s.parts, t)
		}
		p.next()
	case p.acceptAll("i_"):
		s.add(p, specBoxToValue)
	case p.acceptAll("k_"):
		s.add(p, specBoxToStack)
	default:
		set := uint64(0)
		for _, option := range [...]struct {
			code byte
			bit  uint64
		}{{'d', specDead}, {'g', specOwnedToGuaranteed}, {'o', specGuaranteedToOwned}, {'s', specExploded}} {
			if p.accept(option.code) {
				set |= option.bit
			}
		}
		if set == 0 || !p.accept('_') {
			return 0
		}
		s.add(p, set)
	}
	return p.list(s.kind, s.parts)
}

// oldSpecConstant reads the constant that a parameter was replaced by.
func (p *parser) oldSpecConstant(s *specParam) bool {
	until := func() bool { // the end of a number
		start := p.pos
		for p.pos < len(p.in) && p.in[p.pos] != '_' {
			p.pos++
		}
		s.parts = append(s.parts, p.text(kFunctionSpecPayload, p.in[start:p.pos]))
		return p.accept('_')
	}
	name := func() bool {
		r := p.oldIdentifier(kFunctionSpecPayload)
		s.parts = append(s.parts, r)
		return r != 0 && p.accept('_')
	}
	switch {
	case p.acceptAll("fr"):
		s.add(p, specFunction)
		return name()
	case p.accept('g'):
		s.add(p, specGlobal)
		return name()
	case p.accept('i'):
		s.add(p, specInteger)
		return until()
	case p.acceptAll("fl"):
		s.add(p, specFloat)
		return until()
	case p.acceptAll("se"):
		encoding := "u8"
		if p.accept('1') {
			encoding = "u16"
		} else if !p.accept('0') {
			return false
		}
		s.add(p, specString)
		s.parts = append(s.parts, p.text(kFunctionSpecPayload, encoding))
		return p.accept('v') && name()
	}
	return false
}
