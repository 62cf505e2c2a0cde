package elf

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// known are the rules by which our answers differ from llvm-symbolizer's.
func known(t *testing.T, path string) formattest.Known {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	names := map[uint64][]string{} // all symbols at an address
	sections := map[string][]*elf.Section{}
	for _, read := range []func() ([]elf.Symbol, error){file.Symbols, file.DynamicSymbols} {
		all, _ := read()
		for _, s := range all {
			if file.Machine == elf.EM_ARM {
				s.Value &^= 1
			}
			names[s.Value] = append(names[s.Value], s.Name)
			if int(s.Section) < len(file.Sections) {
				sections[s.Name] = append(sections[s.Name], file.Sections[s.Section])
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
			if s.Flags&elf.SHF_EXECINSTR != 0 && addr-s.Addr < s.Size {
				return true
			}
		}
		return false
	}
	split := strings.Contains(path, "split-dw5")
	minidebug := file.Section(".gnu_debugdata") != nil
	return func(addr uint64, want, got []symbol.Frame) string {
		if len(got) == 0 && len(want) == 1 && want[0].Line == 0 && !executed(addr) {
			return "a data symbol: no code runs there"
		}
		if len(got) == 0 && !executed(addr) {
			return "the linker dropped this code: its lines lie where no code is"
		}
		if len(got) == 0 && len(want) == 1 && want[0].Line == 0 &&
			!slices.ContainsFunc(sections[want[0].Linkage], func(s *elf.Section) bool { return addr-s.Addr < s.Size }) {
			return "a symbol without size ends with its section here"
		}
		if minidebug && len(want) == 0 && len(got) == 1 && got[0].Line == 0 {
			return "llvm-symbolizer reads no .gnu_debugdata"
		}
		if split && len(got) == 1 && len(want) > 1 && got[0].Linkage == want[len(want)-1].Linkage && got[0].Line == want[0].Line {
			return "the inlined functions are in .dwo files, which are not read yet"
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
			case outermost && strings.HasPrefix(w.Linkage, ".L"):
				return "an assembler's label is no function"
			case outermost && aliases(name, w.Linkage):
				return "of several names at one address, ours is DWARF's"
			case outermost && strings.HasPrefix(name, "_Z") && strings.Contains(name, w.Linkage):
				return "the symbol's name is not mangled, DW_AT_linkage_name is"
			default:
				return ""
			}
		}
		return reason
	}
}
