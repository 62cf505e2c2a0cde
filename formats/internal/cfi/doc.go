// Package cfi reads call frame information as compilers write it: how the caller's registers follow at each place of a
// function. It reads .eh_frame and .debug_frame of DWARF 2 to 5. Packages below it read ARM's index and Apple's compact
// unwind information. All of them add [unwind.Rules] to a [Table], which joins rows and hands out [symbol.Unwind].
//
// Invariants:
//   - damage inside a function's description costs that function alone, and is counted;
//   - work and memory are bounded by the bytes of a section, not by the numbers in it;
//   - equal rules of one piece have one index;
//   - no range leaves the code of the image.
package cfi
