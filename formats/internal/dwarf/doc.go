// Package dwarf reads DWARF 2 to 5 for one pass over an object's code: unit
// headers, the tree of functions and inlined functions with their address
// ranges, their names, and line number programs. It is made for speed: of
// the millions of entries that describe types and variables none is decoded,
// they are skipped by a program compiled from their abbreviation.
//
// It leaves to others: finding, inflating and relocating sections; telling
// code from the parts that a linker threw away; turning trees and rows into ranges.
//
// Invariants:
//   - a [Data] is immutable and safe for concurrent use; a [Reader] belongs
//     to one goroutine and reads one unit at a time;
//   - all entries of a unit are walked, DW_AT_sibling is never followed:
//     functions hide below types, blocks and other functions;
//   - memory is one unit's bytes at most (none when the section is mapped),
//     or a window of it when the unit is large, and tables that are bounded
//     by the bytes they were read from;
//   - a reference, loop or not, is followed a fixed number of times;
//   - damage inside a unit is an [*formats.Error] that wraps
//     [formats.ErrCorrupt]; earlier results stand;
//   - an error of the input itself comes back as it is.
package dwarf
