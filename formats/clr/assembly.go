package clr

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/ecma335"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// assembly is an image with metadata.
type assembly struct {
	file     *pefile.File
	meta     *ecma335.Metadata
	mvid     string           // a UUID
	view     *pefile.CodeView // of its PDB; nil: none
	stamp    uint32           // of the PDB
	portable bool             // the PDB is a portable one
	pdb      string           // canonical id; "" without a PDB
	embedded []byte           // the packed PDB; nil: none
}

const (
	cliHeaderBytes = 16 // of the header: they end with the place of the metadata
	portableMark   = 0x504d
)

func readAssembly(in *formats.Input) (*assembly, error) {
	file, err := pefile.Open(in)
	if err != nil {
		return nil, err
	}
	a := &assembly{file: file}
	cli, err := file.At(file.Directory(pefile.DirCLR).Addr, cliHeaderBytes)
	if err != nil {
		return nil, err
	}
	if cli == nil {
		return nil, fault("CLI header", 0, "a header inside the image")
	}
	r := native.Fields{B: cli}
	size := int64(r.U32(12))
	if size > in.Limits.SectionBytes {
		return nil, &formats.Error{Format: name, Section: "metadata", Want: fmt.Sprintf("at most %d bytes", in.Limits.SectionBytes), Err: formats.ErrLimit}
	}
	b, err := file.At(r.U32(8), size)
	if err != nil {
		return nil, err
	}
	if a.meta, err = ecma335.Open(b, name, in.Limits); err != nil {
		return nil, err
	}
	if id := a.meta.GUID(ecma335.Module, 1, 2); id != nil {
		guid := pefile.GUID(id)
		a.mvid = fmt.Sprintf("%x-%x-%x-%x-%x", guid[0:4], guid[4:6], guid[6:8], guid[8:10], guid[10:])
	}
	return a, a.readDebug()
}

// readDebug reads the entries of the debug directory: which PDB belongs to the assembly, and whether it holds it.
func (a *assembly) readDebug() error {
	entries, err := a.file.DebugEntries()
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Kind != pefile.DebugCodeView && e.Kind != pefile.DebugEmbedded {
			continue
		}
		b, err := a.file.DebugData(e)
		if err != nil {
			return err
		}
		if e.Kind == pefile.DebugEmbedded {
			a.embedded = b
			continue
		}
		if view := pefile.ParseCodeView(b); view != nil && !view.Old && a.view == nil {
			a.view, a.stamp, a.portable = view, view.Age, e.Minor == portableMark
			if a.portable {
				a.stamp = e.Timestamp
			}
			id := &native.Identity{}
			addPDB(id, view.GUID, a.stamp)
			a.pdb = id.Canonical
		}
	}
	return nil
}

// has reports whether the assembly names a PDB of that id.
func (a *assembly) has(id []byte) bool {
	return pefile.GUID(id[:16]) == a.view.GUID && binary.LittleEndian.Uint32(id[16:]) == a.stamp
}

// addNames adds the names that the assembly has of its own.
func (a *assembly) addNames(id *native.Identity) {
	id.Add(symbol.NameMVID, a.mvid)
	id.Add(symbol.NameCodeID, a.file.CodeID())
	if module := a.meta.Text(ecma335.Module, 1, 1); !strings.ContainsAny(module, `/\`) {
		id.Add(symbol.NameFile, module)
	}
}

// size returns the size of a method's code; 0: it has none, or it is not known.
func (a *assembly) size(w *pefile.Window, row int) (uint32, error) {
	addr := a.meta.Cell(ecma335.MethodDef, row, 0)
	if addr == 0 {
		return 0, nil
	}
	head, err := w.At(addr, 1)
	if head == nil || err != nil {
		return 0, err
	}
	const tiny, fat, form = 2, 3, 3
	switch head[0] & form {
	case tiny:
		return uint32(head[0] >> 2), nil
	case fat:
		if head, err = w.At(addr, 8); head == nil || err != nil {
			return 0, err
		}
		return binary.LittleEndian.Uint32(head[4:]), nil
	}
	return 0, nil
}

func readMetadata(in *formats.Input) (*ecma335.Metadata, error) {
	if in.Size > in.Limits.SectionBytes {
		return nil, &formats.Error{Format: name, Section: "metadata", Want: fmt.Sprintf("at most %d bytes", in.Limits.SectionBytes), Err: formats.ErrLimit}
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	return ecma335.Open(b, name, in.Limits)
}

// inflate opens an embedded PDB.
func (o *object) inflate(b []byte) (*formats.Input, error) {
	const section, head = "embedded PDB", 8
	if len(b) < head || string(b[:4]) != "MPDB" {
		return nil, fault(section, 0, "the signature MPDB")
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	const ratio = 1032 // of deflate, at best
	if size > o.in.Limits.SectionBytes || size > ratio*int64(len(b)) {
		return nil, &formats.Error{Format: name, Section: section, Offset: 4, Want: fmt.Sprintf("a size that %d bytes can have", len(b)), Err: formats.ErrLimit}
	}
	in, err := o.in.Spool(section, size, flate.NewReader(bytes.NewReader(b[head:])))
	if err != nil {
		if errors.As(err, new(flate.CorruptInputError)) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fault(section, head, "deflated bytes")
		}
		return nil, err
	}
	if in.Release != nil {
		o.closers = append(o.closers, in.Release)
	}
	return in, nil
}

func fault(section string, at int64, want string) error {
	return &formats.Error{Format: name, Section: section, Offset: at, Want: want, Err: formats.ErrCorrupt}
}
