package swift

import "strconv"

// printMore writes the kinds that no pattern can say.
func (p *printer) printMore(r ref, depth int) {
	switch p.nodes[r].kind {
	case kFunctionType, kNoEscapeType, kUncurriedType, kAutoClosureType, kThinType, kCPointerType, kBlockType, kEscapingBlockType:
		p.printFunctionType(0, r, depth)
	case kArguments:
		p.printParameters(0, r, depth)
	case kTypeMangling:
		if labels := p.kid(r, 0); p.nodes[labels].kind == kLabelList {
			p.printFunctionType(labels, p.kid(p.kid(r, 1), 0), depth)
		} else {
			p.print(labels, depth+1, false)
		}
	case kLabelList:
	case kTupleElement:
		if name := p.find(r, kTupleName); name != 0 {
			p.print(name, depth+1, false)
		}
		p.print(p.find(r, kType), depth+1, false)
		if p.find(r, kVariadic) != 0 {
			p.put("...")
		}
	case kBoundClass, kBoundStructure, kBoundEnum, kBoundProtocol, kBoundOther, kBoundAlias:
		p.printBound(r, depth)
	case kMetatype:
		t := p.kid(r, 0)
		if p.nodes[r].n == 2 {
			p.form(r, "%0 ", depth)
			t = p.kid(r, 1)
		}
		t = p.kid(t, 0)
		p.parenthesize(t, depth)
		switch p.nodes[t].kind {
		case kExistentialMetatype, kProtocolList, kProtocolListClass, kProtocolListAny:
			p.put(".Protocol")
		default:
			p.put(".Type")
		}
	case kExistentialMetatype:
		if p.nodes[r].n == 2 {
			p.form(r, "%0 %1.Type", depth)
		} else {
			p.form(r, "%0.Type", depth)
		}
	case kProtocolList:
		if protocols := p.kid(r, 0); p.nodes[protocols].n == 0 {
			p.put("Any")
		} else {
			p.form(protocols, "%&", depth)
		}
	case kProtocolListClass:
		p.form(r, "%1 & ", depth)
		p.form(p.kid(p.kid(r, 0), 0), "%&", depth)
	case kProtocolListAny:
		if protocols := p.kid(p.kid(r, 0), 0); p.nodes[protocols].n > 0 {
			p.form(protocols, "%& & ", depth)
		}
		p.put("Swift.AnyObject")
	case kExistentialShape:
		where := p.where
		p.where = true // the requirements are all that there is to say
		if p.nodes[r].n == 2 {
			p.form(r, "existential shape for %0 any %1", depth)
		} else {
			p.form(r, "existential shape for any %0", depth)
		}
		p.where = where
	case kSugarOptional:
		p.parenthesize(p.kid(r, 0), depth)
		p.put("?")
	case kNegative:
		p.out = strconv.AppendInt(p.out, int64(p.nodes[r].val), 10)
	case kSILBoxLayout:
		p.put("{")
		for i := range p.children(r) {
			if i > 0 {
				p.put(",")
			}
			p.put(" ")
			p.print(p.kid(r, i), depth+1, false)
		}
		p.put(" }")
	case kSILBoxWithLayout:
		if p.nodes[r].n == 3 {
			p.form(r, "%1 %0 ", depth)
			p.form(p.kid(r, 2), "<%,>", depth)
		} else {
			p.form(r, "%0", depth)
		}
	case kImplFunction:
		p.printImplFunction(r, depth)
	case kImplParameter, kImplResult:
		p.form(r, "%0 ", depth)
		switch p.nodes[r].n { // Apple's printer says of more attributes nothing
		case 3:
			p.form(r, "%1", depth)
		case 4:
			p.form(r, "%1%2", depth)
		}
		p.print(p.last(r), depth+1, false)
	case kSignature, kPseudoSignature:
		p.printSignature(r, depth)
	case kLayoutReq:
		switch p.nodes[r].n {
		case 2:
			p.form(r, "%0: %1", depth)
		case 3:
			p.form(r, "%0: %1(%2)", depth)
		default:
			p.form(r, "%0: %1(%2, %3)", depth)
		}
	case kParamType:
		p.putParam(p.nodes[p.kid(r, 0)].val, p.nodes[p.kid(r, 1)].val)
	case kDependentType:
		p.form(r, "%0", depth)
		if p.spaced(p.kid(r, 1)) {
			p.put(" ")
		}
		p.form(r, "%1", depth)
	case kDependentAssociated:
		if p.nodes[r].n > 1 {
			p.form(r, "%1.%0", depth)
		} else {
			p.form(r, "%0", depth)
		}
	default:
		p.printThunk(r, depth)
	}
}

// sugar tells the types of the standard library that have a spelling of their
// own, with as many arguments as they must have.
func (p *printer) sugar(r ref) string {
	unbound := p.kid(p.kid(r, 0), 0)
	module, name := p.nodes[p.kid(unbound, 0)], p.nodes[p.kid(unbound, 1)]
	if module.kind != kModule || module.text != stdlib || name.kind != kIdentifier {
		return ""
	}
	arguments := p.nodes[p.kid(r, 1)].n
	switch isEnum := p.nodes[r].kind == kBoundEnum; {
	case isEnum && arguments == 1 && (name.text == "Optional" || name.text == "ImplicitlyUnwrappedOptional"),
		!isEnum && arguments == 1 && name.text == "Array",
		!isEnum && arguments == 2 && name.text == "Dictionary":
		return name.text
	}
	return ""
}

// printBound writes a type with its generic arguments.
func (p *printer) printBound(r ref, depth int) {
	n := &p.nodes[r]
	arguments := p.kid(r, 1)
	if p.simple && n.n == 2 {
		switch n.kind {
		case kBoundProtocol:
			p.form(arguments, "%*", depth)
			p.form(r, " as %0", depth)
			return
		case kBoundEnum, kBoundStructure:
			switch p.sugar(r) {
			case "Optional":
				p.parenthesize(p.kid(arguments, 0), depth)
				p.put("?")
				return
			case "ImplicitlyUnwrappedOptional":
				p.parenthesize(p.kid(arguments, 0), depth)
				p.put("!")
				return
			case "Array":
				p.form(arguments, "[%0]", depth)
				return
			case "Dictionary":
				p.form(arguments, "[%0 : %1]", depth)
				return
			}
		}
	}
	p.form(r, "%0", depth)
	p.form(arguments, "<%,>", depth)
}

// isSimple reports whether a type can be followed by a suffix.
func (p *printer) isSimple(r ref) bool {
	for p.nodes[r].kind == kType {
		r = p.kid(r, 0)
	}
	switch p.nodes[r].kind {
	case kProtocolList:
		return p.nodes[p.kid(r, 0)].n <= 1
	case kProtocolListAny:
		return p.nodes[p.kid(p.kid(r, 0), 0)].n == 0
	}
	return p.is(r, fSimple)
}

func (p *printer) parenthesize(r ref, depth int) {
	if p.isSimple(r) {
		p.print(r, depth+1, false)
		return
	}
	p.put("(")
	p.print(r, depth+1, false)
	p.put(")")
}

// putParam writes a type parameter: a letter, with the depth of its
// declaration from the second on.
func (p *printer) putParam(level, index uint64) {
	for {
		p.out = append(p.out, byte('A'+index%26))
		if index /= 26; index == 0 {
			break
		}
	}
	if level > 0 {
		p.putNumber(level)
	}
}

// maxParams is how many parameters of one depth are written.
const maxParams = 128

func (p *printer) printSignature(r ref, depth int) {
	parts := p.children(r)
	levels := 0
	for levels < len(parts) && p.nodes[parts[levels]].kind == kParamCount {
		levels++
	}
	marks := levels
	for marks < len(parts) {
		mark := parts[marks]
		if p.nodes[mark].kind == kType {
			mark = p.kid(mark, 0)
		}
		if k := p.nodes[mark].kind; k != kParamPack && k != kParamValue {
			break
		}
		marks++
	}
	p.put("<")
	for level, count := range parts[:levels] {
		if level > 0 {
			p.put("><")
		}
		for index := range p.nodes[count].val {
			if index > 0 {
				p.put(", ")
			}
			if index >= maxParams {
				p.put("...")
				break
			}
			p.printParam(parts[levels:marks], uint64(level), index, depth)
		}
	}
	if p.where && marks < len(parts) {
		p.put(" where ")
		for i, requirement := range parts[marks:] {
			if i > 0 {
				p.put(", ")
			}
			p.print(requirement, depth+1, false)
		}
	}
	p.put(">")
}

// printParam writes a declared parameter with what its marks say. Apple's
// printer takes depth and index for each other here, and looks for the type of
// a value where none is; so do we, as the aim is to say the same.
func (p *printer) printParam(marks []ref, level, index uint64, depth int) {
	pack, value := false, false
	for _, mark := range marks {
		param := p.kid(p.kid(mark, 0), 0)
		if p.nodes[param].kind != kParamType || p.nodes[p.kid(param, 0)].val != index || p.nodes[p.kid(param, 1)].val != level {
			continue
		}
		if p.nodes[mark].kind == kParamPack {
			pack = true
		} else {
			value = true
		}
	}
	if pack {
		p.put("each ")
	}
	if value {
		p.put("let ")
	}
	p.putParam(level, index)
}

func (p *printer) printImplFunction(r ref, depth int) {
	var pattern, invocation, sending ref
	const (
		attributes = iota
		inputs
		results
	)
	state := attributes
	enter := func(to int) {
		if state < inputs && to >= inputs {
			if pattern != 0 {
				p.form(pattern, "@substituted %0 ", depth)
			}
			p.put("(")
		}
		if state < results && to == results {
			p.put(") -> ")
			if sending != 0 {
				p.form(sending, "sending ", depth)
			}
			p.put("(")
		}
		state = to
	}
	for _, kid := range p.children(r) {
		switch p.nodes[kid].kind {
		case kImplParameter:
			if state == inputs {
				p.put(", ")
			}
			enter(inputs)
			p.print(kid, depth+1, false)
		case kImplResult, kImplYield, kImplError:
			if state == results {
				p.put(", ")
			}
			enter(results)
			p.print(kid, depth+1, false)
		case kImplPattern:
			pattern = kid
		case kImplInvocation:
			invocation = kid
		case kImplSendingResult:
			sending = kid
		default:
			p.print(kid, depth+1, false)
			p.put(" ")
		}
	}
	enter(results)
	p.put(")")
	if pattern != 0 {
		p.form(p.kid(pattern, 1), " for <%*>", depth)
	}
	if invocation != 0 {
		p.form(p.kid(invocation, 0), " for <%*>", depth)
	}
}
