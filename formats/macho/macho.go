// Package macho reads the program files of Apple's systems: executables,
// libraries and dSYM files, thin or with a slice for each architecture, and
// what lies around them: dSYM bundles, the object files that a debug map leads
// to, symbol maps of bitcode builds, the shared cache of the system's libraries.
//
// It leaves load commands, sections and symbol tables to
// formats/internal/machofile, DWARF to formats/internal/dwarf, and runs to
// formats/internal/explode.
//
// # Identity
//
// An artifact is one slice. Its canonical id is LC_UUID in lower case with
// dashes; without one (or if it is zero) "sha256:" of __text, or, where that
// has no bytes, of name, size and stored bytes of each debug section.
//
// # Where answers come from
//
//   - the image's own DWARF, in a dSYM or left in an executable;
//   - without any, the DWARF of the object files that its debug map names, as
//     far as they are companions of the image, moved to where the linker put
//     each function;
//   - without any of both, the table of functions that a Go program carries;
//   - the symbol table, and the export trie where that has no functions.
//
// Invariants:
//   - Open reads load commands, unit headers, and the symbols of an image of one unit
//     (Dart's snapshots are counted from some of them); everything else waits for Explode;
//   - an object without code, or without symbols, DWARF and a table of Go's, has no artifact;
//   - a slice of a fat file that is damaged is rejected alone.
package macho

import (
	"context"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/il2cpp"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the format, in errors too.
const name = "macho"

// Format reads Mach-O files, thin and fat.
var Format = formats.Format{Name: name, Version: 6, Detect: detect, Open: open}

func detect(_ string, head []byte) bool { return machofile.Is(head) || isFat(head) }

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	head, err := in.View(0, min(in.Size, 8))
	if err != nil {
		return nil, err
	}
	if isFat(head) {
		return openFat(in)
	}
	file, err := machofile.Open(in)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, file: file}
	obj := &formats.Object{Close: o.close}
	return native.Opened(obj, o.describe(ctx, obj))
}

// describe fills obj with the artifact of the image, or says what else it is.
func (o *object) describe(ctx context.Context, obj *formats.Object) error {
	if o.file.Relocatable() {
		obj.Note = "companion: an object file, read with the image that was linked from it"
		return nil
	}
	o.code = o.file.Code()
	if len(o.code) == 0 {
		return nil
	}
	if err := o.findUnits(ctx); err != nil {
		return err
	}
	rank := symbol.RankDWARF
	if o.parts() == 0 {
		if o.file.DSYM() && o.file.HasSection("__TEXT", "__debug_dylib") {
			obj.Note = "stub: this dSYM belongs to the launcher of a debug build; the code's own is that of the .debug.dylib"
			return nil
		}
		// Only the tables can tell whether there is anything to load.
		img, err := o.image(ctx)
		if err != nil {
			return err
		}
		if err := o.findGo(ctx); err != nil {
			return err
		}
		if len(img.Symbols) == 0 && o.goTable == nil {
			if o.file.DSYM() {
				obj.Note = "no-symbols: a dSYM without units and symbols: it was made of an image that has no debug information"
			}
			return o.describeImage(ctx, obj)
		}
		rank = symbol.RankBreakpad
		if o.goTable == nil {
			rank = img.Symbols[0].Rank
		}
	}
	id, err := identify(ctx, o.in, o.file)
	if err != nil {
		return err
	}
	a := id.Artifact(symbol.MachO, o.file.Arch(), o.file.Base(), o.file.End())
	if o.parts() <= native.DartUnits {
		img, err := o.image(ctx)
		if err != nil {
			return err
		}
		a.Anchors = img.DartAnchors()
	}
	a.Parts, a.Segments = o.file.Parts(), o.file.Segments()
	obj.Artifacts = []formats.Artifact{{Artifact: a, Rank: rank, Parts: o.parts() + o.goParts() + 1, Explode: o.explode, Lasting: true,
		Table: o.file.TableDigest(), CodeDigest: o.file.CodeDigest}}
	o.addUnwind(&obj.Artifacts[0])
	o.offer(obj, a.Canonical)
	il2cpp.Over(o.in, &obj.Artifacts[0])
	return nil
}

// describeImage describes a file without symbols: it may hold what its debug file has lost.
func (o *object) describeImage(ctx context.Context, obj *formats.Object) error {
	if has, _ := o.file.Frames(); !has {
		return nil
	}
	id, err := identify(ctx, o.in, o.file)
	if err != nil {
		return err
	}
	o.offer(obj, id.Canonical)
	return nil
}

// fileName is the last part of an object's name that is a file: "x" of
// "outer.zip!lib/x" and of its slice, "outer.zip!lib/x!arm64".
func fileName(name string) string {
	if i := strings.LastIndexByte(name, '!'); i >= 0 && isArch(name[i+1:]) {
		name = name[:i]
	}
	return formats.Base(name)
}
