package elffile

import "fmt"

// The machines that symbols or relocations need to be told apart.
const (
	mach386     = 3
	machMIPS    = 8
	machPPC     = 20
	machPPC64   = 21
	machS390    = 22
	machARM     = 40
	machSPARCV9 = 43
	machAMD64   = 62
	machARM64   = 183
	machRISCV   = 243
	machLoong   = 258
)

// Thumb reports whether the lowest bit of a function's address tells Thumb code
// from ARM code.
func (f *File) Thumb() bool { return f.machine == machARM }

// Arch is the machine's name in the words of Android's ABIs, and of the kernel
// where Android has none.
func (f *File) Arch() string {
	little := !f.BigEndian()
	switch f.machine {
	case mach386:
		return "x86"
	case machAMD64:
		if !f.wide {
			return "x32"
		}
		return "x86_64"
	case machARM:
		if !little {
			return "armeb"
		}
		return "arm"
	case machARM64:
		if !little {
			return "arm64_be"
		}
		return "arm64"
	case machRISCV:
		if !f.wide {
			return "riscv32"
		}
		return "riscv64"
	case machMIPS:
		name := "mips"
		if f.wide {
			name = "mips64"
		}
		if little {
			name += "el"
		}
		return name
	case machPPC:
		return "ppc"
	case machPPC64:
		if little {
			return "ppc64le"
		}
		return "ppc64"
	case machS390:
		return "s390x"
	case 2, 18:
		return "sparc"
	case machSPARCV9:
		return "sparc64"
	case machLoong:
		if !f.wide {
			return "loongarch32"
		}
		return "loongarch64"
	case 4:
		return "m68k"
	case 15:
		return "hppa"
	case 42:
		return "sh"
	case 50:
		return "ia64"
	case 164:
		return "hexagon"
	case 247:
		return "bpf"
	case 252:
		return "csky"
	}
	return fmt.Sprintf("machine-%d", f.machine)
}
