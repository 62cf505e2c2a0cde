package pe

import (
	"debug/pe"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// known are the rules by which our answers differ from llvm-symbolizer's.
func known(t *testing.T, path string) formattest.Known {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	file, err := pe.NewFile(r)
	if err != nil {
		t.Fatal(err)
	}
	names := formattest.Aliases{}
	for _, s := range file.Symbols {
		if s.SectionNumber > 0 && int(s.SectionNumber) <= len(file.Sections) {
			addr := uint64(file.Sections[s.SectionNumber-1].VirtualAddress) + uint64(s.Value)
			names[addr] = append(names[addr], s.Name)
		}
	}
	return func(addr uint64, want, got []symbol.Frame) string {
		switch {
		case len(got) == 0 && len(want) == 1 && want[0].Line == 0 && len(file.Symbols) == 0:
			return "the function table tells where an exported function ends"
		case file.Machine == pe.IMAGE_FILE_MACHINE_ARMNT && len(want) > 0 && len(got) > 0 && got[0].Line == want[0].Line:
			return "DWARF has odd addresses for Thumb code: a byte belongs to two functions"
		}
		if len(got) == 1 && len(want) == 1 && got[0].Line == 0 && want[0].File == "" {
			want[0].File = got[0].File // llvm-symbolizer takes no file from the symbol table
			if want[0] == got[0] {
				return "the symbol table names the file of a local function"
			}
		}
		if len(want) == 0 && len(got) == 1 && strings.HasSuffix(got[0].Linkage, "TOR_LIST__") {
			return "a linker's table in code has a symbol"
		}
		return names.Renamed(want, got, func(want, got string) string {
			if strings.HasPrefix(want, ".l_") {
				return "an assembler's label is no function"
			}
			if file.Machine == pe.IMAGE_FILE_MACHINE_I386 && (want == "_"+got || names.Same(want, "_"+got)) {
				return "llvm-symbolizer keeps the underscore before names of 32-bit x86"
			}
			return ""
		})
	}
}
