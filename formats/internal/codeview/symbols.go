package codeview

import "bytes"

// Kind is the kind of a symbol record.
type Kind uint16

// The kinds of symbol records that tell of code. The kinds that end in Old have names with a length before them, of
// Visual C++ 6 and 7.
const (
	End           Kind = 0x0006
	ThunkOld      Kind = 0x0206
	BlockOld      Kind = 0x0207
	WithOld       Kind = 0x0208
	PublicOld     Kind = 0x1009
	LocalProcOld  Kind = 0x100a
	GlobalProcOld Kind = 0x100b
	Thunk         Kind = 0x1102
	Block         Kind = 0x1103
	With          Kind = 0x1104
	Public        Kind = 0x110e
	LocalProc     Kind = 0x110f
	GlobalProc    Kind = 0x1110
	Trampoline    Kind = 0x112c
	Separated     Kind = 0x1132
	LocalProcID   Kind = 0x1146
	GlobalProcID  Kind = 0x1147
	InlineSite    Kind = 0x114d
	InlineSiteEnd Kind = 0x114e
	ProcIDEnd     Kind = 0x114f
	LocalProcDPC  Kind = 0x1155
	LocalDPCID    Kind = 0x1156
	InlineSite2   Kind = 0x115d
)

// Next splits the first record off b. ok is false at the end, and where the record is cut.
func Next(b []byte) (kind Kind, body, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, nil, false
	}
	n := int(u16(b)) + 2
	if n < 4 || n > len(b) {
		return 0, nil, nil, false
	}
	return Kind(u16(b[2:])), b[4:n:n], b[n:], true
}

// Code is code as a symbol record places it: Size bytes at Offset of a section, which counts from 1.
type Code struct {
	Offset, Size uint32
	Section      uint16
}

// Proc is a procedure or a thunk.
type Proc struct {
	Code
	Name []byte
}

// ReadProc reads the record of a procedure. ok is false if it is cut.
func ReadProc(kind Kind, b []byte) (p Proc, ok bool) {
	const fixed = 35
	if len(b) < fixed {
		return p, false
	}
	p.Code = Code{Offset: u32(b[28:]), Size: u32(b[12:]), Section: u16(b[32:])}
	p.Name = name(b[fixed:], kind == LocalProcOld || kind == GlobalProcOld)
	return p, true
}

// ReadThunk reads the record of a thunk.
func ReadThunk(kind Kind, b []byte) (p Proc, ok bool) {
	const fixed = 21
	if len(b) < fixed {
		return p, false
	}
	p.Code = Code{Offset: u32(b[12:]), Section: u16(b[16:]), Size: uint32(u16(b[18:]))}
	p.Name = name(b[fixed:], kind == ThunkOld)
	return p, true
}

// ReadSeparated reads the record of code that lies apart from the rest of its procedure. parent is a place in the rest.
func ReadSeparated(b []byte) (code, parent Code, ok bool) {
	const fixed = 28
	if len(b) < fixed {
		return code, parent, false
	}
	code = Code{Offset: u32(b[16:]), Size: u32(b[8:]), Section: u16(b[24:])}
	return code, Code{Offset: u32(b[20:]), Section: u16(b[26:])}, true
}

// ReadTrampoline reads the record of a stub that the linker made, and that jumps to target.
func ReadTrampoline(b []byte) (code, target Code, ok bool) {
	const fixed = 16
	if len(b) < fixed {
		return code, target, false
	}
	code = Code{Offset: u32(b[4:]), Size: uint32(u16(b[2:])), Section: u16(b[12:])}
	return code, Code{Offset: u32(b[8:]), Section: u16(b[14:])}, true
}

// ReadInlineSite reads the record of an inlined function: its id, and annotations for [Annotations].
func ReadInlineSite(kind Kind, b []byte) (id uint32, annotations []byte, ok bool) {
	fixed := 12
	if kind == InlineSite2 {
		fixed = 16
	}
	if len(b) < fixed {
		return 0, nil, false
	}
	return u32(b[8:]), b[fixed:], true
}

// The flags of public symbols.
const (
	IsCode     = 1
	IsFunction = 2
)

// ReadPublic reads the record of a public symbol.
func ReadPublic(kind Kind, b []byte) (flags uint32, at Code, text []byte, ok bool) {
	const fixed = 10
	if len(b) < fixed {
		return 0, at, nil, false
	}
	at = Code{Offset: u32(b[4:]), Section: u16(b[8:])}
	return u32(b), at, name(b[fixed:], kind == PublicOld), true
}

// name returns the name at the beginning of b.
func name(b []byte, counted bool) []byte {
	if counted {
		if len(b) == 0 {
			return nil
		}
		return b[1:min(len(b), 1+int(b[0]))]
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i:i]
	}
	return b
}
