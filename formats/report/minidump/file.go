package minidump

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/walked"
)

// file is the bytes of a dump, and the strings in it.
type file struct {
	walked.File
	texts int // bytes of strings that were read
}

func minidumpBegins(head []byte) bool { return bytes.HasPrefix(head, []byte("MDMP")) }

// u16, u32 and u64 are the number at an offset of b; 0 behind its end.
func u16(b []byte, at int) uint16 {
	if at+2 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint16(b[at:])
}

func u32(b []byte, at int) uint32 {
	if at+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}

func u64(b []byte, at int) uint64 {
	if at+8 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[at:])
}

// location is the bytes that a size and an offset, 32 bits each, at an offset of b lead to.
func (f *file) location(b []byte, at int) []byte {
	return f.At(uint64(u32(b, at+4)), uint64(u32(b, at)))
}

// array is the elements of size bytes each behind a count at the beginning of a stream.
func array(stream []byte, size, most int) [][]byte {
	if len(stream) < 4 {
		return nil
	}
	n := int(min(u32(stream, 0), uint32(most)))
	rest := stream[4:]
	if len(rest) == n*size+4 { // the array is aligned to 8
		rest = rest[4:]
	}
	return elements(rest, n, size)
}

// elements are up to n pieces of size bytes each.
func elements(b []byte, n, size int) (all [][]byte) {
	for ; n > 0 && len(b) >= size; n-- {
		all = append(all, b[:size])
		b = b[size:]
	}
	return all
}

// counts bounds the bytes of strings that are read: they may lie over one another.
func (f *file) counts(n int) bool {
	f.texts += n
	return f.texts <= 2*len(f.Head)
}

// text is a counted string of UTF-16.
func (f *file) text(off uint32) string {
	size := f.At(uint64(off), 4)
	if size == nil {
		return ""
	}
	raw := f.At(uint64(off)+4, uint64(min(u32(size, 0), report.MaxLineBytes)))
	if !f.counts(len(raw)) {
		return ""
	}
	return wide(raw)
}

// wide is a string of UTF-16, up to a zero.
func wide(raw []byte) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		u := u16(raw, i)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return scan.OneLine(string(utf16.Decode(units)))
}

// narrow is a counted string of UTF-8, as Crashpad writes it.
func (f *file) narrow(off uint32) string {
	size := f.At(uint64(off), 4)
	if off == 0 || size == nil {
		return ""
	}
	raw := f.At(uint64(off)+4, uint64(min(u32(size, 0), report.MaxLineBytes)))
	if !f.counts(len(raw)) {
		return ""
	}
	return scan.OneLine(string(raw))
}
