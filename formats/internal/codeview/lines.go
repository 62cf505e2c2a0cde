package codeview

// Subsection is the kind of a subsection of a module.
type Subsection uint32

// The subsections that tell of places in source text.
const (
	Lines         Subsection = 0xf2
	FileChecksums Subsection = 0xf4
	InlineeLines  Subsection = 0xf6

	ignored = 0x80000000 // a bit that says that the subsection does not count
)

// NextSubsection splits the first subsection off b. ok is false at the end, and where the subsection is cut.
func NextSubsection(b []byte) (kind Subsection, body, rest []byte, ok bool) {
	if len(b) < 8 {
		return 0, nil, nil, false
	}
	n := uint64(u32(b[4:]))
	if n > uint64(len(b)-8) {
		return 0, nil, nil, false
	}
	end := min(uint64(len(b)), (8+n+3)&^3)
	kind = Subsection(u32(b))
	if kind&ignored != 0 {
		kind = 0
	}
	return kind, b[8 : 8+n : 8+n], b[end:], true
}

// Row says where the code from Offset on comes from. It reaches to the next row of its code. Column is 0 where it is
// unknown.
type Row struct {
	Offset uint32 // from the beginning of the section
	File   uint32 // an offset in the table of files
	Line   uint32
	Column uint32
}

const (
	lineMask   = 1<<24 - 1
	alwaysStep = 0xfeefee // the debugger steps through this code
	neverStep  = 0xf00f00 // it steps over this code
)

// ReadLines appends the rows of a subsection to rows, file by file, and returns the code they belong to. Rows of code
// that the compiler made, and that no line stands for, are left out: the row before goes on. ok is false if the
// subsection is damaged; rows before the damage are appended.
func ReadLines(b []byte, rows []Row) (code Code, out []Row, ok bool) {
	const head, block, line, column = 12, 12, 8, 4
	if len(b) < head {
		return code, rows, false
	}
	code = Code{Offset: u32(b), Section: u16(b[4:]), Size: u32(b[8:])}
	columns := u16(b[6:])&1 != 0
	for b = b[head:]; len(b) >= block; {
		file, n, size := u32(b), uint64(u32(b[4:])), uint64(u32(b[8:]))
		need := block + n*line
		if columns {
			need += n * column
		}
		if size < need || size > uint64(len(b)) {
			return code, rows, false
		}
		lines, cols := b[block:block+n*line], b[block+n*line:need]
		for i := 0; i < len(lines); i += line {
			r := Row{Offset: code.Offset + u32(lines[i:]), File: file, Line: u32(lines[i+4:]) & lineMask}
			if r.Line == neverStep || r.Line == alwaysStep {
				continue
			}
			if columns {
				r.Column = uint32(u16(cols[i/2:]))
			}
			rows = append(rows, r)
		}
		b = b[size:]
	}
	return code, rows, len(b) == 0
}

// FileName returns the offset of a file's name in the string table of the PDB. file is an offset in b, the table of
// files of the module.
func FileName(b []byte, file uint32) (name uint32, ok bool) {
	if uint64(file)+4 > uint64(len(b)) {
		return 0, false
	}
	return u32(b[file:]), true
}

// Inlinee is where the text of an inlined function begins.
type Inlinee struct {
	ID         uint32 // in the id stream
	File, Line uint32 // File is an offset in the table of files
}

// ReadInlinees appends the functions of a subsection to list. ok is false if it is damaged.
func ReadInlinees(b []byte, list []Inlinee) (out []Inlinee, ok bool) {
	const extended = 1 // each function has a list of further files
	if len(b) < 4 {
		return list, false
	}
	more := u32(b) == extended
	if u32(b) > extended {
		return list, false
	}
	for b = b[4:]; len(b) >= 12; {
		list = append(list, Inlinee{u32(b), u32(b[4:]), u32(b[8:])})
		b = b[12:]
		if !more {
			continue
		}
		if len(b) < 4 || uint64(u32(b))*4 > uint64(len(b)-4) {
			return list, false
		}
		b = b[4+4*int(u32(b)):]
	}
	return list, len(b) == 0
}
