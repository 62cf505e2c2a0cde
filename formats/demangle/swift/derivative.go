package swift

// subset reads a set of indices: S for each that is in it, U for each that is
// not.
func (p *parser) subset() ref {
	start := p.pos
	for p.peek() == 'S' || p.peek() == 'U' {
		p.next()
	}
	if p.pos == start {
		return 0
	}
	return p.text(kIndexSubset, p.in[start:p.pos])
}

// popAll takes the whole stack: an automatic derivative is of all before it.
func (p *parser) popAll() []ref {
	p.scratch = append(p.scratch[:0], p.stack...)
	p.stack = p.stack[:0]
	return p.scratch
}

// finish makes a node of a list that must have no gap.
func (p *parser) finish(k kind, parts []ref) ref {
	p.scratch = parts
	return p.make(k, parts...)
}

// derivativeKind reads which function of a derivative is meant.
func (p *parser) derivativeKind() ref {
	switch p.next() {
	case 'f':
		return p.text(kAutoDiffKind, "forward-mode derivative")
	case 'r':
		return p.text(kAutoDiffKind, "reverse-mode derivative")
	case 'd':
		return p.text(kAutoDiffKind, "differential")
	case 'p':
		return p.text(kAutoDiffKind, "pullback")
	}
	return 0
}

// derivative reads the functions that differentiation made, and their thunks.
func (p *parser) derivative() ref {
	switch p.peek() {
	case 'S':
		p.next()
		parts, ok := p.subsets('p', 'r', 'P')
		if !ok {
			return 0
		}
		return p.finish(kAutoDiffSubset, parts)
	case 'O':
		p.next()
		sig := p.pop(kSignature)
		to := p.pop(kType)
		from := p.pop(kType)
		k := p.derivativeKind()
		if from == 0 || to == 0 || k == 0 {
			return 0
		}
		return p.some(kAutoDiffReorder, from, to, sig, k)
	}
	k := kAutoDiffFunction
	if p.accept('V') {
		k = kAutoDiffVTable
	}
	parts, ok := p.subsets('p', 'r')
	if !ok {
		return 0
	}
	return p.finish(k, parts)
}

// subsets gives what stands before, the kind of derivative, and a subset of indices before each of the marks.
func (p *parser) subsets(marks ...byte) ([]ref, bool) {
	parts := append(p.popAll(), p.derivativeKind())
	for _, mark := range marks {
		parts = append(parts, p.subset())
		if !p.accept(mark) {
			return nil, false
		}
	}
	return parts, true
}

// derivativeWitness reads the record of a function's derivatives.
func (p *parser) derivativeWitness() ref {
	sig := p.pop(kSignature)
	parts := p.popAll()
	word := ""
	switch p.next() {
	case 'f':
		word = "forward-mode"
	case 'r':
		word = "reverse-mode"
	case 'd':
		word = "normal"
	case 'l':
		word = "linear"
	default:
		return 0
	}
	parts = append(parts, p.text(kText, word), p.subset())
	if !p.accept('p') {
		return 0
	}
	parts = append(parts, p.subset())
	if !p.accept('r') {
		return 0
	}
	if sig != 0 {
		parts = append(parts, sig)
	}
	return p.finish(kDiffWitness, parts)
}
