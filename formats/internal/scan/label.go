package scan

import (
	"bytes"
	"strings"
)

// IsLabel reports whether name, before an address, only says what the address is: "fault_addr:", "x0"
// in a dump of registers, another address.
func IsLabel(name []byte) bool {
	if strings.IndexByte(":=,", name[len(name)-1]) >= 0 || bytes.HasPrefix(name, HexMark) {
		return true
	}
	switch s := string(bytes.ToLower(name)); s {
	case "pc", "lr", "sp", "fp", "ip", "ra", "gp", "tp", "pst", "cpsr", "eip", "esp", "ebp", "rip", "rsp", "rbp":
		return true
	default: // x0 … x30, r8, w1
		_, end, ok := Digits(name, 1)
		return ok && end == len(name) && end <= 3 && strings.IndexByte("xwrvqds", s[0]) >= 0
	}
}
