package swift

import "strings"

// printSpecialization writes what a copy of a function was made for; in the
// simplified form only the word, once.
func (p *printer) printSpecialization(r ref, depth int) {
	if p.simple {
		if !p.specialized {
			p.put("specialized ")
			p.specialized = true
		}
		return
	}
	kids := p.children(r)
	k := p.nodes[r].kind
	if len(kids) > 0 && p.nodes[kids[0]].kind == kRepresentationChanged {
		p.put("representation changed of ")
		return
	}
	p.put(forms[k].text)
	p.put(" <")
	separator := ""
	argument := uint64(0)
	for _, kid := range kids {
		switch p.nodes[kid].kind {
		case kSpecPass, kDropped:
			continue
		case kSerialized:
			p.put(separator)
			separator = ", "
			p.print(kid, depth+1, false)
			continue
		}
		if p.nodes[kid].n > 0 && !p.nodes[kid].num {
			p.put(separator)
			separator = ", "
			if k == kPartialSpec || k == kPartialSpecNotReabstracted {
				p.put("Signature = ")
			}
			switch p.nodes[kid].kind {
			case kFunctionSpecParam:
				p.put("Arg[")
				p.putNumber(argument)
				p.put("] = ")
				p.printSpecParam(kid, depth)
			case kFunctionSpecReturn:
				p.put("Return = ")
				p.printSpecParam(kid, depth)
			default:
				p.print(kid, depth+1, false)
			}
		}
		argument++
	}
	p.put("> of ")
}

// printSpecParam writes the change of a parameter. Behind all changes
// stand the names and types it was done with.
func (p *printer) printSpecParam(r ref, depth int) {
	kids := p.children(r)
	operand := 0
	for i := 0; i < len(kids) && p.nodes[kids[i]].num; {
		what := p.nodes[kids[i]].val
		if what > specPreviousClosure || what == specBoxToValue || what == specBoxToStack || what == specInOutToOut {
			p.print(kids[i], depth+1, false)
			i++
			continue
		}
		second := ref(0)
		switch what {
		case specInteger, specFloat, specString, specClosure, specPreviousClosure:
			if i+1 >= len(kids) {
				return
			}
			second = kids[i+1]
		}
		p.put("[")
		p.print(kids[i], depth+1, false)
		i++
		if what == specPreviousClosure {
			p.put(" ")
		} else {
			p.put(" : ")
		}
		if second != 0 {
			p.print(second, depth+1, false)
			i++
		}
		// Old manglings have the name right behind. Apple's printer of Swift 6 leaves it out, which earlier ones wrote.
		if own := payload(p, kids, i); own != "" && (what == specFunction || what == specGlobal) {
			p.printSymbol(own)
			p.put("]")
			i++
			continue
		} else if own != "" && what == specString {
			p.put("'" + strings.TrimPrefix(own, "_") + "']")
			i++
			continue
		}
		switch what {
		case specFunction, specGlobal, specStruct:
			p.printOperand(kids, &operand, what, depth)
		case specString:
			p.put("'")
			p.printOperand(kids, &operand, what, depth)
			p.put("'")
		case specKeyPath:
			p.printOperand(kids, &operand, what, depth)
			p.put("<")
			p.printOperand(kids, &operand, what, depth)
			p.put(",")
			p.printOperand(kids, &operand, what, depth)
			p.put(">")
		case specClosure:
			p.put(", Argument Types : [")
			for i < len(kids) && p.nodes[kids[i]].kind == kType {
				p.print(kids[i], depth+1, false)
				if i++; i < len(kids) && p.nodes[kids[i]].text != "" {
					p.put(", ")
				}
			}
			p.put("]")
			continue // Apple's printer leaves the outer bracket open
		}
		p.put("]")
	}
}

// payload returns the text of part i of a parameter, if it is a name or a string; "": it is not.
func payload(p *printer, kids []ref, i int) string {
	if i < len(kids) && p.nodes[kids[i]].kind == kFunctionSpecPayload && !p.nodes[kids[i]].num {
		return p.nodes[kids[i]].text
	}
	return ""
}

// printOperand writes the next name or type that a parameter refers to.
func (p *printer) printOperand(kids []ref, at *int, what uint64, depth int) {
	for *at < len(kids) {
		kid := kids[*at]
		*at++
		switch p.nodes[kid].kind {
		case kFunctionSpecKind, kFunctionSpecPayload:
			continue
		}
		text := p.nodes[kid].text
		switch {
		case what == specString && text != "" && text[0] == '_': // it begins with no letter
			p.put(text[1:])
		case what == specFunction, what == specGlobal:
			p.printSymbol(text)
		default:
			p.print(kid, depth+1, false)
		}
		return
	}
}

// printSymbol writes a name that may be mangled, in full.
func (p *printer) printSymbol(name string) {
	if p.nested >= maxNested {
		p.put(name)
		return
	}
	at := len(p.out)
	inner := *p
	inner.nested++
	inner.simple, inner.where = false, true
	ok := p.symbol(&inner, name)
	p.steps = inner.steps
	if !ok && p.steps >= 0 && len(inner.out) <= p.max {
		p.out = p.out[:at]
		p.put(name)
		return
	}
	p.out, p.failed = inner.out, inner.failed
}

func (p *printer) printSpecKind(what uint64) {
	separator := ""
	for _, option := range [...]struct {
		bit  uint64
		text string
	}{
		{specExistential, "Existential To Protocol Constrained Generic"}, {specDead, "Dead"}, {specOwnedToGuaranteed, "Owned To Guaranteed"},
		{specGuaranteedToOwned, "Guaranteed To Owned"}, {specExploded, "Exploded"},
	} {
		if what&option.bit != 0 {
			p.put(separator)
			p.put(option.text)
			separator = " and "
		}
	}
	if separator == "" && what < uint64(len(specWords)) {
		p.put(specWords[what])
	}
}

var specWords = [...]string{
	specFunction:        "Constant Propagated Function",
	specGlobal:          "Constant Propagated Global",
	specInteger:         "Constant Propagated Integer",
	specFloat:           "Constant Propagated Float",
	specString:          "Constant Propagated String",
	specClosure:         "Closure Propagated",
	specBoxToValue:      "Value Promoted from Box",
	specBoxToStack:      "Stack Promoted from Box",
	specInOutToOut:      "InOut Converted to Out",
	specKeyPath:         "Constant Propagated KeyPath",
	specStruct:          "Constant Propagated Struct",
	specPreviousClosure: "Same As Argument",
}
