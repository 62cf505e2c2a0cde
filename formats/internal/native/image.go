// Package native holds what ELF and Mach-O files share: the image of a program file with its symbols,
// its identity, and how a section becomes readable. formats/internal/elffile and
// formats/internal/machofile read the headers and symbol tables; formats/internal/dwarf reads the
// contents of debug sections.
//
// Invariants:
//   - no number from a file sizes an allocation before it is checked against the bytes of the file and
//     against [formats.Limits];
//   - a section is inflated and relocated when the first reader asks for it, once, however many
//     goroutines ask;
//   - addresses are unslid: as the file gives them, or as elffile.Open laid out the sections of a
//     relocatable file.
package native

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// Span is [Start, End) in unslid addresses.
type Span struct{ Start, End uint64 }

// Symbol is a function symbol that has been cleaned for look-up: mapping
// symbols are gone, the Thumb bit is cleared, the address lies in a code span.
type Symbol struct {
	Addr uint64 // unslid
	Size uint64 // 0: unknown; it then ends at the next symbol
	Name string // as the table spells it, version suffix cut; may alias the object
	File string // a local symbol's source file as the table names it (no path), or ""; may alias the object
	Rank symbol.Rank

	Open bool // Size is not its own but the room up to the end of its section; until settle
}

// own is the size that the table gives.
func (s *Symbol) own() uint64 {
	if s.Open {
		return 0
	}
	return s.Size
}

// Image is what exploding needs to know of a program file besides its DWARF.
type Image struct {
	Base    uint64   // the image base, see DESIGN "Words"
	Code    []Span   // executable segments (ET_REL: sections), ascending, disjoint, by their size in memory
	Symbols []Symbol // ascending by Addr, then by preference: the first at an address is the best name
	Thumb   bool     // an odd address of a function means Thumb code, one byte below it
}

// TextBytes is how many bytes the code spans hold.
func (m *Image) TextBytes() uint64 {
	var n uint64
	for _, s := range m.Code {
		n += s.End - s.Start
	}
	return n
}

// Rank returns the best rank of the image's symbols; RankDynsym if it has none.
func (m *Image) Rank() symbol.Rank {
	rank := symbol.RankDynsym
	for i := range m.Symbols {
		rank = min(rank, m.Symbols[i].Rank)
	}
	return rank
}

// Span returns the code span that holds addr.
func (m *Image) Span(addr uint64) (Span, bool) {
	lo, hi := 0, len(m.Code)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.Code[mid].End <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(m.Code) || m.Code[lo].Start > addr {
		return Span{}, false
	}
	return m.Code[lo], true
}

// Disjoint sorts spans, joins overlapping ones and drops the parts below base.
func Disjoint(spans []Span, base uint64) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	out := spans[:0]
	for _, s := range spans {
		s.Start = max(s.Start, base)
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		if s.Start < s.End {
			out = append(out, s)
		}
	}
	return out
}
