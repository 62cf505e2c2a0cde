// Package wasm reads modules of WebAssembly: their DWARF, their name section, their imports and exports. It hands out the
// modules of a component one by one.
//
// It leaves sections to formats/internal/wasmfile, DWARF to formats/internal/dwarf, runs to formats/internal/explode, and
// source maps of modules to formats/sourcemap.
//
// # Identity
//
// A module's canonical id is its build_id in lower-case hex; without one of at least 8 bytes it is "sha256:" of the offset
// of the code section's contents (8 bytes, big-endian) and of these contents. Tools that strip custom sections keep both:
// a stripped module and the file with its DWARF are one artifact. Tools that write the code again, as wasm-opt does, make
// another module, with other offsets.
//
// # Positions
//
// A position is an offset in the module's file, as engines print it: the base is 0. Behind them are the functions by their
// numbers (symbol.WasmFunction): what a function is called, and where it begins. DWARF counts from the first byte of the
// code section's contents. A module in a component has positions of its own, from its first byte.
//
// # Parts in other files
//
// A module without DWARF asks for the file that external_debug_info names, and by its id ("wasm:" and the canonical id).
// Split units are looked for as an ELF file's are: in the package beside the module, by the name of their file, by their id.
// A file with DWARF and without code, as llvm-objcopy --only-keep-debug makes it, is such a part, and has no artifact.
//
// Invariants:
//   - Open reads where sections are, unit headers, and, of a module without build_id, the code for its hash;
//   - a module without code, or without names and DWARF, has no artifact;
//   - a damaged name section costs the names behind the damage.
package wasm

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/split"
	"github.com/symlake/symlake/formats/internal/wasmfile"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the format, in errors too.
const name = "wasm"

// Format reads modules and components of WebAssembly.
var Format = formats.Format{Name: name, Version: 1, Detect: detect, Open: open}

func detect(_ string, head []byte) bool { return wasmfile.Is(head) }

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	file, err := wasmfile.Open(in)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, file: file}
	obj := &formats.Object{Close: o.close}
	if file.Component {
		obj.Members = o.members
		return obj, nil
	}
	return native.Opened(obj, o.describe(ctx, obj))
}

// members hands out the modules of a component, and the components in it.
func (o *object) members(ctx context.Context, emit func(*formats.Input) error) error {
	for i, p := range o.file.Parts() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i >= o.in.Limits.Members {
			return o.file.Limit("members", uint64(p.Offset), "fewer modules")
		}
		m, err := o.in.Section(fmt.Sprintf("%s!%d.wasm", o.in.Name, i), p.Offset, p.Size)
		if err != nil {
			return err
		}
		m.File = ""
		if err := emit(m); err != nil {
			return err
		}
	}
	return nil
}

// describe fills obj with the artifact of the module, or with its ids as a part of one.
func (o *object) describe(ctx context.Context, obj *formats.Object) error {
	id, err := identify(ctx, o.in, o.file)
	if err != nil {
		return err
	}
	if obj.Companions, err = split.Names(ctx, o.in, o.file, name); err != nil {
		return err
	}
	imported, defined, err := o.file.CountFunctions()
	if err != nil {
		return err
	}
	if o.file.CodeBytes() == 0 {
		if o.file.Has(".debug_info") {
			obj.Note = "companion: a file with DWARF and without code, read with the module that was linked with it"
			if id.Canonical != "" {
				obj.Companions = append(obj.Companions, partName(id.Canonical))
			}
		}
		return nil
	}
	if err := o.findUnits(ctx, id); err != nil {
		return err
	}
	rank := symbol.RankDWARF
	if o.units == 0 {
		// Only the tables can tell whether there is anything to load.
		t, err := o.tables(ctx)
		if err != nil {
			return err
		}
		if len(t.image.Symbols) == 0 {
			return nil
		}
		rank = t.image.Rank()
	}
	a := id.Artifact(symbol.Wasm, "wasm32", 0, symbol.WasmFunction(uint32(imported+defined)))
	obj.Artifacts = []formats.Artifact{{Artifact: a, Rank: rank, Parts: o.units + 1, Explode: o.explode, Lasting: true,
		Table: o.tableDigest(), CodeDigest: o.codeDigest}}
	return nil
}

// tableDigest tells modules of one id apart by where their code is.
func (o *object) tableDigest() [32]byte {
	return native.TableDigest("wasm", 0, []native.Place{{Name: "code", Addr: o.file.CodeStart(), Size: o.file.CodeBytes()}})
}

func (o *object) codeDigest(ctx context.Context) (sum [32]byte, err error) {
	code, err := o.file.Code()
	if err != nil {
		return sum, err
	}
	return native.CodeDigest(ctx, name, []*formats.Input{code})
}

// countUnits is how many units of a file can hold code.
func countUnits(ctx context.Context, f *wasmfile.File, lim *formats.Limits) (int, error) {
	return dwarf.CountUnits(ctx, f, name, lim)
}
