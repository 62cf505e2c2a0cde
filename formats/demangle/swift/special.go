package swift

// specialType reads the types behind "X".
func (p *parser) specialType() ref {
	switch c := p.next(); c {
	case 'E':
		return p.functionType(kNoEscapeType, false)
	case 'A', 'K':
		return p.functionType(kAutoClosureType, false)
	case 'f':
		return p.functionType(kThinType, false)
	case 'U':
		return p.functionType(kUncurriedType, false)
	case 'L':
		return p.functionType(kEscapingBlockType, false)
	case 'B':
		return p.functionType(kBlockType, false)
	case 'C':
		return p.functionType(kCPointerType, false)
	case 'z':
		switch p.next() {
		case 'B':
			return p.functionType(kBlockType, true)
		case 'C':
			return p.functionType(kCPointerType, true)
		}
	case 'g':
		return p.make(kExistentialShape, p.pop(kType))
	case 'G':
		t := p.pop(kType)
		if sig := p.pop(kSignature); sig != 0 {
			return p.make(kExistentialShape, sig, t)
		}
		return p.make(kExistentialShape, t)
	case 'o':
		return p.typed(p.make(kUnowned, p.pop(kType)))
	case 'u':
		return p.typed(p.make(kUnmanaged, p.pop(kType)))
	case 'w':
		return p.typed(p.make(kWeak, p.pop(kType)))
	case 'b':
		return p.typed(p.make(kSILBox, p.pop(kType)))
	case 'D':
		return p.typed(p.make(kDynamicSelf, p.pop(kType)))
	case 'M':
		representation := p.representation()
		return p.typed(p.make(kMetatype, representation, p.pop(kType)))
	case 'm':
		representation := p.representation()
		return p.typed(p.make(kExistentialMetatype, representation, p.pop(kType)))
	case 'p':
		return p.typed(p.make(kExistentialMetatype, p.pop(kType)))
	case 'P':
		requirements := p.constrainedRequirements()
		return p.typed(p.make(kConstrainedExistential, p.pop(kType), requirements))
	case 'c':
		superclass := p.pop(kType)
		return p.typed(p.make(kProtocolListClass, p.protocolList(), superclass))
	case 'l':
		return p.typed(p.make(kProtocolListAny, p.protocolList()))
	case 'X', 'x':
		return p.box(c == 'X')
	case 'Y':
		return p.nominal(kOtherNominal)
	case 'Z':
		types := p.typeList()
		name := p.pop(kIdentifier)
		return p.make(kAnonymousContext, name, p.popContext(), types)
	case 'e':
		return p.typed(p.leaf(kErrorType))
	case 'S':
		return p.sugar()
	}
	return 0
}

// sugar reads a type as the debugger shows it.
func (p *parser) sugar() ref {
	switch p.next() {
	case 'q':
		return p.typed(p.make(kSugarOptional, p.pop(kType)))
	case 'a':
		return p.typed(p.make(kSugarArray, p.pop(kType)))
	case 'A':
		element := p.pop(kType)
		return p.typed(p.make(kSugarInlineArray, p.pop(kType), element))
	case 'D':
		value := p.pop(kType)
		return p.typed(p.make(kSugarDictionary, p.pop(kType), value))
	case 'p':
		return p.typed(p.make(kSugarParen, p.pop(kType)))
	}
	return 0
}

func (p *parser) representation() ref {
	switch p.next() {
	case 't':
		return p.text(kText, "@thin")
	case 'T':
		return p.text(kText, "@thick")
	case 'o':
		return p.text(kText, "@objc_metatype")
	}
	return 0
}

func (p *parser) protocolList() ref {
	return p.make(kProtocolList, p.popList(kTypeList, (*parser).popProtocol))
}

// constrainedRequirements takes the requirements of an existential type; there
// is one at least.
func (p *parser) constrainedRequirements() ref {
	return p.popSome(kConstrainedRequirements, func(p *parser) ref { return p.popFlag(fRequirement) })
}

// box reads a box of the compiler's middle: its fields. The fields that
// can change are marked as inout.
func (p *parser) box(generic bool) ref {
	var sig, arguments ref
	if generic {
		if sig = p.pop(kSignature); sig == 0 {
			return 0
		}
		if arguments = p.typeList(); arguments == 0 {
			return 0
		}
	}
	types := p.typeList()
	if types == 0 {
		return 0
	}
	var few [8]ref
	fields := few[:0]
	for i := range int(p.nodes[types].n) {
		t := p.kid(types, i)
		if content := p.kid(t, 0); p.kind(content) == kInOut {
			fields = append(fields, p.make(kSILBoxVar, p.typed(p.kid(content, 0))))
		} else {
			fields = append(fields, p.make(kSILBoxLet, t))
		}
	}
	layout := p.list(kSILBoxLayout, fields)
	return p.typed(p.some(kSILBoxWithLayout, layout, sig, arguments))
}
