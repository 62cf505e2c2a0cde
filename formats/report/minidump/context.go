package minidump

import "github.com/symlake/symlake/formats/unwind"

// The places of registers in a thread's context, by their numbers in DWARF. Microsoft's context of arm64 and Breakpad's older one
// have them at the same places.
var (
	placesX86     = []int{0xb0, 0xac, 0xa8, 0xa4, 0xc4, 0xb4, 0xa0, 0x9c, 0xb8}
	placesX86_64  = []int{0x78, 0x88, 0x80, 0x90, 0xa8, 0xb0, 0xa0, 0x98, 0xb8, 0xc0, 0xc8, 0xd0, 0xd8, 0xe0, 0xe8, 0xf0, 0xf8}
	placesARM     = row(4, 4, 16)
	placesARM64   = row(8, 8, 33)
	placesRISCV64 = append(append([]int{-1}, row(16, 8, 31)...), 8) // the counter stands in the place of zero
)

func row(at, step, n int) (all []int) {
	for i := range n {
		all = append(all, at+step*i)
	}
	return all
}

// registers reads a context; false: it is too short, or of an unknown processor.
func (d *dump) registers(b []byte, r *unwind.Registers) bool {
	if d.process.Arch == nil {
		return false
	}
	var places []int
	switch d.process.Arch.Name {
	case "x86":
		places = placesX86
	case "x86_64":
		places = placesX86_64
	case "arm":
		places = placesARM
	case "arm64":
		places = placesARM64
	case "riscv64":
		places = placesRISCV64
	}
	word := d.process.Arch.Word
	for n, at := range places {
		if at < 0 {
			continue
		}
		if at+word > len(b) {
			return false
		}
		if word == 4 {
			r.Set(uint8(n), uint64(u32(b, at)))
		} else {
			r.Set(uint8(n), u64(b, at))
		}
	}
	return true
}
