package elffile

// op is what a relocation does with the value V = S + A, the symbol's address
// and the addend.
type op uint8

const (
	opNone     op = iota
	opSet         // V
	opRelative    // V - P, the place's address
	opAdd         // the stored value + V
	opSub         // the stored value - V
	opSet6        // the low 6 bits
	opAdd6
	opSub6
	opSetULEB // a ULEB128, its length unchanged
	opAddULEB
	opSubULEB
)

// rule is one relocation type: what it does, in how many bytes (0: in a ULEB128).
type rule struct {
	op    op
	width uint8
}

// ruleOf gives the rule of a machine's relocation type. Only the types that
// compilers and assemblers write into sections without code are here; offsets
// into thread-local storage are set like addresses, without a reader.
func ruleOf(machine uint16, kind uint32) (rule, bool) {
	switch machine {
	case machAMD64:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 1, 17: // 64, DTPOFF64
			return rule{opSet, 8}, true
		case 10, 11, 21: // 32, 32S, DTPOFF32
			return rule{opSet, 4}, true
		case 12: // 16
			return rule{opSet, 2}, true
		case 14: // 8
			return rule{opSet, 1}, true
		case 2: // PC32
			return rule{opRelative, 4}, true
		case 24: // PC64
			return rule{opRelative, 8}, true
		}
	case mach386:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 1, 32: // 32, TLS_LDO_32
			return rule{opSet, 4}, true
		case 2: // PC32
			return rule{opRelative, 4}, true
		case 20: // 16
			return rule{opSet, 2}, true
		case 22: // 8
			return rule{opSet, 1}, true
		}
	case machARM64:
		switch kind {
		case 0, 256: // NONE
			return rule{}, true
		case 257, 1029: // ABS64, TLS_DTPREL64
			return rule{opSet, 8}, true
		case 258: // ABS32
			return rule{opSet, 4}, true
		case 259: // ABS16
			return rule{opSet, 2}, true
		case 260: // PREL64
			return rule{opRelative, 8}, true
		case 261: // PREL32
			return rule{opRelative, 4}, true
		}
	case machARM:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 2, 38, 106: // ABS32, TARGET1, TLS_LDO32
			return rule{opSet, 4}, true
		case 3: // REL32
			return rule{opRelative, 4}, true
		case 5: // ABS16
			return rule{opSet, 2}, true
		case 8: // ABS8
			return rule{opSet, 1}, true
		}
	case machRISCV:
		return ruleRISCV(kind)
	case machLoong:
		return ruleLoong(kind)
	case machPPC64, machPPC:
		switch kind {
		case 0, 51: // NONE, TOC (in .opd, where only the first word is read)
			return rule{}, true
		case 1, 24: // ADDR32, UADDR32
			return rule{opSet, 4}, true
		case 26: // REL32
			return rule{opRelative, 4}, true
		case 38, 43: // ADDR64, UADDR64
			return rule{opSet, 8}, true
		case 44: // REL64
			return rule{opRelative, 8}, true
		case 78: // DTPREL64; of the 32-bit machine DTPREL32
			if machine == machPPC {
				return rule{opSet, 4}, true
			}
			return rule{opSet, 8}, true
		case 110: // DTPREL32
			return rule{opSet, 4}, true
		}
	case machS390:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 1: // 8
			return rule{opSet, 1}, true
		case 3: // 16
			return rule{opSet, 2}, true
		case 4, 52: // 32, TLS_LDO32
			return rule{opSet, 4}, true
		case 5: // PC32
			return rule{opRelative, 4}, true
		case 22, 53: // 64, TLS_LDO64
			return rule{opSet, 8}, true
		case 23: // PC64
			return rule{opRelative, 8}, true
		}
	case machMIPS:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 2, 39: // 32, TLS_DTPREL32
			return rule{opSet, 4}, true
		case 18, 41: // 64, TLS_DTPREL64
			return rule{opSet, 8}, true
		case 248: // PC32
			return rule{opRelative, 4}, true
		}
	case machSPARCV9:
		switch kind {
		case 0: // NONE
			return rule{}, true
		case 3, 23, 76: // 32, UA32, TLS_DTPOFF32
			return rule{opSet, 4}, true
		case 32, 54, 77: // 64, UA64, TLS_DTPOFF64
			return rule{opSet, 8}, true
		}
	}
	return rule{}, false
}

// ruleRISCV: the linker may shorten code, so differences of addresses stay
// pairs of an addition and a subtraction up to the end.
func ruleRISCV(kind uint32) (rule, bool) {
	switch kind {
	case 0, 43, 51: // NONE, ALIGN, RELAX
		return rule{}, true
	case 1, 8: // 32, TLS_DTPREL32
		return rule{opSet, 4}, true
	case 2, 9: // 64, TLS_DTPREL64
		return rule{opSet, 8}, true
	case 33, 34, 35, 36: // ADD8 … ADD64
		return rule{opAdd, 1 << (kind - 33)}, true
	case 37, 38, 39, 40: // SUB8 … SUB64
		return rule{opSub, 1 << (kind - 37)}, true
	case 52: // SUB6
		return rule{opSub6, 1}, true
	case 53: // SET6
		return rule{opSet6, 1}, true
	case 54, 55, 56: // SET8 … SET32
		return rule{opSet, 1 << (kind - 54)}, true
	case 57: // 32_PCREL
		return rule{opRelative, 4}, true
	case 60: // SET_ULEB128
		return rule{opSetULEB, 0}, true
	case 61: // SUB_ULEB128
		return rule{opSubULEB, 0}, true
	}
	return rule{}, false
}

func ruleLoong(kind uint32) (rule, bool) {
	switch kind {
	case 0, 100, 102: // NONE, RELAX, ALIGN
		return rule{}, true
	case 1, 8: // 32, TLS_DTPREL32
		return rule{opSet, 4}, true
	case 2, 9: // 64, TLS_DTPREL64
		return rule{opSet, 8}, true
	case 47, 48: // ADD8, ADD16
		return rule{opAdd, 1 << (kind - 47)}, true
	case 50, 51: // ADD32, ADD64
		return rule{opAdd, 4 << (kind - 50)}, true
	case 52, 53: // SUB8, SUB16
		return rule{opSub, 1 << (kind - 52)}, true
	case 55, 56: // SUB32, SUB64
		return rule{opSub, 4 << (kind - 55)}, true
	case 99: // 32_PCREL
		return rule{opRelative, 4}, true
	case 105: // ADD6
		return rule{opAdd6, 1}, true
	case 106: // SUB6
		return rule{opSub6, 1}, true
	case 107: // ADD_ULEB128
		return rule{opAddULEB, 0}, true
	case 108: // SUB_ULEB128
		return rule{opSubULEB, 0}, true
	}
	return rule{}, false
}
