package swift

// functionType takes what makes a function type, last part first, to a node
// of its effects, its parameters and its result.
func (p *parser) functionType(k kind, clang bool) ref {
	var parts [9]ref
	if clang {
		parts[0] = p.clangType()
	}
	parts[1] = p.pop(kSendingResult)
	for _, isolation := range [...]kind{kGlobalActor, kIsolatedAny, kNonisolatedCaller} {
		if parts[2] == 0 {
			parts[2] = p.pop(isolation)
		}
	}
	parts[3] = p.pop(kDifferentiable)
	if parts[4] = p.pop(kThrows); parts[4] == 0 {
		parts[4] = p.pop(kTypedThrows)
	}
	parts[5] = p.pop(kConcurrent)
	parts[6] = p.pop(kAsync)
	parts[7] = p.parameters(kArguments)
	parts[8] = p.parameters(kReturn)
	if parts[7] == 0 || parts[8] == 0 {
		return 0
	}
	return p.typed(p.some(k, parts[:]...))
}

// parameters takes the type of the parameters, or of the result; "y" is none.
func (p *parser) parameters(k kind) ref {
	if p.pop(kEmptyList) != 0 {
		return p.make(k, p.typed(p.leaf(kTuple)))
	}
	return p.make(k, p.pop(kType))
}

// function reads a plain function.
func (p *parser) function() ref {
	sig := p.pop(kSignature)
	t := p.functionType(kFunctionType, false)
	if t == 0 {
		return 0
	}
	labels := p.parameterLabels(t)
	if sig != 0 {
		t = p.typed(p.make(kDependentType, sig, t))
	}
	return p.declaration(kFunction, labels, t)
}

// entity reads a declaration with a type behind its name.
func (p *parser) entity(k kind) ref {
	t := p.pop(kType)
	return p.declaration(k, p.parameterLabels(t), t)
}

func (p *parser) declaration(k kind, labels, t ref) ref {
	name := p.popFlag(fName)
	context := p.popContext()
	if context == 0 || name == 0 || t == 0 {
		return 0
	}
	return p.some(k, context, name, labels, t)
}

func (p *parser) subscript() ref {
	file := p.pop(kPrivateName)
	t := p.pop(kType)
	labels := p.parameterLabels(t)
	context := p.popContext()
	if context == 0 || t == 0 {
		return 0
	}
	return p.accessor(p.some(kSubscript, context, labels, t, file))
}

var accessors = [128]kind{
	'm': kMaterialize, 's': kSetter, 'g': kGetter, 'G': kGetter, 'w': kWillSet, 'W': kDidSet,
	'r': kRead, 'y': kRead2, 'M': kModify, 'x': kModify2, 'i': kInitAccessor, 'b': kBorrow, 'z': kMutate,
}

var mutableAddressors = [128]kind{
	'O': kOwningMutableAddressor, 'o': kNativeOwningMutableAddressor, 'P': kNativePinningMutableAddressor, 'u': kUnsafeMutableAddressor,
}

var addressors = [128]kind{
	'O': kOwningAddressor, 'o': kNativeOwningAddressor, 'p': kNativePinningAddressor, 'u': kUnsafeAddressor,
}

// accessor reads which accessor of a variable or subscript is meant; "p" the
// declaration itself.
func (p *parser) accessor(of ref) ref {
	table := &accessors
	c := p.next()
	switch c {
	case 'p':
		return of
	case 'a':
		table, c = &mutableAddressors, p.next()
	case 'l':
		table, c = &addressors, p.next()
	}
	if int(c) >= len(table) || table[c] == kNone {
		return 0
	}
	return p.make(table[c], of)
}

// functionEntity reads a function that has no name of its own.
func (p *parser) functionEntity() ref {
	switch c := p.next(); c {
	case 'D':
		return p.make(kDeallocator, p.popContext())
	case 'd':
		return p.make(kDestructor, p.popContext())
	case 'Z':
		return p.make(kIsolatedDeallocator, p.popContext())
	case 'E':
		return p.make(kIVarDestroyer, p.popContext())
	case 'e':
		return p.make(kIVarInitializer, p.popContext())
	case 'i':
		return p.make(kInitializer, p.popContext())
	case 'P':
		return p.make(kWrapperBacking, p.popContext())
	case 'F':
		return p.make(kWrapperField, p.popContext())
	case 'W':
		return p.make(kWrapperProjected, p.popContext())
	case 'C':
		return p.constructor(kAllocator)
	case 'c':
		return p.constructor(kConstructor)
	case 'U':
		return p.closure(kExplicitClosure)
	case 'u':
		return p.closure(kImplicitClosure)
	case 'A':
		number := p.index(kIndex, p.ordinal())
		return p.make(kDefaultArgument, p.popContext(), number)
	case 'm':
		return p.entity(kMacro)
	case 'p':
		return p.entity(kTypeParam)
	case 'M':
		return p.expansion()
	}
	return 0
}

func (p *parser) constructor(k kind) ref {
	file := p.pop(kPrivateName)
	t := p.pop(kType)
	labels := p.parameterLabels(t)
	context := p.popContext()
	if context == 0 || t == 0 {
		return 0
	}
	return p.some(k, context, labels, t, file)
}

func (p *parser) closure(k kind) ref {
	number := p.index(kIndex, p.ordinal())
	t := p.pop(kType)
	return p.make(k, p.popContext(), number, t)
}

var attachedMacros = [128]kind{
	'a': kMacroAccessor, 'r': kMacroMemberAttribute, 'm': kMacroMember, 'p': kMacroPeer,
	'c': kMacroConformance, 'e': kMacroExtension, 'q': kMacroPreamble, 'b': kMacroBody,
}

// expansion reads the expansion of a macro.
func (p *parser) expansion() ref {
	c := p.next()
	k := kNone
	switch {
	case c == 'f':
		k = kMacroFreestanding
	case c == 'u':
		k = kMacroUnique
	case c == 'X':
		line, column := p.ordinal(), p.ordinal()
		buffer := p.pop(kIdentifier)
		return p.make(kMacroLocation, p.pop(kIdentifier), buffer, p.number(kIndex, uint64(line)), p.number(kIndex, uint64(column)))
	case int(c) < len(attachedMacros):
		k = attachedMacros[c]
	}
	if k == kNone {
		return 0
	}
	var file, attached ref
	macro := p.pop(kIdentifier)
	if k == kMacroFreestanding {
		file = p.pop(kPrivateName)
	} else if k != kMacroUnique {
		attached = p.popFlag(fName)
	}
	context := p.popFlag(fExpansion)
	if context == 0 {
		context = p.popContext()
	}
	number := p.index(kIndex, p.ordinal())
	if context == 0 || macro == 0 || number == 0 {
		return 0
	}
	return p.some(k, context, attached, macro, number, file)
}

// annotation reads an annotation of a function type or of a parameter.
func (p *parser) annotation() ref {
	switch p.next() {
	case 'a':
		return p.leaf(kAsync)
	case 'A':
		return p.leaf(kIsolatedAny)
	case 'b':
		return p.leaf(kConcurrent)
	case 'c':
		return p.make(kGlobalActor, p.popTypeContent())
	case 'C':
		return p.leaf(kNonisolatedCaller)
	case 'i':
		return p.typed(p.make(kIsolated, p.popTypeContent()))
	case 'j':
		if word, ok := differentiable(p.next()); ok {
			return p.text(kDifferentiable, word)
		}
		return 0
	case 'k':
		return p.typed(p.make(kNoDerivative, p.popTypeContent()))
	case 'K':
		return p.make(kTypedThrows, p.popTypeContent())
	case 't':
		return p.typed(p.make(kConstLiteral, p.popTypeContent()))
	case 'g':
		return p.typed(p.make(kConstValue, p.popTypeContent()))
	case 'T':
		return p.leaf(kSendingResult)
	case 'u':
		return p.typed(p.make(kSending, p.popTypeContent()))
	}
	return 0
}
