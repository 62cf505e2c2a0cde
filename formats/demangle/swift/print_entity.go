package swift

import "strings"

// typing says how the type of an entity stands behind its name.
type typing uint8

const (
	untyped typing = iota
	colon          // "name : Type"
	call           // "name(Type) -> Type"
)

// entity says how a declaration is written.
type entity struct {
	typing typing
	named  bool   // its second child is its name
	name   string // the name, where the mangling has none
	extra  string // what stands behind the name, or instead of it
	number uint64 // behind extra, one more than that; 0 is none
}

func (p *printer) printAccessor(r ref, depth int, asPrefix bool) ref {
	of := p.kid(r, 0)
	extra := forms[p.nodes[r].kind].text
	switch p.nodes[of].kind {
	case kVariable:
		return p.printEntity(of, depth, asPrefix, entity{typing: colon, named: true, extra: extra})
	case kSubscript:
		return p.printEntity(of, depth, asPrefix, entity{typing: colon, name: "subscript", extra: extra})
	}
	p.failed = true
	return 0
}

// printEntity writes a declaration: context, name and type, or, if the name is
// of several words, name and context behind it.
func (p *printer) printEntity(r ref, depth int, asPrefix bool, e entity) ref {
	whole := r
	var arguments ref
	if p.nodes[r].kind == kBoundFunction {
		arguments = p.kid(r, 1)
		r = p.kid(r, 0)
	}
	behind := strings.IndexByte(e.extra, ' ') >= 0 ||
		e.named && p.nodes[p.kid(r, 1)].kind == kLocalName
	if asPrefix && (e.typing != untyped || behind) {
		return r // with its type it cannot stand before a name
	}
	context := p.kid(r, 0)
	if context == 0 {
		p.failed = true
		return 0
	}
	if !behind {
		at := len(p.out)
		context = p.print(context, depth+1, true)
		if len(p.out) != at {
			p.put(".")
		}
	}
	p.printName(r, depth, e, behind)
	if e.typing != untyped {
		t := p.kid(p.find(r, kType), 0)
		if t == 0 {
			p.failed = true
			return 0
		}
		if e.typing == call && !p.isCall(t) {
			e.typing = colon
		}
		if e.typing == call {
			if behind || p.spaced(t) {
				p.put(" ")
			}
			p.printEntityType(r, t, arguments, depth)
		} else if !p.simple {
			p.put(" : ")
			p.printEntityType(r, t, arguments, depth)
		}
	}
	if asPrefix || context == 0 {
		return context
	}
	switch p.nodes[whole].kind {
	case kDefaultArgument, kInitializer, kWrapperBacking, kWrapperField, kWrapperProjected:
		p.put(" of ")
	default:
		p.put(" in ")
	}
	p.print(context, depth+1, false)
	return 0
}

func (p *printer) printName(r ref, depth int, e entity, behind bool) {
	if e.named || e.name != "" {
		if behind && e.extra != "" {
			p.put(e.extra)
			if e.number > 0 {
				p.putNumber(e.number - 1)
			}
			p.put(" of ")
			e.extra = ""
		}
		at := len(p.out)
		if e.name != "" {
			p.put(e.name)
		} else {
			if name := p.kid(r, 1); p.nodes[name].kind != kPrivateName {
				p.print(name, depth+1, false)
			}
			if private := p.find(r, kPrivateName); private != 0 {
				p.print(private, depth+1, false)
			}
		}
		if len(p.out) != at && e.extra != "" {
			p.put(".")
		}
	}
	if e.extra != "" {
		p.put(e.extra)
		if e.number > 0 {
			p.putNumber(e.number - 1)
		}
	}
}

// isCall reports whether a type is written as a call.
func (p *printer) isCall(t ref) bool {
	for p.nodes[t].kind == kDependentType {
		t = p.kid(p.kid(t, 1), 0)
	}
	switch p.nodes[t].kind {
	case kFunctionType, kNoEscapeType, kUncurriedType, kCPointerType, kThinType:
		return true
	}
	return false
}

// spaced reports whether a space stands between a name and a type.
func (p *printer) spaced(t ref) bool {
	for p.nodes[t].kind == kType {
		t = p.kid(t, 0)
	}
	switch p.nodes[t].kind {
	case kFunctionType, kNoEscapeType, kUncurriedType, kDependentType:
		return false
	}
	return true
}

func (p *printer) printEntityType(r, t, arguments ref, depth int) {
	labels := p.find(r, kLabelList)
	if labels == 0 && arguments == 0 {
		p.print(t, depth+1, false)
		return
	}
	if arguments != 0 {
		p.form(arguments, "<%,>", depth)
	}
	if p.nodes[t].kind == kDependentType {
		if arguments == 0 {
			p.print(p.kid(t, 0), depth+1, false)
		}
		dependent := p.kid(t, 1)
		if p.spaced(dependent) {
			p.put(" ")
		}
		t = p.kid(dependent, 0)
	}
	p.printFunctionType(labels, t, depth)
}

// printFunctionType writes a function type with the labels of its parameters.
func (p *printer) printFunctionType(labels, r ref, depth int) {
	n := int(p.nodes[r].n)
	if n < 2 {
		p.failed = true
		return
	}
	switch p.nodes[r].kind {
	case kFunctionType, kUncurriedType, kNoEscapeType:
	case kAutoClosureType:
		p.put("@autoclosure ")
	case kThinType:
		p.put("@convention(thin) ")
	case kCPointerType:
		p.printConvention("c", r)
	case kEscapingBlockType:
		p.put("@escaping ")
		p.printConvention("block", r)
	case kBlockType:
		p.printConvention("block", r)
	default:
		p.failed = true
		return
	}
	var sending, caller, differentiable, throws, concurrent, async ref
	for i := range n - 2 {
		effect := p.kid(r, i)
		switch p.nodes[effect].kind {
		case kSendingResult:
			sending = effect
		case kIsolatedAny, kGlobalActor:
			p.print(effect, depth+1, false)
		case kNonisolatedCaller:
			caller = effect
		case kDifferentiable:
			differentiable = effect
		case kThrows, kTypedThrows:
			throws = effect
		case kConcurrent:
			concurrent = effect
		case kAsync:
			async = effect
		}
	}
	for _, effect := range [...]ref{differentiable, caller, concurrent} {
		if effect != 0 {
			p.print(effect, depth+1, false)
		}
	}
	p.printParameters(labels, p.kid(r, n-2), depth)
	if p.simple {
		return
	}
	for _, effect := range [...]ref{async, throws} {
		if effect != 0 {
			p.print(effect, depth+1, false)
		}
	}
	p.put(" -> ")
	if sending != 0 {
		p.print(sending, depth+1, false)
	}
	p.print(p.kid(r, n-1), depth+1, false)
}

// printConvention writes the calling convention of a type, with the type in
// C if the mangling has that.
func (p *printer) printConvention(name string, r ref) {
	p.put("@convention(" + name)
	if first := p.kid(r, 0); p.nodes[first].kind == kClangType {
		p.put(", mangledCType: \"")
		p.put(p.nodes[first].text)
		p.put("\"")
	}
	p.put(") ")
}

// printParameters writes parameters: with types in full, else labels alone.
func (p *printer) printParameters(labels, r ref, depth int) {
	params := p.kid(p.kid(r, 0), 0)
	if p.nodes[r].kind != kArguments || params == 0 {
		p.failed = true
		return
	}
	if p.nodes[params].kind != kTuple {
		if p.simple {
			p.put("(_:)")
			return
		}
		p.put("(")
		p.print(params, depth+1, false)
		p.put(")")
		return
	}
	labeled := labels != 0 && p.nodes[labels].n > 0
	p.put("(")
	for i, param := range p.children(params) {
		if i > 0 && !p.simple {
			p.put(", ")
		}
		switch {
		case labeled:
			label := p.kid(labels, i)
			if p.nodes[label].kind == kIdentifier {
				p.put(p.nodes[label].text)
			} else {
				p.put("_")
			}
			p.put(":")
			if !p.simple {
				p.put(" ")
			}
		case p.simple:
			if name := p.find(param, kTupleName); name != 0 {
				p.put(p.nodes[name].text)
			} else {
				p.put("_")
			}
			p.put(":")
		}
		if !p.simple {
			p.print(param, depth+1, false)
		}
	}
	p.put(")")
}
