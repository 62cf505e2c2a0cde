package report

import (
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// Step moves a return address back into the call that it returns from. The
// result lies in the call instruction or, where calls have several lengths,
// in its last bytes: that is enough for a range.
func Step(arch string, addr uint64) uint64 {
	var back uint64
	switch symbol.ArchFamily(arch) {
	case "arm64":
		addr &^= 3
		back = 4
	case "arm": // bit 0 is the Thumb state, and the shortest Thumb call is 2 bytes
		addr &^= 1
		back = 2
	case "riscv64", "riscv32": // c.jalr is 2 bytes, jal and jalr are 4: both hold the last 2
		back = 2
	case "mips", "mips64": // the call and its delay slot
		back = 8
	case "x86", "x86_64": // calls of 2 to 7 bytes
		back = 1
	default: // not said: no architecture above has a shorter call, and an odd address may be Thumb's
		back = 2
	}
	if addr < back { // the unwinder's end mark, not an address
		return addr
	}
	return addr - back
}

// Strip removes the bits that are no address from a pointer: on arm64 the tag in the
// top byte and the pointer authentication code below it. User space lies
// below 2^48; bit 55 marks the kernel's half, where only the tag is undone
// because its size is not known.
func Strip(arch string, addr uint64) uint64 {
	if symbol.ArchFamily(arch) != "arm64" {
		return addr
	}
	if addr>>55&1 == 1 {
		return addr | 0xff<<56
	}
	return addr & (1<<48 - 1)
}

// Arch gives the word of symbol.Artifact for an Android ABI; "" for an unknown
// one.
func Arch(abi string) string {
	switch abi {
	case "arm64", "arm64-v8a", "arm64e", "aarch64":
		return "arm64"
	case "arm", "armeabi", "armeabi-v7a":
		return "arm"
	case "x86", "x86_64", "riscv64", "mips", "mips64":
		return abi
	case "x86-64":
		return "x86_64"
	}
	return ""
}

// AppleArch returns the word of symbol.Artifact for an architecture, or a kind of code, as reports of
// Apple's systems call it; "" for any other word.
func AppleArch(word string) string {
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	switch word = strings.ToLower(word); word {
	case "arm64", "arm64e", "arm64_32", "armv6", "armv7", "armv7s", "armv7k", "armv7f", "x86_64", "x86_64h", "arm":
		return word
	case "arm-64", "arm64v8", "arm64-v8a":
		return "arm64"
	case "x86-64":
		return "x86_64"
	case "i386", "x86":
		return "x86"
	}
	return ""
}

// ProcessorArch gives the word of symbol.Artifact for what the tool calls a processor.
func ProcessorArch(word string) string {
	if word == "amd64" {
		return "x86_64"
	}
	return Arch(word)
}
