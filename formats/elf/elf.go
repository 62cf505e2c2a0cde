// Package elf reads program files of ELF systems: executables, shared objects,
// kernel modules and object files, debug files split off from any of them, and
// companions with parts of them: .dwo files and packages of them (.dwp), and the
// files that dwz made for several programs.
//
// It leaves headers, sections and symbol tables to formats/internal/elffile,
// DWARF to formats/internal/dwarf, runs to formats/internal/explode, and the tables of
// Go programs without DWARF to formats/internal/pclntab.
//
// # Identity
//
// An artifact's canonical id is the first that the file has, in this order:
//
//   - the GNU build-id in lower-case hex, in full; one shorter than 8 bytes or
//     of zeros only counts as none;
//   - "go:" and the Go linker's build-id;
//   - "debuglink:NAME:CRC32": the text of .gnu_debuglink; or, of a debug file (its
//     .text has no bytes), its own base name and the CRC-32 of all its bytes, so
//     that both halves are one artifact whichever comes first;
//   - "sha256:" of .text, if the file holds at least 64 bytes of it;
//   - "sha256:" of name, size and stored bytes of each .debug_ section in the
//     file's order or, if there are none, of each symbol and string table.
//
// # Parts in other files
//
// A split unit is looked for in the object's own .dwo sections, in its package
// (X.dwp beside X, and beside X.debug), in the file that its skeleton names,
// and at last by its id ("dwo:" and 16 hex digits). If the names of many units
// lead nowhere, the object asks for ids only. A package is known by its smallest
// ids, and an object asks by its own smallest ids. dwz's file is asked for by name
// and id together ("dwz:" and its build-id or checksum). A found file counts only
// with the right id. A missing or damaged file costs its own answers alone.
//
// Invariants:
//   - Open inflates .debug_info, and reads the symbols of a file of one unit (Dart's
//     snapshots are counted from some of them); everything else waits for Explode;
//   - an object without code, or without symbols, DWARF and a table of Go's, has no artifact.
package elf

import (
	"context"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/elffile"
	"github.com/symlake/symlake/formats/internal/il2cpp"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/split"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the format, in errors too.
const name = "elf"

// Format reads ELF files.
var Format = formats.Format{Name: name, Version: 7, Detect: detect, Open: open}

// detect goes by the magic number and the class: nothing else looks like it.
func detect(_ string, head []byte) bool {
	return len(head) >= 6 && string(head[:4]) == "\x7fELF" && (head[4] == 1 || head[4] == 2) && (head[5] == 1 || head[5] == 2)
}

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	file, err := elffile.Open(in)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, file: file}
	obj := &formats.Object{Close: o.close}
	return native.Opened(obj, o.describe(ctx, obj))
}

// describe fills obj with the artifact of the file, or with its ids as a companion.
func (o *object) describe(ctx context.Context, obj *formats.Object) error {
	var err error
	if o.code, err = o.file.Code(); err != nil {
		return err
	}
	if obj.Companions, err = split.Names(ctx, o.in, o.file, name); err != nil {
		return err
	}
	if len(o.code) == 0 {
		if obj.Companions == nil {
			obj.Companions, err = o.supplement()
		}
		return err
	}
	if o.units, err = dwarf.CountUnits(ctx, o.file, name, o.in.Limits); err != nil {
		return err
	}
	rank := symbol.RankDWARF
	if o.units == 0 {
		// Only the tables can tell whether there is anything to load.
		img, err := o.image(ctx)
		if err != nil {
			return err
		}
		if err := o.findGo(ctx); err != nil {
			return err
		}
		if len(img.Symbols) == 0 && o.goTable == nil {
			return o.describeImage(ctx, obj)
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
	a := id.Artifact(symbol.ELF, o.file.Arch(), o.file.Base(), o.code[len(o.code)-1].End)
	if a.Anchors = o.file.Anchors(); a.Anchors == nil && o.units <= native.DartUnits {
		img, err := o.image(ctx)
		if err != nil {
			return err
		}
		a.Anchors = img.DartAnchors()
	}
	a.Parts, a.Segments = o.file.Parts(), o.file.Segments()
	made := formats.Artifact{Artifact: a, Rank: rank, Parts: o.parts(), Explode: o.explode, Lasting: true,
		Table: o.file.TableDigest(), CodeDigest: o.file.CodeDigest}
	o.addUnwind(&made)
	il2cpp.Over(o.in, &made)
	o.offer(obj, a.Canonical)
	obj.Artifacts = []formats.Artifact{made}
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

// supplement is the id by which others refer to a file that dwz made for them.
func (o *object) supplement() ([]string, error) {
	if !o.file.Has(".debug_info") {
		return nil, nil
	}
	id, err := supplementID(o.file)
	if id == "" || err != nil {
		return nil, err
	}
	return []string{"dwz:" + id}, nil
}
