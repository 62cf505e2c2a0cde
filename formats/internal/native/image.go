// Package native is what the native formats share: the image of a program
// file, its symbol tables, and the reading of its headers and sections.
package native

import "github.com/symlake/symlake/formats/symbol"

// Span is [Start, End) in unslid addresses.
type Span struct{ Start, End uint64 }

// Symbol is a function symbol that has been cleaned for look-up: mapping
// symbols are gone, the Thumb bit is cleared, the address lies in a code span.
type Symbol struct {
	Addr uint64 // unslid
	Size uint64 // 0: unknown; it then ends at the next symbol or the end of its span
	Name string // as the table spells it, version suffix cut; may alias the object
	Rank symbol.Rank
}

// Image is what exploding needs to know of a program file besides its DWARF.
type Image struct {
	Base    uint64   // the image base, see DESIGN "Words"
	Code    []Span   // executable segments (ET_REL: sections), ascending, disjoint, by their size in memory
	Symbols []Symbol // ascending by Addr, then by preference: the first at an address is the best name
}
