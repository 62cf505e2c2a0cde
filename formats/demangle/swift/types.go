package swift

import (
	"slices"
	"strconv"
)

// popModule takes a module: an identifier in this place is one.
func (p *parser) popModule() ref {
	if id := p.pop(kIdentifier); id != 0 {
		return p.rekind(id, kModule)
	}
	return p.pop(kModule)
}

// popContext takes what a declaration stands in.
func (p *parser) popContext() ref {
	if m := p.popModule(); m != 0 {
		return m
	}
	if t := p.pop(kType); t != 0 {
		if c := p.kid(t, 0); p.nodes[t].n == 1 && p.is(c, fContext) {
			return c
		}
		return 0
	}
	return p.popFlag(fContext)
}

// popEntity takes a declaration or a type.
func (p *parser) popEntity() ref {
	if t := p.pop(kType); t != 0 {
		return t
	}
	return p.popFlag(fContext)
}

// popTypeContent takes a type and unwraps it.
func (p *parser) popTypeContent() ref {
	if t := p.pop(kType); t != 0 {
		return p.kid(t, 0)
	}
	return 0
}

// popNominal takes a declared type and unwraps it.
func (p *parser) popNominal() ref {
	if t := p.popTypeContent(); t != 0 && p.is(t, fNominal) {
		return t
	}
	return 0
}

func (p *parser) popProtocol() ref {
	if t := p.pop(kType); t != 0 {
		if p.isProtocol(t) {
			return t
		}
		return 0
	}
	name := p.popFlag(fName)
	return p.typed(p.make(kProtocol, p.popContext(), name))
}

// popList takes the elements that one takes each, back to the element that is
// marked as the first, to a node of a kind.
func (p *parser) popList(k kind, one func(*parser) ref) ref {
	if p.pop(kEmptyList) != 0 {
		return p.leaf(k)
	}
	var few [8]ref
	list := few[:0]
	for {
		first := p.pop(kFirstElement) != 0
		r := one(p)
		if r == 0 {
			return 0
		}
		list = append(list, r)
		if first {
			break
		}
	}
	slices.Reverse(list)
	return p.list(k, list)
}

// popSome is popList of one element at least.
func (p *parser) popSome(k kind, one func(*parser) ref) ref {
	if n := len(p.stack); n > 0 && p.kind(p.stack[n-1]) == kEmptyList {
		return 0
	}
	return p.popList(k, one)
}

func popType(p *parser) ref { return p.pop(kType) }

func (p *parser) typeList() ref { return p.popList(kTypeList, popType) }

func (p *parser) tuple() ref {
	return p.typed(p.popList(kTuple, func(p *parser) ref {
		variadic := p.pop(kVariadic)
		name := p.rekind(p.pop(kIdentifier), kTupleName)
		t := p.pop(kType)
		if t == 0 {
			return 0
		}
		return p.some(kTupleElement, variadic, name, t)
	}))
}

// nominal reads a declared type.
func (p *parser) nominal(k kind) ref {
	name := p.popFlag(fName)
	return p.remember(p.typed(p.make(k, p.popContext(), name)))
}

func (p *parser) extension() ref {
	sig := p.pop(kSignature)
	module := p.popModule()
	ext := p.popNominal()
	if sig != 0 {
		return p.make(kExtension, module, ext, sig)
	}
	return p.make(kExtension, module, ext)
}

// typeMangling reads the mark of a symbol that is a type.
func (p *parser) typeMangling() ref {
	t := p.pop(kType)
	if labels := p.parameterLabels(t); labels != 0 {
		return p.make(kTypeMangling, labels, t)
	}
	return p.make(kTypeMangling, t)
}

// popArguments takes the generic arguments of a type and of those around it,
// a list for each, innermost first.
func (p *parser) popArguments() (lists []ref, retroactive ref, ok bool) {
	retroactive = p.popRetroactive()
	for {
		end := len(p.stack)
		for end > 0 && p.kind(p.stack[end-1]) == kType {
			end--
		}
		lists = append(lists, p.list(kTypeList, p.stack[end:]))
		p.stack = p.stack[:end]
		if p.pop(kEmptyList) != 0 {
			return lists, retroactive, true
		}
		if p.pop(kFirstElement) == 0 {
			return nil, 0, false
		}
	}
}

// popRetroactive takes the conformances that an unrelated module declared.
func (p *parser) popRetroactive() ref {
	end := len(p.stack)
	for end > 0 && p.kind(p.stack[end-1]) == kRetroactive {
		end--
	}
	if end == len(p.stack) {
		return 0
	}
	list := p.list(kTypeList, p.stack[end:])
	p.stack = p.stack[:end]
	return list
}

func (p *parser) boundGeneric() ref {
	lists, retroactive, ok := p.popArguments()
	if !ok {
		return 0
	}
	bound := p.bind(p.popNominal(), lists)
	if retroactive != 0 {
		bound = p.with(bound, retroactive)
	}
	return p.remember(p.typed(bound))
}

// bind gives a declaration its generic arguments: the first list is its own,
// the next the level of the node around it, if that can have any.
func (p *parser) bind(decl ref, lists []ref) ref {
	context := p.kid(decl, 0)
	if context == 0 || len(lists) == 0 {
		return 0
	}
	if p.depth++; p.depth > maxDepth {
		return 0
	}
	defer func() { p.depth-- }()
	own := p.takesArguments(decl)
	args := lists[0]
	if own {
		lists = lists[1:]
	}
	if len(lists) > 0 {
		if p.kind(context) == kExtension {
			parent := p.bind(p.kid(context, 1), lists)
			if sig := p.kid(context, 2); sig != 0 {
				context = p.make(kExtension, p.kid(context, 0), parent, sig)
			} else {
				context = p.make(kExtension, p.kid(context, 0), parent)
			}
		} else {
			context = p.bind(context, lists)
		}
		if context == 0 {
			return 0
		}
		decl = p.replaceFirst(decl, context)
	}
	if !own || p.nodes[args].n == 0 {
		return decl
	}
	switch p.kind(decl) {
	case kClass:
		return p.make(kBoundClass, p.typed(decl), args)
	case kStructure:
		return p.make(kBoundStructure, p.typed(decl), args)
	case kEnum:
		return p.make(kBoundEnum, p.typed(decl), args)
	case kProtocol:
		return p.make(kBoundProtocol, p.typed(decl), args)
	case kOtherNominal:
		return p.make(kBoundOther, p.typed(decl), args)
	case kTypeAlias:
		return p.make(kBoundAlias, p.typed(decl), args)
	case kFunction, kConstructor:
		return p.make(kBoundFunction, decl, args)
	}
	return 0
}

// replaceFirst makes a node with another first child.
func (p *parser) replaceFirst(r, first ref) ref {
	n := p.nodes[r]
	at := len(p.kids)
	p.kids = append(p.kids, p.children(r)...)
	p.kids[at] = first
	n.val = uint64(at)
	return p.push(n)
}

func (p *parser) takesArguments(decl ref) bool {
	switch p.kind(decl) {
	case kVariable, kSubscript, kImplicitClosure, kExplicitClosure, kDefaultArgument, kInitializer,
		kWrapperBacking, kWrapperField, kWrapperProjected, kStatic:
		return false
	}
	return true
}

// builtin reads a type of the compiler's own.
func (p *parser) builtin() ref {
	switch c := p.next(); c {
	case 'f', 'i':
		bits := p.ordinal() - 1
		if bits <= 0 || bits > maxBuiltin {
			return 0
		}
		name := "Builtin.FPIEEE"
		if c == 'i' {
			name = "Builtin.Int"
		}
		return p.typed(p.text(kBuiltin, name+strconv.Itoa(bits)))
	case 'v':
		n := p.ordinal() - 1
		element := p.popTypeContent()
		if n <= 0 || n > maxBuiltin || element == 0 || p.kind(element) != kBuiltin {
			return 0
		}
		return p.typed(p.text(kBuiltin, "Builtin.Vec"+strconv.Itoa(n)+"x"+p.nodes[element].text[len("Builtin."):]))
	case 'V':
		element := p.pop(kType)
		return p.typed(p.make(kBuiltinFixedArray, p.pop(kType), element))
	case 'T':
		return p.typed(p.leaf(kBuiltinTuple))
	default:
		if int(c) < len(builtins) && builtins[c] != "" {
			return p.typed(p.text(kBuiltin, builtins[c]))
		}
		return 0
	}
}

// maxBuiltin is the widest of the compiler's types.
const maxBuiltin = 4096

var builtins = [128]string{
	'A': "Builtin.ImplicitActor",
	'b': "Builtin.BridgeObject",
	'B': "Builtin.UnsafeValueBuffer",
	'e': "Builtin.Executor",
	'I': "Builtin.IntLiteral",
	'O': "Builtin.UnknownObject",
	'o': "Builtin.NativeObject",
	'p': "Builtin.RawPointer",
	'j': "Builtin.Job",
	'D': "Builtin.DefaultActorStorage",
	'd': "Builtin.NonDefaultDistributedActorStorage",
	'c': "Builtin.RawUnsafeContinuation",
	't': "Builtin.SILToken",
	'w': "Builtin.Word",
	'P': "Builtin.PackIndex",
}

// parameterLabels takes the labels of the parameters that a type has, one for
// each: none if there is no list of them.
func (p *parser) parameterLabels(t ref) ref {
	if p.labels && p.pop(kEmptyList) != 0 {
		return p.leaf(kLabelList)
	}
	if t == 0 {
		return 0
	}
	fn := p.kid(t, 0)
	if p.kind(fn) == kDependentType {
		fn = p.kid(p.kid(fn, 1), 0)
	}
	if k := p.kind(fn); k != kFunctionType && k != kNoEscapeType {
		return 0
	}
	params := p.kid(p.kid(p.find(fn, kArguments), 0), 0)
	isTuple := p.kind(params) == kTuple
	n := 1
	if isTuple {
		n = int(p.nodes[params].n)
	}
	if n == 0 {
		return 0
	}
	if !p.labels {
		return p.tupleLabels(params, isTuple)
	}
	named := false
	for i := len(p.stack) - 1; i >= len(p.stack)-n; i-- {
		if i < 0 {
			p.stack = p.stack[:0]
			return 0
		}
		switch p.kind(p.stack[i]) {
		case kIdentifier:
			named = true
		case kFirstElement:
		default: // the labels behind it are used up all the same
			p.stack = p.stack[:i]
			return 0
		}
	}
	labels := p.stack[len(p.stack)-n:]
	p.stack = p.stack[:len(p.stack)-n]
	if !named {
		return p.leaf(kLabelList)
	}
	return p.list(kLabelList, labels)
}

// differentiable gives the attribute of a kind of derivative.
func differentiable(c byte) (string, bool) {
	switch c {
	case 'd':
		return "@differentiable", true
	case 'l':
		return "@differentiable(_linear)", true
	case 'f':
		return "@differentiable(_forward)", true
	case 'r':
		return "@differentiable(reverse)", true
	}
	return "", false
}

// tupleLabels moves the labels of Swift 4, which are names of the elements of
// the tuple, to a list.
func (p *parser) tupleLabels(params ref, isTuple bool) ref {
	if !isTuple {
		return p.leaf(kLabelList)
	}
	list := p.scratch[:0]
	named := false
	for i := range int(p.nodes[params].n) {
		element := p.kid(params, i)
		name := p.find(element, kTupleName)
		if name == 0 {
			list = append(list, p.leaf(kFirstElement))
			continue
		}
		named = true
		list = append(list, p.rekind(name, kIdentifier))
		rest := p.kids[p.nodes[element].val:][:0]
		for _, kid := range p.children(element) {
			if kid != name {
				rest = append(rest, kid)
			}
		}
		p.nodes[element].n = int32(len(rest))
	}
	if p.scratch = list; !named {
		return p.leaf(kLabelList)
	}
	return p.list(kLabelList, list)
}
