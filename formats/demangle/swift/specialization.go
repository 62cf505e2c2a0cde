package swift

import "slices"

// What a specialization did to a parameter: one of the first, or a set of the
// others.
const (
	specFunction = iota
	specGlobal
	specInteger
	specFloat
	specString
	specClosure
	specBoxToValue
	specBoxToStack
	specInOutToOut
	specKeyPath
	specStruct
	specPreviousClosure

	specDead              = 1 << 6
	specOwnedToGuaranteed = 1 << 7
	specExploded          = 1 << 8
	specGuaranteedToOwned = 1 << 9
	specExistential       = 1 << 10
)

// specialization reads a copy of a function that the optimizer made for
// certain arguments.
func (p *parser) specialization(c byte) ref {
	switch c {
	case 'f':
		return p.functionSpecialization()
	case 'g', 'B':
		return p.genericSpecialization(kGenericSpec, nil)
	case 'G':
		return p.genericSpecialization(kGenericSpecNotReabstracted, nil)
	case 's':
		return p.genericSpecialization(kGenericSpecPre, nil)
	case 'i':
		return p.genericSpecialization(kInlinedGeneric, nil)
	case 'p':
		return p.partialSpecialization(kPartialSpec)
	case 'P':
		return p.partialSpecialization(kPartialSpecNotReabstracted)
	}
	// Numbers of parameters that were dropped stand before the letter.
	var dropped []ref
	for p.back(); p.accept('t'); {
		dropped = append(dropped, p.number(kDropped, uint64(max(p.natural()+1, 0))))
	}
	switch p.next() {
	case 'g', 'B':
		return p.genericSpecialization(kGenericSpec, dropped)
	case 'G':
		return p.genericSpecialization(kGenericSpecNotReabstracted, dropped)
	}
	return 0
}

// specAttributes reads what all specializations begin with; the last is the
// pass that made it.
func (p *parser) specAttributes(to []ref) ([]ref, bool) {
	p.accept('m') // until Swift 6.3: metatypes are no parameters
	if p.accept('q') {
		to = append(to, p.leaf(kSerialized))
	}
	if p.accept('a') {
		to = append(to, p.leaf(kAsyncRemoved))
	}
	if p.accept('r') {
		to = append(to, p.leaf(kRepresentationChanged))
	}
	pass := p.next()
	return append(to, p.number(kSpecPass, uint64(pass-'0'))), digit(pass)
}

func (p *parser) genericSpecialization(k kind, dropped []ref) ref {
	var few [12]ref
	parts, ok := p.specAttributes(few[:0])
	types := p.typeList()
	if !ok || types == 0 {
		return 0
	}
	parts = append(parts, dropped...)
	for i := range int(p.nodes[types].n) {
		parts = append(parts, p.make(kSpecParam, p.kid(types, i)))
	}
	return p.list(k, parts)
}

func (p *parser) partialSpecialization(k kind) ref {
	var few [4]ref
	parts, ok := p.specAttributes(few[:0])
	if !ok {
		return 0
	}
	return p.make(k, append(parts, p.make(kSpecParam, p.pop(kType)))...)
}

// specParam is a parameter of a specialized function while it is read.
type specParam struct {
	kind  kind
	parts []ref
}

func (s *specParam) add(p *parser, v uint64) {
	s.parts = append(s.parts, p.number(kFunctionSpecKind, v))
}

func (p *parser) functionSpecialization() ref {
	var few [12]ref
	parts, ok := p.specAttributes(few[:0])
	if !ok {
		return 0
	}
	if p.kind(parts[0]) == kRepresentationChanged {
		return p.list(kFunctionSpec, parts)
	}
	var params []specParam
	for !p.accept('_') {
		s := specParam{kind: kFunctionSpecParam}
		if !p.specParam(&s) || p.over {
			return 0
		}
		params = append(params, s)
	}
	if !p.accept('n') {
		s := specParam{kind: kFunctionSpecReturn}
		if !p.specParam(&s) {
			return 0
		}
		params = append(params, s)
	}
	for i := len(params) - 1; i >= 0; i-- {
		if s := &params[i]; s.kind == kFunctionSpecParam && !p.specOperands(s) {
			return 0
		}
	}
	for _, s := range params {
		parts = append(parts, p.list(s.kind, s.parts))
	}
	return p.list(kFunctionSpec, parts)
}

// specOperands takes what a parameter refers to from the stack, last first.
func (p *parser) specOperands(s *specParam) bool {
	read := len(s.parts)
	for i := read - 1; i >= 0; i-- {
		part := s.parts[i]
		if p.kind(part) != kFunctionSpecKind {
			continue
		}
		types, named := 0, true
		switch p.nodes[part].val {
		case specClosure:
			for t := p.pop(kType); t != 0; t = p.pop(kType) {
				s.parts = append(s.parts, t)
			}
		case specKeyPath:
			types = 2
		case specStruct:
			types, named = 1, false
		case specFunction, specGlobal, specString:
		default:
			named = false
		}
		for ; types > 0; types-- {
			t := p.pop(kType)
			if t == 0 {
				return false
			}
			s.parts = append(s.parts, t)
		}
		if named {
			name := p.pop(kIdentifier)
			if name == 0 {
				return false
			}
			s.parts = append(s.parts, name)
		}
	}
	slices.Reverse(s.parts[read:])
	return true
}

// specParam reads the change of one parameter.
func (p *parser) specParam(s *specParam) bool {
	switch p.next() {
	case 'n':
	case 'c':
		s.add(p, specClosure)
	case 'C':
		s.add(p, specPreviousClosure)
		n := p.natural()
		s.parts = append(s.parts, p.number(kFunctionSpecPayload, uint64(n)))
		return n >= 0
	case 'p':
		return p.specConstants(s)
	case 'e':
		s.add(p, p.specSet(specExistential, "DGOX"))
	case 'd':
		s.add(p, p.specSet(specDead, "GOX"))
	case 'g':
		s.add(p, p.specSet(specOwnedToGuaranteed, "X"))
	case 'o':
		s.add(p, p.specSet(specGuaranteedToOwned, "X"))
	case 'x':
		s.add(p, specExploded)
	case 'i':
		s.add(p, specBoxToValue)
	case 's':
		s.add(p, specBoxToStack)
	case 'r':
		s.add(p, specInOutToOut)
	default:
		return false
	}
	return true
}

// specSet reads which of some options are set beside one.
func (p *parser) specSet(set uint64, options string) uint64 {
	for i := range len(options) {
		if !p.accept(options[i]) {
			continue
		}
		switch options[i] {
		case 'D':
			set |= specDead
		case 'G':
			set |= specOwnedToGuaranteed
		case 'O':
			set |= specGuaranteedToOwned
		case 'X':
			set |= specExploded
		}
	}
	return set
}

// specConstants reads the constants that a parameter was replaced by: one, or
// the parameters that a structure is made of.
func (p *parser) specConstants(s *specParam) bool {
	for {
		switch p.next() {
		case 'S':
			s.add(p, specStruct)
		case 'f':
			s.add(p, specFunction)
		case 'g':
			s.add(p, specGlobal)
		case 'k':
			s.add(p, specKeyPath)
		case 'i':
			s.add(p, specInteger)
			if !p.specNumber(s) {
				return false
			}
		case 'd':
			s.add(p, specFloat)
			if !p.specNumber(s) {
				return false
			}
		case 's':
			encoding := ""
			switch p.next() {
			case 'b':
				encoding = "u8"
			case 'w':
				encoding = "u16"
			case 'c':
				encoding = "objc"
			default:
				return false
			}
			s.add(p, specString)
			s.parts = append(s.parts, p.text(kFunctionSpecPayload, encoding))
		case 0: // cut short
			return false
		default:
			p.back()
			return true
		}
	}
}

func (p *parser) specNumber(s *specParam) bool {
	start := p.pos
	for digit(p.peek()) {
		p.next()
	}
	s.parts = append(s.parts, p.text(kFunctionSpecPayload, p.in[start:p.pos]))
	return p.pos > start
}
