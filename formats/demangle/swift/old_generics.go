package swift

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
// for each depth, and what is required of them.
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
		return p.make(kSameTypeReq, subject, p.oldType())
	case 'l':
		p.next()
		return p.oldLayout(subject)
	case 'C':
		return p.make(kConformanceReq, subject, p.oldType())
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

// The letters of ownership mean the same for the function itself, its
// parameters and its results, but not all stand everywhere.
var (
	oldCallees    = [128]string{'d': "@callee_unowned", 'g': "@callee_guaranteed", 'o': "@callee_owned", 't': "@convention(thin)"}
	oldParameters = [128]string{'d': "@unowned", 'g': "@guaranteed", 'e': "@deallocating", 'i': "@in", 'l': "@inout", 'o': "@owned"}
	oldResults    = [128]string{'a': "@autoreleased", 'd': "@unowned", 'D': "@unowned_inner_pointer", 'i': "@out", 'o': "@owned"}
	oldFunctions  = [128]string{'b': "block", 'c': "c", 'm': "method", 'O': "objc_method", 'w': "witness_method"}
)

// oldImplFunction reads the type of a function as the compiler's middle sees
// it.
func (p *parser) oldImplFunction() ref {
	var few [12]ref
	parts := few[:0]
	callee := p.choice(&oldCallees)
	if callee == "" {
		return 0
	}
	parts = append(parts, p.text(kText, callee))
	if p.accept('C') {
		convention := p.choice(&oldFunctions)
		if convention == "" {
			return 0
		}
		parts = append(parts, p.text(kText, "@convention("+convention+")"))
	}
	if p.accept('h') {
		parts = append(parts, p.text(kText, "@Sendable"))
	}
	if p.accept('H') {
		parts = append(parts, p.text(kText, "@async"))
	}
	k := kNone
	if p.accept('G') {
		k = kSignature
	} else if p.accept('g') {
		k = kPseudoSignature
	}
	if k != kNone {
		sig := p.oldSignature(k)
		if sig == 0 {
			return 0
		}
		parts = append(parts, sig)
	}
	if !p.accept('_') {
		return 0
	}
	for _, slots := range [...]struct {
		kind  kind
		table *[128]string
	}{{kImplParameter, &oldParameters}, {kImplResult, &oldResults}} {
		for !p.accept('_') {
			k := slots.kind
			if k == kImplResult && p.accept('z') {
				k = kImplError
			}
			convention := p.choice(slots.table)
			if convention == "" {
				return 0
			}
			r := p.make(k, p.text(kText, convention), p.oldType())
			if r == 0 {
				return 0
			}
			parts = append(parts, r)
		}
	}
	return p.list(kImplFunction, parts)
}
