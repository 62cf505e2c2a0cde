package swift

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

// Modules that every program has.
const (
	stdlib      = "Swift"
	objcModule  = "__C"
	clangModule = "__C_Synthesized"
)

// integer reads a type that is a number.
func (p *parser) integer() ref {
	if p.accept('n') {
		return p.typed(p.number(kNegative, uint64(-int64(p.ordinal()))))
	}
	return p.typed(p.number(kInteger, uint64(p.ordinal())))
}

// remember adds a node to the substitutions.
func (p *parser) remember(r ref) ref {
	if r != 0 {
		p.subst = append(p.subst, r)
	}
	return r
}

// maxRepeat bounds how often one operator may push a node.
const maxRepeat = 2048

// substitutions reads references to earlier parts: a letter each, the last in
// upper case, a number before it to repeat it; or a number for the parts that
// have no letter.
func (p *parser) substitutions() ref {
	repeat := -1
	for {
		switch c := p.next(); {
		case c == 0:
			return 0
		case lower(c), upper(c):
			i := int(c - 'a')
			if upper(c) {
				i = int(c - 'A')
			}
			if i >= len(p.subst) || repeat > maxRepeat {
				return 0
			}
			r := p.subst[i]
			for ; repeat > 1; repeat-- {
				p.put(r)
			}
			if upper(c) {
				return r
			}
			p.put(r)
			repeat = -1
		case c == '_':
			if i := repeat + 27; i < len(p.subst) {
				return p.subst[i]
			}
			return 0
		default:
			p.back()
			if repeat = p.natural(); repeat < 0 {
				return 0
			}
		}
	}
}

// swiftType makes a type of the standard library.
func (p *parser) swiftType(k kind, name string) ref {
	return p.make(k, p.text(kModule, stdlib), p.text(kIdentifier, name))
}

// standard reads a substitution for what all programs use.
func (p *parser) standard() ref {
	switch p.next() {
	case 'o':
		return p.text(kModule, objcModule)
	case 'C':
		return p.text(kModule, clangModule)
	case 'g':
		t := p.pop(kType)
		if t == 0 {
			return 0
		}
		optional := p.typed(p.swiftType(kEnum, "Optional"))
		return p.remember(p.typed(p.make(kBoundEnum, optional, p.make(kTypeList, t))))
	}
	p.back()
	repeat := p.natural()
	if repeat > maxRepeat {
		return 0
	}
	table := &standardTypes
	if p.accept('c') {
		table = &concurrencyTypes
	}
	c := p.next()
	if int(c) >= len(table) || table[c].name == "" {
		return 0
	}
	r := p.typed(p.swiftType(table[c].kind, table[c].name))
	for ; repeat > 1; repeat-- {
		p.put(r)
	}
	return r
}

type standardType struct {
	kind kind
	name string
}

var standardTypes = [128]standardType{
	'A': {kStructure, "AutoreleasingUnsafeMutablePointer"},
	'a': {kStructure, "Array"},
	'b': {kStructure, "Bool"},
	'D': {kStructure, "Dictionary"},
	'd': {kStructure, "Double"},
	'f': {kStructure, "Float"},
	'h': {kStructure, "Set"},
	'I': {kStructure, "DefaultIndices"},
	'i': {kStructure, "Int"},
	'J': {kStructure, "Character"},
	'N': {kStructure, "ClosedRange"},
	'n': {kStructure, "Range"},
	'O': {kStructure, "ObjectIdentifier"},
	'P': {kStructure, "UnsafePointer"},
	'p': {kStructure, "UnsafeMutablePointer"},
	'R': {kStructure, "UnsafeBufferPointer"},
	'r': {kStructure, "UnsafeMutableBufferPointer"},
	'S': {kStructure, "String"},
	's': {kStructure, "Substring"},
	'u': {kStructure, "UInt"},
	'V': {kStructure, "UnsafeRawPointer"},
	'v': {kStructure, "UnsafeMutableRawPointer"},
	'W': {kStructure, "UnsafeRawBufferPointer"},
	'w': {kStructure, "UnsafeMutableRawBufferPointer"},
	'q': {kEnum, "Optional"},
	'B': {kProtocol, "BinaryFloatingPoint"},
	'E': {kProtocol, "Encodable"},
	'e': {kProtocol, "Decodable"},
	'F': {kProtocol, "FloatingPoint"},
	'G': {kProtocol, "RandomNumberGenerator"},
	'H': {kProtocol, "Hashable"},
	'j': {kProtocol, "Numeric"},
	'K': {kProtocol, "BidirectionalCollection"},
	'k': {kProtocol, "RandomAccessCollection"},
	'L': {kProtocol, "Comparable"},
	'l': {kProtocol, "Collection"},
	'M': {kProtocol, "MutableCollection"},
	'm': {kProtocol, "RangeReplaceableCollection"},
	'Q': {kProtocol, "Equatable"},
	'T': {kProtocol, "Sequence"},
	't': {kProtocol, "IteratorProtocol"},
	'U': {kProtocol, "UnsignedInteger"},
	'X': {kProtocol, "RangeExpression"},
	'x': {kProtocol, "Strideable"},
	'Y': {kProtocol, "RawRepresentable"},
	'y': {kProtocol, "StringProtocol"},
	'Z': {kProtocol, "SignedInteger"},
	'z': {kProtocol, "BinaryInteger"},
}

var concurrencyTypes = [128]standardType{
	'A': {kProtocol, "Actor"},
	'C': {kStructure, "CheckedContinuation"},
	'c': {kStructure, "UnsafeContinuation"},
	'E': {kStructure, "CancellationError"},
	'e': {kStructure, "UnownedSerialExecutor"},
	'F': {kProtocol, "Executor"},
	'f': {kProtocol, "SerialExecutor"},
	'G': {kStructure, "TaskGroup"},
	'g': {kStructure, "ThrowingTaskGroup"},
	'h': {kProtocol, "TaskExecutor"},
	'I': {kProtocol, "AsyncIteratorProtocol"},
	'i': {kProtocol, "AsyncSequence"},
	'J': {kStructure, "UnownedJob"},
	'M': {kClass, "MainActor"},
	'P': {kStructure, "TaskPriority"},
	'S': {kStructure, "AsyncStream"},
	's': {kStructure, "AsyncThrowingStream"},
	'T': {kStructure, "Task"},
	't': {kStructure, "UnsafeCurrentTask"},
}
