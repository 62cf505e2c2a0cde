package pe

import (
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/pefile"
)

func FuzzPE(f *testing.F) {
	formattest.Seed(f, 1<<20, ownPaths(f)...)
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "MZ", data) })
}

// FuzzFrames reads one function's unwind information of each processor.
func FuzzFrames(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed.packed, seed.information)
	}
	f.Fuzz(func(t *testing.T, packed uint32, information []byte) {
		at := uint32(tableAt + 24)
		for _, c := range []struct {
			machine uint16
			table   []byte
		}{
			{pefile.MachineX64, words(codeAt, codeAt+0x100, at, codeAt+0x200, codeAt+0x300, at+packed&0xff)},
			{pefile.MachineARM64, words(codeAt, at, codeAt+0x2000, packed, codeAt+0x8000, at+packed&0xfc)},
			{pefile.MachineARMNT, words(codeAt|1, at, codeAt+0x2001, packed, codeAt+0x8001, at+packed&0xfc)},
		} {
			formattest.Fuzz(t, &Format, "MZ", framesOf(c.machine, c.table, information))
		}
	})
}

// seeds are unwind information of functions that compilers made, or that are wrong.
var seeds = []struct {
	packed      uint32
	information []byte
}{
	{0x01e30011, []byte{1, 9, 5, 0, 9, 0x42, 5, 0x30, 4, 0x70, 3, 0x60, 2, 0xe0}},
	{0x00a10021, []byte{1, 10, 4, 0x35, 10, 3, 5, 0x72, 2, 0x50, 1, 0x30}},
	{0x04c70101, []byte{0x21, 0, 4, 0, 0, 0x34, 2, 0, 0, 0x64, 3, 0, 0, 0x10, 0, 0, 0, 0x11, 0, 0, 0, 0, 0x10, 0}},
	{0x08610401, []byte{0x17, 0, 0x20, 0x10, 0x44, 0xd6, 0x02, 0xc8, 0x03, 0xe4, 0xe4, 0xe4}},
	{0x10e01003, []byte{0x0f, 0, 0x80, 0x10, 7, 0, 0, 0, 11, 0, 0x40, 0, 0xe1, 0x81, 0xe6, 0xd4, 0x01, 0xe4, 0xe5, 0xe4}},
	{0, []byte{1, 0, 1, 0, 0, 0x1a}},
}
