// Package pdb reads the symbol files of Windows: PDB 7 of MSVC, of clang-cl and lld, of Rust.
//
// # Identity
//
// The artifact is the image's. Its canonical id is the GUID of the file and the age of the DBI stream, which is the age
// that the image holds; the age of the info stream counts changes of the file. A file without a DBI stream (types alone)
// has no artifact.
//
// # Positions
//
// Addresses count from the image base, as rows do. The file does not say the base's address, so Base is 0. Images that
// an optimizer laid out anew after linking have a table of moves (OMAP): positions count in the final image.
//
// # Names
//
// A function is called by the public symbol that stands where it begins: its decorated name, as llvm-symbolizer prints
// it without demangling. Of several publics at one address (the linker folded equal functions) the one counts that spells
// the procedure's own name, else the last by name. A function without a public has the qualified name of its
// procedure record. Inlined functions have qualified names too: the id stream has no decorated ones. Names of C in x86
// images come without what their calling convention added.
//
// # Unwinding
//
// Files for x86 hold records of frame data and of FPO. For other processors the image has the tables: it is asked for
// beside the file and by its id.
//
// # Limits of the format
//
//   - code that a procedure record does not cover has the name of the public symbol before it, up to the next public
//     or the code of another object file;
//   - code of a procedure before its first line has that line;
//   - code that the compiler made, with a line that debuggers step through or over, has the line before;
//   - files linked with /DEBUG:FASTLINK hold no symbols, and are refused.
//
// Invariants:
//   - a part is a group of modules; the last part is the public symbols;
//   - a procedure in code that another module contributed has the rank of Breakpad's, so that the owner's counts;
//   - a damaged module costs itself, and is counted.
package pdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/il2cpp"
	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const name = "pdb"

// Format reads PDB files.
var Format = formats.Format{Name: name, Version: 1, Detect: detect, Open: open}

func detect(_ string, head []byte) bool { return msf.Known(head) }

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := msf.Open(in, name)
	if err != nil {
		return nil, err
	}
	info, err := readInfo(file)
	if err != nil {
		return nil, err
	}
	if info.fast {
		return nil, &formats.Error{Format: name, Section: "info", Want: "the symbols themselves, which /DEBUG:FASTLINK leaves in the object files: link with /DEBUG:FULL, or complete the file with mspdbcmf", Err: formats.ErrUnsupported}
	}
	d, err := readDBI(file, in.Limits)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return &formats.Object{Note: "no-symbols: a PDB file of types alone"}, nil
	}
	l, err := readLayout(file, d)
	if err != nil {
		return nil, err
	}
	if l.end == 0 {
		return &formats.Object{Note: "no-symbols: a PDB file of a compiler, which no linker completed"}, nil
	}
	o := &object{in: in, file: file, info: info, dbi: d, layout: l}
	o.group()
	a := identity(info.guid, d.age, in).Artifact(symbol.PE, arch(d.machine), 0, l.end)
	a.Parts = l.parts()
	art := formats.Artifact{
		Artifact: a, Rank: symbol.RankDWARF, Parts: len(o.groups) + 1, Lasting: true, Explode: o.explode, Unwind: o.frames(&a),
	}
	il2cpp.Over(in, &art)
	return &formats.Object{Artifacts: []formats.Artifact{art}}, nil
}

// identity returns how the image is known.
func identity(guid [16]byte, age uint32, in *formats.Input) *native.Identity {
	slices.Reverse(guid[0:4])
	slices.Reverse(guid[4:6])
	slices.Reverse(guid[6:8])
	id := &native.Identity{}
	id.AddPDB(guid, strconv.FormatUint(uint64(age), 16))
	id.Add(symbol.NameFile, in.FileName())
	return id
}

// machineX86 is the number of 32-bit Intel processors.
const machineX86 = 0x14c

// arch returns the architecture of a machine as COFF numbers it.
func arch(machine uint16) string {
	switch machine {
	case machineX86:
		return "x86"
	case 0x8664:
		return "x86_64"
	case 0xaa64, 0xa641, 0xa64e:
		return "arm64"
	case 0x1c0, 0x1c2, 0x1c4:
		return "arm"
	}
	return fmt.Sprintf("coff-%#x", machine)
}
