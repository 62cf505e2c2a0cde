package codeview

// Inlined is code of an inlined function with one place in its text.
type Inlined struct {
	Start, End uint32 // from the beginning of the procedure
	File       uint32 // an offset in the table of files
	Line       uint32
	Column     uint32
}

// The opcodes of annotations.
const (
	opCodeOffset          = 1
	opCodeBase            = 2
	opCodeDelta           = 3
	opCodeLength          = 4
	opFile                = 5
	opLineDelta           = 6
	opLineEnd             = 7
	opRangeKind           = 8
	opColumn              = 9
	opColumnEndDelta      = 10
	opCodeAndLine         = 11
	opCodeLengthThenDelta = 12
	opColumnEnd           = 13
)

// Annotations appends the code of an inline site to list. The text of the function begins at line of file. Code without
// an end is left out, and code in pieces of the procedure that lie apart.
func Annotations(b []byte, file, line uint32, list []Inlined) []Inlined {
	var offset, column uint32
	var elsewhere bool              // in a piece of the procedure that lies apart: where it is, the annotations do not say
	first, open := len(list), false // open: the end of the last one is not known yet
	begin := func() {
		if open {
			list[len(list)-1].End = offset
		}
		if open = !elsewhere; open {
			list = append(list, Inlined{Start: offset, File: file, Line: line, Column: column})
		}
	}
	for len(b) > 0 {
		var op, v uint32
		var ok bool
		if op, b, ok = compressed(b); !ok || op == 0 {
			break
		}
		if v, b, ok = compressed(b); !ok {
			break
		}
		switch op {
		case opCodeOffset:
			offset = v
			begin()
		case opCodeBase:
			elsewhere = v != 0
		case opCodeDelta:
			offset += v
			begin()
		case opCodeLength:
			if open {
				list[len(list)-1].End = list[len(list)-1].Start + v
				open = false
			}
			offset += v
		case opFile:
			file = v
		case opLineDelta:
			line += signed(v)
		case opColumn:
			column = v
		case opCodeAndLine:
			offset += v & 0xf
			line += signed(v >> 4)
			begin()
		case opCodeLengthThenDelta:
			var delta uint32
			if delta, b, ok = compressed(b); !ok {
				return closed(list, first, open)
			}
			offset += delta
			if begin(); open {
				list[len(list)-1].End = offset + v
			}
			open = false
		case opLineEnd, opRangeKind, opColumnEndDelta, opColumnEnd:
		default:
			return closed(list, first, open)
		}
	}
	return closed(list, first, open)
}

// closed drops what has no end, and what ends before it begins.
func closed(list []Inlined, first int, open bool) []Inlined {
	if open {
		list = list[:len(list)-1]
	}
	n := first
	for _, v := range list[first:] {
		if v.Start < v.End {
			list[n] = v
			n++
		}
	}
	return list[:n]
}

// compressed reads a number of one, two or four bytes.
func compressed(b []byte) (v uint32, rest []byte, ok bool) {
	switch {
	case len(b) == 0:
	case b[0]&0x80 == 0:
		return uint32(b[0]), b[1:], true
	case b[0]&0xc0 == 0x80 && len(b) >= 2:
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), b[2:], true
	case b[0]&0xe0 == 0xc0 && len(b) >= 4:
		return uint32(b[0]&0x1f)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]), b[4:], true
	}
	return 0, nil, false
}

// signed returns a number that has its sign in the lowest bit.
func signed(v uint32) uint32 {
	if v&1 != 0 {
		return -(v >> 1)
	}
	return v >> 1
}
