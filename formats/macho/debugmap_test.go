package macho

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// The object files that an executable's debug map names answer as the dSYM
// does that dsymutil made of the same files.
func TestObjectFiles(t *testing.T) {
	main := formattest.Fixture(t, "macho/samply/oso/main")
	golden := formattest.Fixture(t, "macho/samply/simple/main.dSYM.golden.json")
	formattest.GoldenOf(t, &Format, formattest.Beside(t, main), golden, known(t, main))
}

// mapped is the library without a dSYM. Its companions are its object files after change.
func mapped(t *testing.T, change func(name string, b []byte) []byte) {
	t.Helper()
	image := formattest.Testdata(t, "macho/objects/libmapped.dylib")
	in := formattest.Input(t, image)
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		n := path.Base(want.Name)
		return formattest.InputOf(n, change(n, own(t, "objects/"+n)), formats.Limits{}), nil
	}
	formattest.GoldenOf(t, &Format, in, image+".golden.json", known(t, image))
}

// Object files and static libraries that are fat answer by the slice of the image's architecture.
func TestFatObjectFiles(t *testing.T) {
	for name, slices := range map[string][][2]uint32{
		"last": {{0x1000007, 3}, {0x100000c, 0}}, // x86_64, arm64
		"only": {{0x100000c, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			mapped(t, func(_ string, b []byte) []byte {
				const table = 256
				fat := make([]byte, table, table+len(slices)*len(b))
				binary.BigEndian.PutUint32(fat, fatMagic)
				binary.BigEndian.PutUint32(fat[4:], uint32(len(slices)))
				for i, cpu := range slices {
					for k, v := range []uint32{cpu[0], cpu[1], uint32(len(fat)), uint32(len(b))} {
						binary.BigEndian.PutUint32(fat[8+20*i+4*k:], v)
					}
					fat = append(fat, b...)
				}
				return fat
			})
		})
	}
}

// Of the members of one name, which libraries have that were merged, the one with the functions is meant.
func TestNamesakes(t *testing.T) {
	member := func(b []byte) []byte {
		head := fmt.Appendf(nil, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", "main.o/", 0, 0, 0, 0o644, len(b))
		return append(append(head, b...), make([]byte, len(b)&1)...)
	}
	mapped(t, func(name string, b []byte) []byte {
		magic := []byte("!<arch>\n")
		if !bytes.HasPrefix(b, magic) {
			return b
		}
		damaged := bytes.Clone(own(t, "objects/engine.o"))
		clear(damaged[16:24]) // no load commands
		return append(append(append(magic, member(own(t, "objects/engine.o"))...), member(damaged[:40])...), b[len(magic):]...)
	})
}

// Missing object files are asked for a few times a folder: a library behind them is still found.
func TestMissingObjectFiles(t *testing.T) {
	b := own(t, "objects/libmapped.dylib")
	command := b[bytes.Index(b, []byte{2, 0, 0, 0, 24, 0, 0, 0}):] // LC_SYMTAB
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(command[8+4*i:]) }
	symbols, names := b[field(0):][:16*field(1)], b[field(2):][:field(3)]
	var table []byte
	text := bytes.Clone(names)
	entry := func(name string, kind byte, value uint64) {
		table = binary.LittleEndian.AppendUint32(table, uint32(len(text)))
		table = binary.LittleEndian.AppendUint64(append(table, kind, 1, 0, 0), value)
		text = append(append(text, name...), 0)
	}
	for i := range 2 * maxMisses {
		entry("/build/", 0x64, 0)                          // N_SO
		entry(fmt.Sprintf("/build/gone/%d.o", i), 0x66, 0) // N_OSO
		entry("_gone", 0x24, 0x4000)                       // N_FUN
		entry("", 0x24, 4)
		entry("", 0x64, 0)
	}
	table = append(table, symbols...)
	for i, v := range []int{len(b), len(table) / 16, len(b) + len(table), len(text)} {
		binary.LittleEndian.PutUint32(command[8+4*i:], uint32(v))
	}
	in := formattest.InputOf("libmapped.dylib", append(append(b, table...), text...), formats.Limits{})
	gone := 0
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		n := path.Base(want.Name)
		if path.Dir(want.Name) == "/build/gone" {
			gone++
			return nil, formats.ErrNoCompanion
		}
		return formattest.InputOf(n, own(t, "objects/"+n), formats.Limits{}), nil
	}
	obj := formattest.Open(t, &Format, in)
	if gone != maxMisses || len(obj.Artifacts) != 1 || obj.Artifacts[0].Parts != 3 {
		t.Errorf("%d asked for in vain, %+v", gone, obj.Artifacts)
	}
}
