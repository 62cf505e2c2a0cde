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
	names := formattest.Aliases{}
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
	executed := func(addr uint64) bool {
		for _, s := range file.Sections {
			if s.Flags&elf.SHF_EXECINSTR != 0 && addr-s.Addr < s.Size {
				return true
			}
		}
		return false
	}
	embedded := file.Section(".debug_info.dwo") != nil
	minidebug := file.Section(".gnu_debugdata") != nil
	goTable := file.Section(".note.go.buildid") != nil && file.Section(".debug_info") == nil && file.Section(".zdebug_info") == nil
	return func(addr uint64, want, got []symbol.Frame) string {
		if embedded && len(want) == 1 && len(got) > 1 && got[len(got)-1].Linkage == want[0].Linkage && got[0].File == want[0].File && got[0].Line == want[0].Line {
			return "llvm-symbolizer looks for split units in other files alone"
		}
		if goTable && len(got) > 0 && len(want) == 1 && want[0].Line == 0 && got[len(got)-1].Linkage == want[0].Linkage {
			return "llvm-symbolizer does not read the table of Go's runtime"
		}
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
		return names.Renamed(want, got, func(want, got string) string {
			switch {
			case strings.HasPrefix(want, ".L"):
				return "an assembler's label is no function"
			case !names.Same(got, want) && strings.HasPrefix(got, "_Z") && strings.Contains(got, want):
				return "the symbol's name is not mangled, DW_AT_linkage_name is"
			}
			return ""
		})
	}
}
