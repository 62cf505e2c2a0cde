// Package clr reads what .NET and Mono need for names and lines of managed code: assemblies, and portable PDB files, beside
// them or embedded.
//
// It leaves headers of images to formats/internal/pefile, and metadata to formats/internal/ecma335.
//
// # Identity
//
// An artifact's canonical id is the first that the file has, in this order:
//
//   - the GUID of its PDB, in lower case with dashes, and its stamp in hex: "b6a5e7c0-…-8e1f2a3b", as Sentry spells it;
//   - "mvid:" and the id of the assembly's module.
//
// An assembly has the id of its PDB in its debug directory. Names are that id, with the spellings of symbol servers, the MVID,
// and the base names of the files.
//
// # Answers
//
// A position is the row of a method << 32 | the offset in its code. The assembly has the names of methods, the PDB has
// the places: each asks for the other, by name beside it and then by the id that they share ("clr-assembly:…",
// "clr-pdb:…"). What lacks the other answers alone. A hidden place counts as the visible one before it, as the
// runtimes print it.
//
// Invariants:
//   - an image with a CLI header is an assembly, also one with native code beside it;
//   - a damaged method is counted, and keeps the places before the damage.
package clr

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/ecma335"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the format, in errors too.
const name = "clr"

// Format reads assemblies and portable PDB files.
var Format = formats.Format{Name: name, Version: 1, Detect: detect, Open: open}

func detect(_ string, head []byte) bool {
	return strings.HasPrefix(string(head[:min(len(head), 4)]), ecma335.Magic) || managed(head)
}

// managed reports whether an image has a CLI header.
func managed(head []byte) bool {
	if !pefile.Known(head) {
		return false
	}
	const (
		fileHeader = 24 // with the signature
		narrow     = 0x10b
		wide       = 0x20b
	)
	at := uint64(binary.LittleEndian.Uint32(head[60:])) + fileHeader
	if at+2 > uint64(len(head)) {
		return false
	}
	first := uint64(96) // where directories begin
	switch binary.LittleEndian.Uint16(head[at:]) {
	case narrow:
	case wide:
		first = 112
	default:
		return false
	}
	end := at + first + 8*(pefile.DirCLR+1)
	if end > uint64(len(head)) || binary.LittleEndian.Uint32(head[at+first-4:]) <= pefile.DirCLR {
		return false
	}
	return binary.LittleEndian.Uint64(head[end-8:]) != 0
}

// object is an opened file: an assembly, a PDB, or both.
type object struct {
	in       *formats.Input
	assembly *assembly
	pdb      *ecma335.Metadata
	names    *ecma335.Names
	sizes    []uint32
	lacks    string // the id of an assembly that was not found
	closers  []func() error
}

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	o := &object{in: in}
	obj := &formats.Object{Close: o.close}
	return native.Opened(obj, o.describe(ctx, obj))
}

func (o *object) close() error {
	var errs []error
	for _, c := range o.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

func (o *object) describe(ctx context.Context, obj *formats.Object) error {
	head, err := o.in.View(0, min(o.in.Size, 4))
	if err != nil {
		return err
	}
	id := &native.Identity{}
	if string(head) == ecma335.Magic {
		err = o.openPDB(ctx, id)
	} else {
		err = o.openAssembly(ctx, id)
	}
	if err != nil {
		return err
	}
	if o.pdb == nil && o.assembly == nil {
		obj.Note = "no-code: metadata without debug information"
		return nil
	}
	rank, methods := symbol.RankDWARF, 0
	if o.assembly != nil {
		methods = o.assembly.meta.Rows(ecma335.MethodDef)
		o.names = ecma335.ReadNames(o.assembly.meta, o.pdb)
	}
	if o.pdb == nil {
		rank = symbol.RankSymtab
	} else {
		methods = max(methods, o.pdb.Rows(ecma335.MethodDebug))
		o.sizes = o.pdb.Sizes()
	}
	if methods == 0 {
		obj.Note = "no-symbols: an assembly without methods"
		return nil
	}
	a := id.Artifact(symbol.CLR, "", 0, uint64(methods+1)<<32)
	obj.Artifacts = []formats.Artifact{{Artifact: a, Rank: rank, Parts: (methods + partMethods - 1) / partMethods, Lasting: true,
		Explode: func(ctx context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
			return o.explode(ctx, part, methods, emit)
		}}}
	if o.assembly != nil {
		obj.Companions = append(obj.Companions, assemblyPrefix+id.Canonical)
	}
	if o.pdb != nil {
		obj.Companions = append(obj.Companions, pdbPrefix+id.Canonical)
	}
	return nil
}

// Ids by which an assembly and its PDB find each other.
const (
	assemblyPrefix = "clr-assembly:"
	pdbPrefix      = "clr-pdb:"
)

// addPDB names an artifact after its PDB: the GUID in its written form, and the stamp.
func addPDB(id *native.Identity, guid [16]byte, stamp uint32) {
	id.AddPDB(guid, fmt.Sprintf("%x", stamp))
	digits := hex.EncodeToString(guid[:])
	id.Add(symbol.NameDebugID, digits+"ffffffff") // as symbol servers spell it
	id.Add(symbol.NameDebugID, digits+"1")        // as for PDB files of Windows
}

// openPDB opens a portable PDB, and asks for its assembly.
func (o *object) openPDB(ctx context.Context, id *native.Identity) error {
	pdb, err := readMetadata(o.in)
	if err != nil {
		return err
	}
	if pdb.PDBID == nil {
		return nil
	}
	o.pdb = pdb
	addPDB(id, pefile.GUID(pdb.PDBID[:16]), binary.LittleEndian.Uint32(pdb.PDBID[16:]))
	id.Add(symbol.NameFile, o.in.FileName())
	stem := o.in.FileName()
	if i := strings.LastIndexByte(stem, '.'); i > 0 {
		stem = stem[:i]
	}
	for _, ref := range []formats.Ref{{Name: stem + ".dll", Optional: true}, {Name: stem + ".exe", Optional: true}, {ID: assemblyPrefix + id.Canonical}} {
		found, err := o.companion(ctx, ref, func(in *formats.Input) (bool, error) {
			a, err := readAssembly(in)
			if err != nil || a.pdb != id.Canonical {
				return false, err
			}
			o.assembly = a
			return true, nil
		})
		if found || err != nil {
			if found {
				o.assembly.addNames(id)
			}
			return err
		}
	}
	o.lacks = assemblyPrefix + id.Canonical
	return nil
}

// openAssembly opens an assembly, with its PDB if it is embedded or to be had.
func (o *object) openAssembly(ctx context.Context, id *native.Identity) error {
	a, err := readAssembly(o.in)
	if err != nil {
		return err
	}
	o.assembly = a
	if a.view != nil {
		addPDB(id, a.view.GUID, a.stamp)
	}
	a.addNames(id)
	id.Claim("mvid:" + a.mvid)
	id.Add(symbol.NameFile, o.in.FileName())
	if a.view == nil {
		return nil
	}
	id.Add(symbol.NameFile, formats.Base(a.view.Path))
	check := func(in *formats.Input) (bool, error) {
		pdb, err := readMetadata(in)
		if err != nil || pdb.PDBID == nil || !a.has(pdb.PDBID) {
			return false, err
		}
		o.pdb = pdb
		return true, nil
	}
	if a.embedded != nil {
		in, err := o.inflate(a.embedded)
		if err != nil {
			return err
		}
		if _, err := check(in); err != nil {
			return err
		}
		return nil
	}
	if !a.portable {
		return nil
	}
	for _, ref := range []formats.Ref{{Name: formats.Base(a.view.Path), Optional: true}, {ID: pdbPrefix + id.Canonical, Optional: true}} {
		if found, err := o.companion(ctx, ref, check); found || err != nil {
			return err
		}
	}
	return nil
}

// companion asks for a companion and keeps it if use takes it. A damaged one counts as missing.
func (o *object) companion(ctx context.Context, ref formats.Ref, use func(*formats.Input) (bool, error)) (bool, error) {
	if o.in.Companion == nil {
		return false, nil
	}
	in, err := o.in.Companion(ctx, ref)
	if errors.Is(err, formats.ErrNoCompanion) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if in.Release != nil {
		o.closers = append(o.closers, in.Release)
	}
	if in.Fetch != nil {
		if err := in.Fetch(ctx); err != nil {
			if formats.Rejects(err) {
				return false, nil
			}
			return false, err
		}
	}
	found, err := use(in)
	if formats.Rejects(err) {
		err = nil
	}
	return found, err
}
