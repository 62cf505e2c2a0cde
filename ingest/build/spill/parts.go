package spill

import (
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// The ranges of a script are many, and most differ from those before in little.
// Each begins with a byte that says what follows: its length, its scope and file
// (differences) where they are others, its line (difference), its column, its
// name (difference to the last name) if it has one.
const (
	partScope = 1 << iota
	partFile
	partName
	partFlags // the first of symbol.Flags

	partCompiled = 1 << 7 // its compiled function (difference to the last one's)
	maxFlags     = partCompiled / partFlags
)

// maxPartBytes is the most that a range of a script takes.
const maxPartBytes = 1 + binary.MaxVarintLen64 + 6*binary.MaxVarintLen32

// encodeParts appends the ranges of a script to b.
func (l *Lane) encodeParts(b []byte, r *symbol.Run, marks []symbol.Mark) ([]byte, error) {
	n := max(uint32(len(r.Strings)), 1)
	at := len(b)
	b = slices.Grow(b, len(r.Ranges)*maxPartBytes)
	b = b[:cap(b)]
	var file, line, of, name, compiled uint32 // of: the string of file
	scope := int32(0)
	start := r.Ranges[0].Start
	for i := range r.Ranges {
		g, mark := &r.Ranges[i], &marks[i]
		if g.Start != start || g.End <= g.Start {
			return nil, refuse(l.part, "range %#x-%#x to begin at %#x", g.Start, g.End, start)
		}
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) || g.At.File >= n || mark.Name >= n || mark.Compiled >= n || mark.Flags >= maxFlags {
			return nil, refuse(l.part, "scope %d of range %#x among %d, file %d, names %d and %d among %d, flags %#x",
				g.Scope, g.Start, len(r.Scopes), g.At.File, mark.Name, mark.Compiled, n, mark.Flags)
		}
		start = g.End
		head := at
		what := byte(mark.Flags) * partFlags
		at = putAt(b, at+1, g.End-g.Start)
		if g.Scope != scope {
			what |= partScope
			at = putAt(b, at, uint64(zigzag(uint32(g.Scope-scope))))
			scope = g.Scope
		}
		if g.At.File != of {
			what |= partFile
			f := uint32(0)
			if of = g.At.File; of != 0 {
				f = l.id(of)
			}
			at = putAt(b, at, uint64(zigzag(f-file)))
			file = f
		}
		at = putAt(b, at, uint64(zigzag(g.At.Line-line)))
		line = g.At.Line
		at = putAt(b, at, uint64(g.At.Column))
		if mark.Name != 0 {
			what |= partName
			id := l.id(mark.Name)
			at = putAt(b, at, uint64(zigzag(id-name)))
			name = id
		}
		if mark.Compiled != 0 {
			what |= partCompiled
			id := l.id(mark.Compiled)
			at = putAt(b, at, uint64(zigzag(id-compiled)))
			compiled = id
		}
		b[head] = what
	}
	return b[:at], nil
}

// putAt puts a number into b, which has room.
func putAt(b []byte, at int, v uint64) int {
	if v < 0x80 {
		b[at] = byte(v)
		return at + 1
	}
	return at + binary.PutUvarint(b[at:], v)
}

// decodeParts reads what encodeParts wrote.
func (d *decoder) decodeParts(start uint64, final []uint32, to []symbol.Range, marks []symbol.Mark) {
	var file, line, name, compiled uint32
	scope := int32(0)
	for i := range to {
		g := &to[i]
		what := d.byte()
		g.Start = start
		start += d.long()
		g.End = start
		if what&partScope != 0 {
			scope += int32(unzigzag(d.get()))
		}
		if what&partFile != 0 {
			file += unzigzag(d.get())
		}
		line += unzigzag(d.get())
		g.Scope, g.At = scope, symbol.Site{File: final[file], Line: line, Column: d.get()}
		mark := &marks[i]
		mark.Name, mark.Compiled, mark.Flags = 0, 0, symbol.Flags(what%partCompiled/partFlags)
		if what&partName != 0 {
			name += unzigzag(d.get())
			mark.Name = final[name]
		}
		if what&partCompiled != 0 {
			compiled += unzigzag(d.get())
			mark.Compiled = final[compiled]
		}
	}
}
