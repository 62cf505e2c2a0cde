package swift

// printThunk writes what the compiler made, where no pattern can say it.
func (p *printer) printThunk(r ref, depth int) {
	n := int(p.nodes[r].n)
	switch k := p.nodes[r].kind; k {
	case kReabstraction, kReabstractionHelper:
		if p.simple {
			p.put("thunk for ")
			p.print(p.last(r), depth+1, false)
			return
		}
		p.put("reabstraction thunk ")
		if k == kReabstractionHelper {
			p.put("helper ")
		}
		if n == 3 {
			p.form(r, "%0 from %2 to %1", depth)
		} else {
			p.form(r, "from %1 to %0", depth)
		}
	case kReabstractionSelf:
		if n == 4 {
			p.form(r, "reabstraction thunk %0 from %3 to %2 self %1", depth)
		} else {
			p.form(r, "reabstraction thunk from %2 to %1 self %0", depth)
		}
	case kKeyPathGetter:
		p.printKeyPath(r, "getter for", depth)
	case kKeyPathSetter:
		p.printKeyPath(r, "setter for", depth)
	case kKeyPathUnapplied:
		p.printKeyPath(r, "unapplied method", depth)
	case kKeyPathApplied:
		p.printKeyPath(r, "applied method", depth)
	case kKeyPathEquals:
		p.printKeyPathIndex(r, "equality", depth)
	case kKeyPathHash:
		p.printKeyPathIndex(r, "hash", depth)
	case kAutoDiffFunction, kAutoDiffVTable, kAutoDiffReorder, kAutoDiffSubset, kDiffWitness:
		p.printDerivative(r, depth)
	case kIndexSubset:
		p.put("{")
		separator := ""
		for i, c := range []byte(p.nodes[r].text) {
			if c == 'S' {
				p.put(separator)
				p.putNumber(uint64(i))
				separator = ", "
			}
		}
		p.put("}")
	case kConformance:
		switch {
		case n == 4:
			p.form(r, "property behavior storage of %2 in %0 : %1", depth)
		case p.simple:
			p.form(r, "%0", depth)
		default:
			p.form(r, "%0 : %1 in %2", depth)
		}
	case kConformanceList:
		if n > 0 {
			p.form(r, "(%,)", depth)
		}
	case kConcreteConformance:
		p.form(r, "concrete protocol conformance %0 to %1", depth)
		if p.nodes[p.kid(r, 2)].n > 0 {
			p.form(r, " with conditional requirements: %2", depth)
		}
	case kDependentRoot:
		p.printDependent(r, "root protocol", depth)
	case kDependentInherited:
		p.printDependent(r, "inherited protocol", depth)
	case kDependentAssociatedConformance:
		p.printDependent(r, "associated protocol", depth)
	case kCompletionHandler, kCheckedCompletionHandler:
		if k == kCheckedCompletionHandler {
			p.put("checked ")
		}
		p.put("@objc completion handler block implementation for ")
		if n >= 4 {
			p.form(r, "%3", depth)
		}
		p.form(r, "%0 with result type %1", depth)
		switch p.nodes[p.kid(r, 2)].val {
		case 0:
		case 1:
			p.put(" nonzero on error")
		case 2:
			p.put(" zero on error")
		default:
			p.put(" <invalid error flag>")
		}
	case kOnceList:
		if n == 1 {
			p.form(r, "%0", depth)
		} else {
			p.form(r, "(%,)", depth)
		}
	case kSpecParam:
		p.form(r, "%0", depth)
		for i := 1; i < n; i++ {
			if i == 1 {
				p.put(" with ")
			} else {
				p.put(" and ")
			}
			p.print(p.kid(r, i), depth+1, false)
		}
	case kFunctionSpecKind:
		p.printSpecKind(p.nodes[r].val)
	case kFunctionSpecPayload:
		if p.nodes[r].num {
			p.putNumber(p.nodes[r].val)
		} else {
			p.printSymbol(p.nodes[r].text)
		}
	default: // has no place of its own
		p.failed = true
	}
}

func (p *printer) printDependent(r ref, what string, depth int) {
	p.put("dependent ")
	p.put(what)
	p.put(" conformance ")
	if index := p.kid(r, 2); p.nodes[index].num {
		p.put("#")
		p.putNumber(p.nodes[index].val)
		p.put(" ")
	}
	p.form(r, "%0 to %1", depth)
}

func (p *printer) printKeyPath(r ref, what string, depth int) {
	p.put("key path ")
	p.put(what)
	p.form(r, " %0 : ", depth)
	for _, kid := range p.children(r)[1:] {
		if p.nodes[kid].kind == kSerialized {
			p.put(", ")
		}
		p.print(kid, depth+1, false)
	}
}

func (p *printer) printKeyPathIndex(r ref, what string, depth int) {
	p.put("key path index ")
	p.put(what)
	p.put(" operator for ")
	kids := p.children(r)
	if len(kids) > 0 && p.nodes[kids[len(kids)-1]].kind == kSerialized {
		kids = kids[:len(kids)-1]
	}
	if len(kids) > 0 && p.nodes[kids[len(kids)-1]].kind == kSignature {
		p.print(kids[len(kids)-1], depth+1, false)
		kids = kids[:len(kids)-1]
	}
	p.put("(")
	for i, kid := range kids {
		if i > 0 {
			p.put(", ")
		}
		p.print(kid, depth+1, false)
	}
	p.put(")")
}

// printDerivative writes what automatic differentiation made. What it was made
// of stands first, as many nodes as it takes.
func (p *printer) printDerivative(r ref, depth int) {
	kids := p.children(r)
	of := func(kids []ref) {
		for _, kid := range kids {
			p.print(kid, depth+1, false)
		}
	}
	show := func(text string, r ref) {
		p.put(text)
		p.print(r, depth+1, false)
	}
	n := len(kids)
	switch k := p.nodes[r].kind; k {
	case kAutoDiffFunction, kAutoDiffVTable:
		if k == kAutoDiffVTable {
			p.put("vtable thunk for ")
		}
		what := kids[:n-3]
		p.print(kids[n-3], depth+1, false)
		p.put(" of ")
		var sig ref
		if m := len(what); m > 0 && p.nodes[what[m-1]].kind == kSignature {
			sig, what = what[m-1], what[:m-1]
		}
		of(what)
		if p.simple {
			return
		}
		show(" with respect to parameters ", kids[n-2])
		show(" and results ", kids[n-1])
		if sig != 0 {
			show(" with ", sig)
		}
	case kAutoDiffReorder:
		p.put("autodiff self-reordering reabstraction thunk for ")
		if p.simple {
			p.print(kids[0], depth+1, false)
			return
		}
		p.print(kids[n-1], depth+1, false)
		if n == 4 {
			show("", kids[2])
			p.put(" ")
		}
		show(" from ", kids[0])
		show(" to ", kids[1])
	case kAutoDiffSubset:
		what := kids[:n-4]
		show("autodiff subset parameters thunk for ", kids[n-4])
		p.put(" from ")
		if len(what) <= 1 {
			of(what)
		} else {
			of(what[:len(what)-1])
		}
		if p.simple {
			return
		}
		show(" with respect to parameters ", kids[n-3])
		show(" and results ", kids[n-2])
		show(" to parameters ", kids[n-1])
		if m := len(what); m > 1 {
			show(" of type ", what[m-1])
		}
	case kDiffWitness:
		var sig ref
		if p.nodes[kids[n-1]].kind == kSignature {
			sig, kids, n = kids[n-1], kids[:n-1], n-1
		}
		p.print(kids[n-3], depth+1, false)
		p.put(" differentiability witness for ")
		of(kids[:n-3])
		show(" with respect to parameters ", kids[n-2])
		show(" and results ", kids[n-1])
		if sig != 0 {
			show(" with ", sig)
		}
	}
}
