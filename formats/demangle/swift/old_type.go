package swift

import "strconv"

func (p *parser) oldType() ref { return p.typed(p.oldBareType()) }

func (p *parser) oldBareType() ref {
	if !p.deeper() {
		return 0
	}
	defer func() { p.depth-- }()
	switch c := p.next(); c {
	case 'B':
		return p.oldBuiltin()
	case 'a':
		return p.oldDeclaration(kTypeAlias)
	case 'b':
		return p.oldFunctionType(kBlockType)
	case 'c':
		return p.oldFunctionType(kCPointerType)
	case 'D':
		return p.make(kDynamicSelf, p.oldType())
	case 'E':
		if p.acceptAll("RR") {
			return p.leaf(kErrorType)
		}
	case 'F':
		return p.oldFunctionType(kFunctionType)
	case 'f':
		return p.oldFunctionType(kUncurriedType)
	case 'G':
		return p.oldBound()
	case 'K':
		return p.oldFunctionType(kAutoClosureType)
	case 'M':
		return p.make(kMetatype, p.oldType())
	case 'P':
		if p.accept('M') {
			return p.make(kExistentialMetatype, p.oldType())
		}
		return p.oldProtocolList()
	case 'Q':
		if p.accept('u') {
			return p.leaf(kOpaqueReturn)
		}
		return p.oldArchetype()
	case 'q':
		if c := p.peek(); c != 'd' && c != '_' && !digit(c) {
			base := p.oldType()
			if base == 0 {
				return 0
			}
			return p.oldAssociated(base)
		}
		return p.oldParam()
	case 'x':
		return p.param(0, 0)
	case 'w':
		base := p.typed(p.oldParam())
		if base == 0 {
			return 0
		}
		return p.oldAssociated(base)
	case 'W':
		return p.oldAssociatedPath()
	case 'R':
		return p.make(kInOut, p.oldBareType())
	case 'k':
		return p.make(kNoDerivative, p.oldBareType())
	case 'S':
		return p.oldSubstitution()
	case 'T':
		return p.oldTuple(false)
	case 't':
		return p.oldTuple(true)
	case 'u':
		sig := p.oldSignature(kSignature)
		if sig == 0 {
			return 0
		}
		return p.make(kDependentType, sig, p.oldType())
	case 'X':
		return p.oldSpecialType()
	case 'C':
		return p.oldDeclaration(kClass)
	case 'V':
		return p.oldDeclaration(kStructure)
	case 'O':
		return p.oldDeclaration(kEnum)
	}
	return 0
}

// oldSpecialType reads the types behind "X".
func (p *parser) oldSpecialType() ref {
	switch p.next() {
	case 'b':
		return p.make(kSILBox, p.oldType())
	case 'B':
		return p.oldBox()
	case 'M':
		representation := p.representation()
		if representation == 0 {
			return 0
		}
		return p.make(kMetatype, representation, p.oldType())
	case 'P':
		if !p.accept('M') {
			return p.oldProtocolList()
		}
		representation := p.representation()
		if representation == 0 {
			return 0
		}
		return p.make(kExistentialMetatype, representation, p.oldType())
	case 'f':
		return p.oldFunctionType(kThinType)
	case 'o':
		return p.make(kUnowned, p.oldType())
	case 'u':
		return p.make(kUnmanaged, p.oldType())
	case 'w':
		return p.make(kWeak, p.oldType())
	case 'F':
		return p.oldImplFunction()
	}
	return 0
}

func (p *parser) oldBuiltin() ref {
	size := func(prefix string) ref {
		if n := p.natural(); n >= 0 && p.accept('_') {
			return p.text(kBuiltin, prefix+strconv.Itoa(n))
		}
		return 0
	}
	switch c := p.next(); c {
	case 'f':
		return size("Builtin.FPIEEE")
	case 'i':
		return size("Builtin.Int")
	case 'v':
		n := p.natural()
		if n < 0 || !p.accept('B') {
			return 0
		}
		vector := "Builtin.Vec" + strconv.Itoa(n)
		switch p.next() {
		case 'i':
			return size(vector + "xInt")
		case 'f':
			return size(vector + "xFloat")
		case 'p':
			return p.text(kBuiltin, vector+"xRawPointer")
		}
	case 'b', 'B', 'O', 'o', 'p', 't', 'w':
		return p.text(kBuiltin, builtins[c])
	}
	return 0
}

func (p *parser) oldFunctionType(k kind) ref {
	var parts [7]ref
	if p.accept('z') {
		parts[0] = p.leaf(kThrows)
	}
	if p.accept('y') {
		parts[1] = p.leaf(kConcurrent)
	}
	if p.accept('Z') {
		parts[2] = p.leaf(kAsync)
	}
	if p.accept('D') {
		word, ok := differentiable(p.next())
		if !ok {
			return 0
		}
		parts[3] = p.text(kDifferentiable, word)
	}
	if p.accept('Y') {
		if parts[4] = p.make(kGlobalActor, p.oldType()); parts[4] == 0 {
			return 0
		}
	}
	if parts[5] = p.make(kArguments, p.oldType()); parts[5] == 0 {
		return 0
	}
	if parts[6] = p.make(kReturn, p.oldType()); parts[6] == 0 {
		return 0
	}
	return p.some(k, parts[:]...)
}

func (p *parser) oldTuple(variadic bool) ref {
	tuple := p.oldList(kTuple, func(p *parser) ref {
		var name ref
		if c := p.peek(); digit(c) || c == 'o' {
			if name = p.oldIdentifier(kTupleName); name == 0 {
				return 0
			}
		}
		t := p.oldType()
		if t == 0 {
			return 0
		}
		return p.some(kTupleElement, name, t)
	})
	if tuple == 0 || !variadic || p.nodes[tuple].n == 0 {
		return tuple
	}
	last := p.with(p.last(tuple), p.leaf(kVariadic))
	p.kids[p.nodes[tuple].val+uint64(p.nodes[tuple].n)-1] = last
	return tuple
}

func (p *parser) oldProtocolList() ref {
	return p.make(kProtocolList, p.oldList(kTypeList, (*parser).oldProtocol))
}

func (p *parser) oldArchetype() ref {
	var root ref
	switch p.next() {
	case 'Q':
		if !p.deeper() {
			return 0
		}
		root = p.oldArchetype()
		p.depth--
	case 'S':
		root = p.oldSubstitution()
	case 's':
		root = p.text(kModule, stdlib)
	}
	if root == 0 {
		return 0
	}
	return p.remember(p.make(kAssociatedTypeRef, root, p.oldIdentifier(kNone)))
}

// oldBox reads a box of the compiler's middle with its fields.
func (p *parser) oldBox() ref {
	var sig, arguments ref
	if p.accept('G') {
		if sig = p.oldSignature(kSignature); sig == 0 {
			return 0
		}
	}
	layout := p.oldList(kSILBoxLayout, func(p *parser) ref {
		switch p.next() {
		case 'm':
			return p.make(kSILBoxVar, p.oldType())
		case 'i':
			return p.make(kSILBoxLet, p.oldType())
		}
		return 0
	})
	if layout != 0 && sig != 0 {
		if arguments = p.oldList(kTypeList, (*parser).oldType); arguments == 0 {
			return 0
		}
	}
	if layout == 0 {
		return 0
	}
	return p.some(kSILBoxWithLayout, layout, sig, arguments)
}
