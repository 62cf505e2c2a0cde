package dwarf

import ()

// class is what an entry is to the walker.
type class uint8

const (
	classNone     class = iota // skipped
	classNote                  // a function without code, with a name that needs its scopes
	classFunction              // a function with code
	classInline                // an inlined function with code
	classBad                   // a form is unknown: entries of it cannot be skipped
)

type abbrev struct {
	class    class
	children uint8  // 1: a level begins
	bare     bool   // a function with a name, but no linkage name here or elsewhere
	fixed    int32  // bytes of an entry behind its code, -1: run the skip program
	has      uint32 // of fixed entries: the slots that the read program fills
	sibling  int32  // of a type: where behind the code it says what follows its children, -1: nowhere
	skip     uint32 // start of the skip program, up to opEnd
	read     uint32 // start of the read program
	reads    uint32 // its length
	tag      uint32
	code     uint64
}

// readStep is one step of a read program: bytes to pass over, then a value of
// the form, kept in the slot (0: none). Of fixed entries, skip is from behind the
// code instead, and every step has a slot of its own: any order will do.
type readStep struct {
	skip  uint32
	form  uint8
	slot  uint8
	size  int8  // of the form, -1: varies
	konst int64 // the value of formImplicitConst and formFlagPresent, else 0
}

type abbrevs struct {
	list  []abbrev
	brief [2]brief         // the needs of skim; of units with scoped names the second
	index map[uint64]int32 // when codes are not 1, 2, 3, …
	skips []uint32
	reads []readStep
	bytes int // of the section

	shape shape // of sizes
	sizes [formAddrx4 + 1]int8
}

// shape is what the size of forms depends on.
type shape struct {
	version  uint16
	addrSize uint8
	offSize  uint8
}

// The attributes that are read, each in a slot of attrs. Slot 0 stands for
// all others.
const (
	slotNone = iota
	slotName
	slotLinkage
	slotLow
	slotHigh
	slotRanges
	slotOrigin
	slotSpecification
	slotCallFile
	slotCallLine
	slotCallColumn
	slotStmtList
	slotCompDir
	slotLanguage
	slotStrOffsetsBase
	slotAddrBase
	slotRnglistsBase
	slotDwoName
	slotDwoID
	slotRangesBase
	slots
)

func slotOf(attr uint64) uint8 {
	switch attr {
	case atName:
		return slotName
	case atLinkageName, atMIPSLinkage:
		return slotLinkage
	case atLowPC:
		return slotLow
	case atHighPC:
		return slotHigh
	case atRanges:
		return slotRanges
	case atAbstractOrigin:
		return slotOrigin
	case atSpecification:
		return slotSpecification
	case atCallFile:
		return slotCallFile
	case atCallLine:
		return slotCallLine
	case atCallColumn:
		return slotCallColumn
	case atStmtList:
		return slotStmtList
	case atCompDir:
		return slotCompDir
	case atLanguage:
		return slotLanguage
	case atStrOffsetsBase:
		return slotStrOffsetsBase
	case atAddrBase, atGNUAddrBase:
		return slotAddrBase
	case atRnglistsBase:
		return slotRnglistsBase
	case atDwoName, atGNUDwoName:
		return slotDwoName
	case atGNUDwoID:
		return slotDwoID
	case atGNURangesBase:
		return slotRangesBase
	}
	return slotNone
}

// shortSlots are the slots of the attributes below 0x78, which most are.
var shortSlots = func() (slots [0x78]uint8) {
	for attr := range slots {
		slots[attr] = slotOf(uint64(attr))
	}
	return slots
}()

// A skip step: fixed bytes to pass over (upper 24 bits), then what to do.
const (
	opEnd uint32 = iota
	opFixed
	opLEB
	opString
	opBlock1
	opBlock2
	opBlock4
	opBlock
	opIndirect
)

func skipOp(form uint8) uint32 {
	switch form {
	case formBlock1:
		return opBlock1
	case formBlock2:
		return opBlock2
	case formBlock4:
		return opBlock4
	case formBlock, formExprloc:
		return opBlock
	case formString:
		return opString
	case formIndirect:
		return opIndirect
	}
	return opLEB
}

// brief says of the codes of a table what it takes to skip their entries, code
// and all: bytes in the upper 24 bits, and how much deeper the next entry is
// in the lower 8. Steps that take more say what there: briefJump of steps whose
// children can be skipped with them, the bytes being those before the offset of
// what follows; briefVary of varying steps, with the start of their skip
// program; briefNote of functions that are noted. It is small, so that it stays
// in the fastest cache, and one comparison is all it asks for.
type brief struct {
	short [256]uint32 // by the first byte, which of codes from 0x80 on is the code where the second is 1
	long  []uint32    // by code-0x100
}

// A step that is not plain leads out of the levels below skimDepth, in which skim moves. Its last bit is how much
// deeper the next entry is.
const (
	briefShift = 8
	briefNull  = 1<<briefShift | 0xff // the end of a level
	briefStop  = 0x80
	briefJump  = 0x82
	briefVary  = 0x84
	briefNote  = 0x86
	skimDepth  = 120
)

func (t *brief) reset() {
	for i := range t.short {
		t.short[i] = briefStop
	}
	t.short[0], t.long = briefNull, t.long[:0]
}

// add adds the next code. With scoped, names have scopes: what stands in types is not passed over, and functions are noted.
func (t *brief) add(a *abbrev, scoped bool) {
	what, code := uint32(briefStop), int32(1)
	if a.code >= 0x80 {
		code = 2
	}
	switch {
	case a.class != classNone && a.class != classNote:
	case a.class == classNote && scoped:
		if a.fixed >= 0 {
			what = uint32(a.fixed+code)<<briefShift | briefNote | uint32(a.children)
		}
	case a.sibling >= 0 && !scoped:
		what = uint32(a.sibling+code)<<briefShift | briefJump
	case a.fixed >= 0:
		what = uint32(a.fixed+code)<<briefShift | uint32(a.children)
	case a.skip < 1<<(32-briefShift):
		what = a.skip<<briefShift | briefVary | uint32(a.children)
	}
	switch {
	case a.code < 0x100:
		t.short[a.code] = what
	case a.code < 0x4000: // two bytes
		t.long = append(t.long, what)
	}
}

// typeOnly reports whether entries of a tag describe types, and so do those below them.
func typeOnly(tag uint32) bool {
	switch tag {
	case tagStructure, tagUnion, tagEnumeration, tagArray, tagSubroutineType:
		return true
	}
	return false
}
