// Package codeview reads the debug information of Microsoft's compilers, as PDB files hold it: symbol records of a
// module, its subsections with lines, files and inlined functions, the annotations of an inline site, and the records of
// the type and id streams as far as names of functions need them.
//
// It reads bytes that a caller has checked for nothing. Functions that meet damage return what stands before it.
package codeview

import "encoding/binary"

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
