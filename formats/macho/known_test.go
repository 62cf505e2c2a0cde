package macho

import (
	"debug/macho"
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
	names := formattest.Aliases{}
	if file.Symtab != nil {
		for _, s := range file.Symtab.Syms {
			if s.Type&0xe0 == 0 {
				names[s.Value] = append(names[s.Value], strings.TrimPrefix(s.Name, "_"))
			}
		}
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
		return names.Renamed(want, got, nil)
	}
}
