package swift

// operand says what a rule takes from the stack.
type operand uint8

const (
	oType operand = iota
	oAny
	oProtocol
	oConformance
	oEntity
	oAssociated
)

// rule is an operator with one operand.
type rule struct {
	kind    kind
	operand operand
}

// apply makes the node of a rule, none if the table has no such rule.
func (p *parser) apply(table *[128]rule, c byte) ref {
	if int(c) >= len(table) || table[c].kind == kNone {
		return 0
	}
	var r ref
	switch table[c].operand {
	case oType:
		r = p.pop(kType)
	case oAny:
		r = p.popAny()
	case oProtocol:
		r = p.popProtocol()
	case oConformance:
		r = p.popConformance()
	case oEntity:
		r = p.popEntity()
	case oAssociated:
		r = p.associatedName()
	}
	return p.make(table[c].kind, r)
}

var metadataRules = [128]rule{
	'a': {kMetadataAccessor, oType},
	'A': {kReflectionAssociated, oConformance},
	'b': {kMetadataCanonicalAccessor, oType},
	'B': {kReflectionBuiltin, oType},
	'c': {kConformanceDescriptor, oConformance},
	'D': {kMetadataDemanglingCache, oType},
	'f': {kMetadataFull, oType},
	'F': {kReflectionField, oType},
	'g': {kOpaqueAccessor, oAny},
	'h': {kOpaqueAccessorImpl, oAny},
	'i': {kMetadataInstantiation, oType},
	'I': {kMetadataInstantiationCache, oType},
	'j': {kOpaqueAccessorKey, oAny},
	'J': {kMetadataNoncanonicalCache, oAny},
	'k': {kOpaqueAccessorVar, oAny},
	'K': {kInstantiationCache, oAny},
	'l': {kMetadataSingletonCache, oType},
	'L': {kMetadataLazyCache, oType},
	'm': {kMetaclass, oType},
	'M': {kMetaclassCanonical, oType},
	'n': {kNominalDescriptor, oType},
	'N': {kMetadataNoncanonical, oType},
	'o': {kClassBaseOffset, oType},
	'p': {kProtocolDescriptor, oProtocol},
	'P': {kMetadataPattern, oType},
	'q': {kUniquable, oAny},
	'Q': {kOpaqueDescriptor, oAny},
	'r': {kMetadataCompletion, oType},
	's': {kObjCStub, oType},
	'S': {kSelfDescriptor, oProtocol},
	't': {kObjCStubFull, oType},
	'u': {kMethodLookup, oType},
	'U': {kObjCUpdate, oType},
	'V': {kPropertyDescriptor, oEntity},
	'z': {kMetadataCanonicalOnce, oType},
}

// metadata reads the metadata of types and the descriptors.
func (p *parser) metadata() ref {
	c := p.next()
	switch c {
	case 'C':
		return p.make(kReflectionSuper, p.popNominal())
	case 'X':
		return p.contextDescriptor()
	}
	return p.apply(&metadataRules, c)
}

func (p *parser) contextDescriptor() ref {
	switch p.next() {
	case 'E':
		return p.make(kExtensionDescriptor, p.popContext())
	case 'M':
		return p.make(kModuleDescriptor, p.popModule())
	case 'Y':
		name := p.popAny()
		return p.make(kAnonymousDescriptor, p.popContext(), name)
	case 'X':
		return p.make(kAnonymousDescriptor, p.popContext())
	case 'A':
		path := p.associatedNames()
		return p.make(kAssociatedParamRef, p.pop(kType), path)
	}
	return 0
}

var witnessRules = [128]rule{
	'C': {kEnumCase, oEntity},
	'V': {kValueWitnessTable, oType},
	'S': {kWitnessTableSelf, oProtocol},
	'P': {kWitnessTable, oConformance},
	'p': {kWitnessTablePattern, oConformance},
	'G': {kWitnessTableGeneric, oConformance},
	'I': {kWitnessTableInstantiation, oConformance},
	'r': {kWitnessTableResilient, oConformance},
	'a': {kWitnessTableAccessor, oConformance},
}

var outlined = [128]kind{
	'B': kOutlinedInitTake, 'C': kOutlinedInitCopy, 'D': kOutlinedAssignTake, 'F': kOutlinedAssignCopy, 'H': kOutlinedDestroy,
	'b': kOutlinedInitTake, 'c': kOutlinedInitCopy, 'd': kOutlinedAssignTake, 'f': kOutlinedAssignCopy, 'h': kOutlinedDestroy,
	'y': kOutlinedCopy, 'e': kOutlinedConsume, 'r': kOutlinedRetain, 's': kOutlinedRelease,
	'g': kOutlinedEnumGet, 'i': kOutlinedEnumStore, 'j': kOutlinedEnumProject,
}

// witness reads the witness tables and what the compiler outlines.
func (p *parser) witness() ref {
	switch c := p.next(); c {
	case 'v':
		word := ""
		switch p.next() {
		case 'd':
			word = "direct"
		case 'i':
			word = "indirect"
		default:
			return 0
		}
		return p.make(kFieldOffset, p.text(kText, word), p.popEntity())
	case 'l':
		conformance := p.popConformance()
		return p.make(kWitnessTableLazy, p.pop(kType), conformance)
	case 'L':
		conformance := p.popConformance()
		return p.make(kWitnessTableLazyCache, p.pop(kType), conformance)
	case 't':
		name := p.popFlag(fName)
		return p.make(kAssociatedTypeAccessor, p.popConformance(), name)
	case 'T':
		protocol := p.pop(kType)
		path := p.associatedNames()
		return p.make(kAssociatedWitnessAccessor, p.popConformance(), path, protocol)
	case 'b':
		protocol := p.pop(kType)
		return p.make(kBaseWitnessAccessor, p.popConformance(), protocol)
	case 'O':
		return p.outlinedOperation()
	case 'Z':
		return p.once(kOnceFunction)
	case 'z':
		return p.once(kOnceToken)
	case 'J':
		return p.derivativeWitness()
	default:
		return p.apply(&witnessRules, c)
	}
}

func (p *parser) outlinedOperation() ref {
	c := p.next()
	if int(c) >= len(outlined) || outlined[c] == kNone {
		return 0
	}
	if (c == 'i' || c == 'j') && p.ordinal() < 0 { // the number of the case, which is not shown
		return 0
	}
	sig := p.pop(kSignature)
	t := p.pop(kType)
	if t == 0 {
		return 0
	}
	return p.some(outlined[c], t, sig)
}

// once reads the initialization of global variables.
func (p *parser) once(k kind) ref {
	end := len(p.stack)
	list := p.scratch[:0]
	for end > 1 && p.kind(p.stack[end-1]) == kFirstElement {
		if !p.is(p.stack[end-2], fName) {
			return 0
		}
		end -= 2
	}
	for i := end; i < len(p.stack); i += 2 {
		list = append(list, p.stack[i])
	}
	p.scratch, p.stack = list, p.stack[:end]
	names := p.list(kOnceList, list)
	return p.make(k, p.popContext(), names)
}

var valueWitnesses = map[string]string{
	"al": "allocateBuffer", "ca": "assignWithCopy", "ta": "assignWithTake", "de": "deallocateBuffer", "xx": "destroy",
	"XX": "destroyBuffer", "Xx": "destroyArray", "CP": "initializeBufferWithCopyOfBuffer", "Cp": "initializeBufferWithCopy",
	"cp": "initializeWithCopy", "Tk": "initializeBufferWithTake", "tk": "initializeWithTake", "pr": "projectBuffer",
	"TK": "initializeBufferWithTakeOfBuffer", "Cc": "initializeArrayWithCopy", "Tt": "initializeArrayWithTakeFrontToBack",
	"tT": "initializeArrayWithTakeBackToFront", "xs": "storeExtraInhabitant", "xg": "getExtraInhabitantIndex", "ug": "getEnumTag",
	"up": "destructiveProjectEnumData", "ui": "destructiveInjectEnumTag", "et": "getEnumTagSinglePayload", "st": "storeEnumTagSinglePayload",
}

func (p *parser) valueWitness() ref {
	code, ok := p.take(2)
	if name := valueWitnesses[code]; ok && name != "" {
		return p.make(kValueWitness, p.text(kText, name), p.pop(kType))
	}
	return 0
}
