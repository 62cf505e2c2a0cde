package swift

var thunkRules = [128]rule{
	'c': {kCurryThunk, oEntity},
	'j': {kDispatchThunk, oEntity},
	'q': {kMethodDescriptor, oEntity},
	'S': {kSelfWitness, oEntity},
	'C': {kCoroutineContinuation, oType},
	'l': {kAssociatedTypeDescriptor, oAssociated},
	'L': {kProtocolBase, oProtocol},
	'M': {kDefaultAssociatedType, oAssociated},
}

// attributes stand before the entity of the symbol: they have no operand.
var attributes = [128]kind{
	'o': kObjC, 'O': kNonObjC, 'D': kDynamic, 'd': kDirectMethod, 'E': kDistributedThunk, 'F': kDistributedAccessor,
	'a': kPartialApplyObjC, 'A': kPartialApply, 'm': kMerged, 'X': kReplaceableVar, 'x': kReplaceableKey, 'I': kReplaceableImpl,
	'u': kAsyncPointer,
}

// thunk reads the functions that the compiler made, and specializations.
func (p *parser) thunk() ref {
	c := p.next()
	if int(c) < len(attributes) && attributes[c] != kNone {
		return p.leaf(attributes[c])
	}
	switch c {
	case 'T':
		if p.next() == 'I' {
			return p.make(kIdentityThunk, p.popEntity())
		}
		return 0
	case 'Y':
		return p.make(kSuspendResume, p.index(kIndex, p.ordinal()))
	case 'Q':
		return p.make(kAwaitResume, p.index(kIndex, p.ordinal()))
	case 'z':
		return p.completionHandler(kCompletionHandler)
	case 'Z':
		return p.completionHandler(kCheckedCompletionHandler)
	case 'V':
		base := p.popEntity()
		return p.make(kVTableThunk, p.popEntity(), base)
	case 'W':
		entity := p.popEntity()
		return p.make(kWitness, p.popConformance(), entity)
	case 'R':
		return p.reabstraction(kReabstractionHelper)
	case 'r':
		return p.reabstraction(kReabstraction)
	case 'y':
		return p.reabstraction(kReabstractionSelf)
	case 'U':
		actor := p.pop(kType)
		return p.make(kReabstractionActor, p.popAny(), actor)
	case 'K', 'k':
		return p.keyPath(c)
	case 'H':
		return p.keyPathIndex(kKeyPathEquals)
	case 'h':
		return p.keyPathIndex(kKeyPathHash)
	case 'n':
		return p.associatedConformance(kAssociatedConformanceDescriptor)
	case 'N':
		return p.associatedConformance(kDefaultAssociatedConformance)
	case 'b':
		protocol := p.popProtocol()
		return p.make(kBaseConformance, p.pop(kType), protocol)
	case 'v':
		n := p.ordinal()
		k := kOutlinedVariable
		if p.next() == 'r' {
			k = kOutlinedObject
		}
		return p.index(k, n)
	case 'e':
		return p.bridgedMethod()
	case 'w':
		switch p.next() {
		case 'b':
			return p.leaf(kBackThunk)
		case 'B':
			return p.leaf(kBackFallback)
		case 'c':
			return p.leaf(kCoroPointer)
		case 'd':
			return p.leaf(kDefaultOverride)
		case 'S':
			return p.leaf(kSymbolQuery)
		}
		return 0
	case 'J':
		return p.derivative()
	case 'f', 'g', 'G', 'B', 's', 'i', 'p', 'P', 't':
		return p.specialization(c)
	}
	return p.apply(&thunkRules, c)
}

// completionHandler reads the block that a function of Objective-C calls when
// the Swift function that awaits it may go on.
func (p *parser) completionHandler(k kind) ref {
	mode := p.index(kIndex, p.ordinal())
	sig := p.pop(kSignature)
	result := p.pop(kType)
	impl := p.pop(kType)
	if mode == 0 || result == 0 || impl == 0 {
		return 0
	}
	return p.some(k, impl, result, mode, sig)
}

func (p *parser) reabstraction(k kind) ref {
	sig := p.pop(kSignature)
	var self ref
	if k == kReabstractionSelf {
		self = p.pop(kType)
	}
	to := p.pop(kType)
	return p.some(k, sig, self, to, p.pop(kType))
}

func (p *parser) associatedConformance(k kind) ref {
	protocol := p.popProtocol()
	path := p.associatedNames()
	return p.make(k, p.pop(kType), path, protocol)
}

// popTypes takes all types on top of the stack, in their order.
func (p *parser) popTypes() []ref {
	end := len(p.stack)
	for end > 0 && p.kind(p.stack[end-1]) == kType {
		end--
	}
	p.scratch = append(p.scratch[:0], p.stack[end:]...)
	p.stack = p.stack[:end]
	return p.scratch
}

func (p *parser) keyPath(c byte) ref {
	k := kKeyPathSetter
	switch {
	case p.acceptAll("mu"):
		k = kKeyPathUnapplied
	case p.acceptAll("MA"):
		k = kKeyPathApplied
	case c == 'K':
		k = kKeyPathGetter
	}
	serialized := p.accept('q')
	types := p.popTypes()
	entity := p.popAny()
	if len(types) == 0 || entity == 0 {
		return 0
	}
	var few [8]ref
	parts := few[:0]
	if p.kind(entity) == kSignature {
		sig := entity
		if entity = p.popAny(); entity == 0 {
			return 0
		}
		parts = append(parts, entity, sig)
	} else {
		parts = append(parts, entity)
	}
	parts = append(parts, types...)
	if serialized {
		parts = append(parts, p.leaf(kSerialized))
	}
	return p.list(k, parts)
}

// keyPathIndex reads how the indices of a key path are compared or hashed. The
// types are all that is before it.
func (p *parser) keyPathIndex(k kind) ref {
	serialized := p.accept('q')
	sig := p.pop(kSignature)
	types := p.popTypes()
	if len(p.stack) > 0 || sig == 0 && len(types) == 0 {
		return 0
	}
	if sig != 0 {
		types = append(types, sig)
	}
	if serialized {
		types = append(types, p.leaf(kSerialized))
	}
	p.scratch = types
	return p.list(k, types)
}

// bridgedMethod reads the ownership of what a method of Objective-C is called
// with, a letter each.
func (p *parser) bridgedMethod() ref {
	start := p.pos
	switch p.next() {
	case 'o', 'p', 'a', 'm':
	default:
		return 0
	}
	for !p.accept('_') {
		switch p.next() {
		case 'n', 'b', 'g':
		default:
			return 0
		}
	}
	return p.text(kOutlinedBridged, p.in[start:p.pos-1])
}
