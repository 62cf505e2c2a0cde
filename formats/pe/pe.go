// Package pe reads images of Windows, PE32 and PE32+: programs and libraries of x86, x86-64, ARM and ARM64, as MSVC, LLVM,
// Rust, Go and MinGW link them, and debug files that objcopy split off from them.
//
// It leaves headers, directories and symbols to formats/internal/pefile, DWARF to formats/internal/dwarf, and runs to
// formats/internal/explode. A PDB is an object of its own: it and its image are sources of one artifact.
//
// # Identity
//
// An artifact's canonical id is the first that the file has, in this order:
//
//   - the GUID and the age of its PDB, "c50d…-…-1", from the record RSDS of the debug directory, or from .buildid, where
//     MinGW's linkers put a build-id in that form; of a record NB10 the time stamp and the age, in hex;
//   - "go:" and the Go linker's build-id;
//   - "debuglink:NAME:CRC32": the text of .gnu_debuglink; or, of a debug file (its code has no bytes), its own base name and the
//     CRC-32 of all its bytes;
//   - "sha256:" of name, size and stored bytes of each section with code, else of each .debug_ section.
//
// Names are the debug-ids as Breakpad, symbol servers and UUIDs spell them, the code-id (time stamp and size), and the base
// names of the file, of the library in the export table, and of the PDB.
//
// # Answers
//
// DWARF in sections .debug_… is read as in ELF files. A Go program without it answers from the table of functions that it
// carries. The symbol table names functions of MinGW, exports name the rest. The
// function table (.pdata) bounds both, so an address behind an exported function has no name.
//
// Invariants:
//   - an image without code, or without names, DWARF and call frame information, has no artifact;
//   - positions are relative virtual addresses.
package pe

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the format, in errors too.
const name = "pe"

// Format reads images of Windows.
var Format = formats.Format{Name: name, Version: 1, Detect: detect, Open: open}

// detect goes by both signatures: many programs of DOS have the first alone.
func detect(_ string, head []byte) bool { return pefile.Known(head) }

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	file, err := pefile.Open(in)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, file: file}
	obj := &formats.Object{Close: o.file.Close}
	return native.Opened(obj, o.describe(ctx, obj))
}

// describe fills obj with the artifact of the file.
func (o *object) describe(ctx context.Context, obj *formats.Object) error {
	if o.code = o.file.Code(); len(o.code) == 0 {
		obj.Note = "no-code: an image of resources or data"
		return nil
	}
	var err error
	if o.units, err = dwarf.CountUnits(ctx, o.file, name, o.in.Limits); err != nil {
		return err
	}
	rank := symbol.RankDWARF
	if o.units == 0 {
		img, err := o.image(ctx)
		if err != nil {
			return err
		}
		if err := o.findGo(ctx); err != nil {
			return err
		}
		if len(img.Symbols) == 0 && o.goTable == nil && !o.hasFrames() {
			obj.Note = "no-symbols: an image without names of functions"
			return nil
		}
		rank = img.Rank()
		if o.goTable != nil {
			rank = symbol.RankBreakpad
		}
	}
	id, err := identify(ctx, o.in, o.file)
	if err != nil {
		return err
	}
	a := id.Artifact(symbol.PE, o.file.Arch(), o.file.Base(), o.code[len(o.code)-1].End)
	o.misplaced = native.StoreWarning(o.in.Name, a.Names)
	a.Parts, a.Segments = o.file.Parts(), o.file.Segments()
	if o.hasFrames() {
		obj.Companions = []string{cfi.ImageID(id.Canonical)}
	}
	obj.Artifacts = []formats.Artifact{{Artifact: a, Rank: rank, Parts: o.parts(), Explode: o.explode, Lasting: true,
		Table: o.file.TableDigest(), CodeDigest: o.file.CodeDigest,
		Unwind: o.frames(id.Canonical)}}
	return nil
}
