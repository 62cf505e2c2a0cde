package swift

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
