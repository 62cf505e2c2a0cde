package dwarf

// Numbers of the DWARF standard (and of GNU and LLVM extensions) that the
// reader acts upon. All others are skipped by their form.

const (
	utCompile      = 0x01
	utType         = 0x02
	utPartial      = 0x03
	utSkeleton     = 0x04
	utSplitCompile = 0x05
	utSplitType    = 0x06
)

const (
	tagArray             = 0x01
	tagClass             = 0x02
	tagEnumeration       = 0x04
	tagCompileUnit       = 0x11
	tagStructure         = 0x13
	tagSubroutineType    = 0x15
	tagUnion             = 0x17
	tagInlinedSubroutine = 0x1d
	tagModule            = 0x1e
	tagSubprogram        = 0x2e
	tagNamespace         = 0x39
	tagInterface         = 0x38
	tagPartialUnit       = 0x3c
	tagSkeletonUnit      = 0x4a
)

const (
	atSibling        = 0x01
	atName           = 0x03
	atStmtList       = 0x10
	atLowPC          = 0x11
	atHighPC         = 0x12
	atLanguage       = 0x13
	atCompDir        = 0x1b
	atAbstractOrigin = 0x31
	atDeclaration    = 0x3c
	atSpecification  = 0x47
	atRanges         = 0x55
	atCallColumn     = 0x57
	atCallFile       = 0x58
	atCallLine       = 0x59
	atLinkageName    = 0x6e
	atStrOffsetsBase = 0x72
	atAddrBase       = 0x73
	atRnglistsBase   = 0x74
	atDwoName        = 0x76
	atMIPSLinkage    = 0x2007
	atGNUDwoName     = 0x2130
	atGNUDwoID       = 0x2131
	atGNURangesBase  = 0x2132
	atGNUAddrBase    = 0x2133
)

// Forms. Forms of extensions are renumbered to fit a byte when an
// abbreviation is read; formBad stands for unknown forms.
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c

	formRefAlt      = 0x40 // DW_FORM_GNU_ref_alt, 0x1f20
	formAddrxOffset = 0x41 // DW_FORM_LLVM_addrx_offset, 0x2001
	formBad         = 0xff
)

// shortForm is the byte that stands for a form, formBad if it is unknown.
func shortForm(form uint64) uint8 {
	switch {
	case form == 0x02 || form == 0 || form > formAddrx4 && form < 0x1f00:
		return formBad
	case form <= formAddrx4:
		return uint8(form)
	}
	switch form {
	case 0x1f01: // DW_FORM_GNU_addr_index
		return formAddrx
	case 0x1f02: // DW_FORM_GNU_str_index
		return formStrx
	case 0x1f20:
		return formRefAlt
	case 0x1f21: // DW_FORM_GNU_strp_alt
		return formStrpSup
	case 0x2001:
		return formAddrxOffset
	}
	return formBad
}

// Operations of expressions.
const (
	exprAddr    = 0x03
	exprConst4u = 0x0c
	exprPlus    = 0x22
	exprAddrx   = 0xa1
)

const (
	rleEnd          = 0
	rleBaseAddressx = 1
	rleStartxEndx   = 2
	rleStartxLength = 3
	rleOffsetPair   = 4
	rleBaseAddress  = 5
	rleStartEnd     = 6
	rleStartLength  = 7
)

const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsSetBasicBlock  = 7
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9

	lneEndSequence = 1
	lneSetAddress  = 2
	lneDefineFile  = 3

	lnctPath           = 1
	lnctDirectoryIndex = 2
)
