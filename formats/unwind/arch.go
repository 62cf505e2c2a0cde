package unwind

import "github.com/symlake/symlake/formats/symbol"

// Registers are the integer registers of a processor by their numbers in DWARF. A register that is not known counts as
// lost.
type Registers struct {
	Value [MaxRegisters]uint64
	Known uint64 // a bit a register
}

// MaxRegisters is how many registers an architecture may have here.
const MaxRegisters = 33

// Get returns the value of a register; false: it is lost.
func (r *Registers) Get(n uint8) (uint64, bool) {
	if n >= MaxRegisters {
		return 0, false
	}
	return r.Value[n], r.Known>>n&1 == 1
}

// Set gives a register a value.
func (r *Registers) Set(n uint8, v uint64) {
	if n < MaxRegisters {
		r.Value[n] = v
		r.Known |= 1 << n
	}
}

// Lose makes a register unknown.
func (r *Registers) Lose(n uint8) {
	if n < MaxRegisters {
		r.Value[n] = 0
		r.Known &^= 1 << n
	}
}

// Arch is what unwinding needs to know of a processor.
type Arch struct {
	Name       string   // as in symbol.Artifact
	Word       int      // bytes of an address: 4 or 8
	Names      []string // of registers by number, as Breakpad spells them, without "$"
	PC, SP, FP uint8
	LR         uint8  // the register with the return address; None: the call pushes it
	Kept       uint64 // registers that a callee gives back as it found them, a bit each
}

// None is no register.
const None = 0xff

// ArchOf returns the architecture of a name, or of the family it belongs to; nil: it cannot be unwound here.
func ArchOf(name string) *Arch {
	switch symbol.ArchFamily(name) {
	case "x86_64":
		return x86_64
	case "x86":
		return x86
	case "arm64":
		return arm64
	case "arm":
		return arm
	case "riscv64":
		return riscv64
	}
	return nil
}

// Register returns the number of a register by its name, with or without "$"; None: there is no such register.
func (a *Arch) Register(name string) uint8 {
	if len(name) > 0 && name[0] == '$' {
		name = name[1:]
	}
	for i, n := range a.Names {
		if n == name {
			return uint8(i)
		}
	}
	for i, n := range a.aliases() {
		if n == name {
			return uint8(i)
		}
	}
	return None
}

// aliases are second names of registers, by number.
func (a *Arch) aliases() []string {
	switch a {
	case arm:
		return []string{11: "fp", 13: "r13", 14: "r14", 15: "r15"}
	case arm64:
		return []string{29: "fp", 30: "lr", 31: "x31"}
	}
	return nil
}

// cut is a value as an address has it.
func (a *Arch) cut(v uint64) uint64 {
	if a.Word == 4 {
		return v & (1<<32 - 1)
	}
	return v
}

var (
	x86 = &Arch{Name: "x86", Word: 4, PC: 8, SP: 4, FP: 5, LR: None, Kept: bits(3, 5, 6, 7),
		Names: []string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"}}
	x86_64 = &Arch{Name: "x86_64", Word: 8, PC: 16, SP: 7, FP: 6, LR: None, Kept: bits(3, 6, 12, 13, 14, 15),
		Names: []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}}
	arm = &Arch{Name: "arm", Word: 4, PC: 15, SP: 13, FP: 11, LR: 14, Kept: bits(4, 5, 6, 7, 8, 9, 10, 11),
		Names: []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"}}
	arm64 = &Arch{Name: "arm64", Word: 8, PC: 32, SP: 31, FP: 29, LR: 30, Kept: bits(19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29),
		Names: []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
			"x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc"}}
	riscv64 = &Arch{Name: "riscv64", Word: 8, PC: 32, SP: 2, FP: 8, LR: 1, Kept: bits(8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27),
		Names: []string{"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
			"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc"}}
)

func bits(registers ...uint8) (set uint64) {
	for _, r := range registers {
		set |= 1 << r
	}
	return set
}
