package swift

import ()

// prefixes of the manglings that the parser reads. "$e" is Embedded Swift.
var prefixes = [...]string{"_$s", "$s", "_T0", "_$S", "$S", "_$e", "$e", "@__swiftmacro_"}

// prefix is the length of a mangling's prefix, 0 if the name has none.
func prefix(name string) int {
	for _, p := range prefixes {
		if len(name) >= len(p) && name[:len(p)] == p {
			return len(p)
		}
	}
	return 0
}

// symbol reads a whole symbol, which begins with a prefix of n bytes, to a
// tree; none if it is no such symbol.
func (p *parser) symbol(name string, n int) ref {
	p.reset()
	p.stack, p.subst, p.words, p.depth = p.stack[:0], p.subst[:0], 0, 0
	p.cursor = cursor{in: name, pos: n}
	p.labels = name[:2] != "_T"
	for p.pos < len(p.in) && p.in[p.pos] != 0 {
		r := p.operation()
		if r == 0 || p.over || p.pos < 0 {
			return 0
		}
		p.put(r)
	}
	return p.global(p.pop(kSuffix))
}

// operation reads one operator with its operands.
func (p *parser) operation() ref {
	c := p.next()
	for c == 0xff { // padding before a symbolic reference
		c = p.next()
	}
	switch c {
	case 'A':
		return p.substitutions()
	case 'B':
		return p.builtin()
	case 'C':
		return p.nominal(kClass)
	case 'D':
		return p.typeMangling()
	case 'E':
		return p.extension()
	case 'F':
		return p.function()
	case 'G':
		return p.boundGeneric()
	case 'H':
		return p.conformanceOperation()
	case 'I':
		return p.implFunction()
	case 'K':
		return p.leaf(kThrows)
	case 'L':
		return p.localName()
	case 'M':
		return p.metadata()
	case 'N':
		return p.make(kMetadata, p.pop(kType))
	case 'O':
		return p.nominal(kEnum)
	case 'P':
		return p.nominal(kProtocol)
	case 'Q':
		return p.archetype()
	case 'R':
		return p.requirement()
	case 'S':
		return p.standard()
	case 'T':
		return p.thunk()
	case 'V':
		return p.nominal(kStructure)
	case 'W':
		return p.witness()
	case 'X':
		return p.specialType()
	case 'Y':
		return p.annotation()
	case 'Z':
		return p.make(kStatic, p.popEntity())
	case 'a':
		return p.nominal(kTypeAlias)
	case 'c':
		return p.functionType(kFunctionType, false)
	case 'd':
		return p.leaf(kVariadic)
	case 'f':
		return p.functionEntity()
	case 'g':
		return p.make(kRetroactive, p.index(kIndex, p.ordinal()), p.popFlag(fConformance))
	case 'h':
		return p.typed(p.make(kShared, p.popTypeContent()))
	case 'i':
		return p.subscript()
	case 'l':
		return p.signature(false)
	case 'm':
		return p.typed(p.make(kMetatype, p.pop(kType)))
	case 'n':
		return p.typed(p.make(kOwned, p.popTypeContent()))
	case 'o':
		return p.operator()
	case 'p':
		return p.typed(p.protocolList())
	case 'q':
		return p.typed(p.paramIndex())
	case 'r':
		return p.signature(true)
	case 's':
		return p.text(kModule, stdlib)
	case 't':
		return p.tuple()
	case 'u':
		sig := p.pop(kSignature)
		return p.typed(p.make(kDependentType, sig, p.pop(kType)))
	case 'v':
		return p.accessor(p.entity(kVariable))
	case 'w':
		return p.valueWitness()
	case 'x':
		return p.typed(p.param(0, 0))
	case 'y':
		return p.leaf(kEmptyList)
	case 'z':
		return p.typed(p.make(kInOut, p.popTypeContent()))
	case '_':
		return p.leaf(kFirstElement)
	case '.': // what the compiler's back end added
		p.pos--
		rest := p.in[p.pos:]
		p.pos = len(p.in)
		return p.text(kSuffix, rest)
	case '$':
		return p.integer()
	}
	// Bytes below 32 are references to metadata, by address: only a running
	// process or its image can say what they mean. They end here too.
	p.back()
	return p.identifier()
}
