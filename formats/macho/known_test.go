package macho

import (
	"debug/macho"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// known are the rules by which our answers differ from llvm-symbolizer's. Of a
// fat file there are none.
func known(t *testing.T, path string) formattest.Known {
	t.Helper()
	file, err := macho.Open(path)
	if err != nil {
		return func(uint64, []symbol.Frame, []symbol.Frame) string { return "" }
	}
	defer file.Close()
	names := map[uint64][]string{}
	if file.Symtab != nil {
		for _, s := range file.Symtab.Syms {
			if s.Type&0xe0 == 0 {
				names[s.Value] = append(names[s.Value], strings.TrimPrefix(s.Name, "_"))
			}
		}
	}
	aliases := func(a, b string) bool {
		for _, at := range names {
			if slices.Contains(at, a) && slices.Contains(at, b) {
				return true
			}
		}
		return false
	}
	executed := func(addr uint64) bool {
		for _, s := range file.Sections {
			if s.Flags&0x80000400 != 0 && addr-s.Addr < s.Size {
				return true
			}
		}
		return false
	}
	return func(addr uint64, want, got []symbol.Frame) string {
		if len(got) == 0 && !executed(addr) {
			return "no code runs there"
		}
		if len(want) != len(got) {
			return ""
		}
		reason := ""
		for i, w := range want {
			g := got[i]
			name := g.Linkage
			if g.Linkage = w.Linkage; g != w {
				return ""
			}
			switch outermost := i == len(want)-1; {
			case name == w.Linkage:
			case strings.HasSuffix(name, "::"+w.Linkage):
				reason = "a name without linkage name is qualified here"
			case outermost && aliases(name, w.Linkage):
				return "of several names at one address, ours is DWARF's"
			default:
				return ""
			}
		}
		return reason
	}
}
