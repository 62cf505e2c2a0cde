package ecma335

import (
	"math"
	"strings"
)

// Point is a sequence point: a place in the source up to the next one. Line 0: hidden, no source has it.
type Point struct {
	Offset       uint32 // in the method's code
	Document     int    // row
	Line, Column uint32
}

// maxPoints bounds the points of one method.
const maxPoints = 1 << 22

// Points appends the sequence points of a method to to, by rising offsets. ok is false if they are damaged: to has the ones
// before the damage. It takes the bytes that it reads from left.
func (m *Metadata) Points(row int, to []Point, left *int) (_ []Point, ok bool) {
	b := m.Blob(MethodDebug, row, 1)
	if b == nil {
		return to, true
	}
	*left -= len(b)
	r := Blob{b, true}
	r.Unsigned() // the signature of local variables
	document := int(m.Cell(MethodDebug, row, 0))
	if document == 0 {
		document = int(r.Unsigned())
	}
	var offset uint32
	line, column := int64(0), int64(0)
	first, visible := true, false
	for len(r.B) > 0 && r.OK && len(to) < maxPoints {
		delta := r.Unsigned()
		if delta == 0 && !first {
			document = int(r.Unsigned())
			continue
		}
		if delta > math.MaxInt32-offset {
			return to, false
		}
		offset += delta
		first = false
		lines := int64(r.Unsigned())
		columns := int64(0)
		if lines == 0 {
			columns = int64(r.Unsigned())
		} else {
			columns = int64(r.Signed())
		}
		p := Point{Offset: offset, Document: document}
		if lines != 0 || columns != 0 {
			if visible {
				line += int64(r.Signed())
				column += int64(r.Signed())
			} else {
				line, column = int64(r.Unsigned()), int64(r.Unsigned())
			}
			visible = true
			if line < 0 || line > math.MaxInt32 || column < 0 || column > math.MaxInt32 {
				return to, false
			}
			p.Line, p.Column = uint32(line), uint32(column)
		}
		if !r.OK {
			return to, false
		}
		to = append(to, p)
	}
	return to, r.OK
}

// Path returns the path of a document. It takes the bytes that it reads from left.
func (m *Metadata) Path(row int, left *int) string {
	b := m.Blob(Document, row, 0)
	if len(b) == 0 {
		return ""
	}
	*left -= len(b)
	r := Blob{b[1:], true}
	separator := string(rune(b[0]))
	if b[0] == 0 {
		separator = ""
	}
	var out strings.Builder
	for i := 0; len(r.B) > 0 && r.OK && int64(out.Len()) <= m.limit; i++ {
		if i > 0 {
			out.WriteString(separator)
		}
		out.Write(m.BlobAt(r.Unsigned()))
	}
	*left -= out.Len()
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

// Sizes returns the size of the code of each method, by row, as far as its scopes of variables tell it; 0: they do not.
func (m *Metadata) Sizes() []uint32 {
	all := make([]uint32, m.Rows(MethodDebug)+1)
	for row := 1; row <= m.Rows(LocalScope); row++ {
		end := uint64(m.Cell(LocalScope, row, 4)) + uint64(m.Cell(LocalScope, row, 5))
		if method := m.Cell(LocalScope, row, 0); int(method) < len(all) && end <= math.MaxInt32 {
			all[method] = max(all[method], uint32(end))
		}
	}
	return all
}
