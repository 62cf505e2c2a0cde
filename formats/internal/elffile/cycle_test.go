package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// A section with relocations that are to be read by way of itself is refused or
// read as it is; neither waits for itself.
func TestRelocationCycles(t *testing.T) {
	object, err := os.ReadFile(formattest.Testdata(t, "elf/obj/engine-x64.o"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := elf.Open(formattest.Testdata(t, "elf/obj/engine-x64.o"))
	if err != nil {
		t.Fatal(err)
	}
	defer parsed.Close()
	index := func(name string) uint32 {
		for i, s := range parsed.Sections {
			if s.Name == name {
				return uint32(i)
			}
		}
		t.Fatalf("no section %s", name)
		return 0
	}
	const linkAt, infoAt, headerBytes = 40, 44, 64
	table := binary.LittleEndian.Uint64(object[40:])
	field := func(b []byte, section string, at uint64) []byte {
		return b[table+uint64(index(section))*headerBytes+at:]
	}

	own := append([]byte(nil), object...) // .debug_info is its own symbol table
	binary.LittleEndian.PutUint32(field(own, ".rela.debug_info", linkAt), index(".debug_info"))
	f, err := Open(formattest.InputOf("own.o", own, formats.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Section(".debug_info"); !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("a section as its own symbol table: %v", err)
	}
	f.Close()

	tables := append([]byte(nil), object...) // the symbol table is to be relocated
	binary.LittleEndian.PutUint32(field(tables, ".rela.debug_info", infoAt), index(".symtab"))
	if f, err = Open(formattest.InputOf("tables.o", tables, formats.Limits{})); err != nil {
		t.Fatal(err)
	}
	if symbols, err := f.Symbols(t.Context()); err != nil || len(symbols) == 0 {
		t.Errorf("a symbol table with relocations: %d symbols, %v", len(symbols), err)
	}
	f.Close()
}
