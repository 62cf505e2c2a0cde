package swift

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
			r := p.make(k, p.text(kText, convention), p.oldTypes(p))
			if r == 0 {
				return 0
			}
			parts = append(parts, r)
		}
	}
	return p.list(kImplFunction, parts)
}
