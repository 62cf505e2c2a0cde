package machofile

import (
	"context"
	"path"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
)

// ObjectFile is an object file that an image was linked from, as the debug map
// in its symbol table names it, and what of it the image holds.
type ObjectFile struct {
	Path      string // of the file, or of the archive that holds it
	Member    string // in the archive, or ""
	Functions []MappedFunction
}

// MappedFunction is a function's place in the image.
type MappedFunction struct {
	Name       string // with its underscore
	Addr, Size uint64
}

// Name is the base name of the file or archive.
func (o *ObjectFile) Name() string { return path.Base(o.Path) }

// DebugMap lists the object files that hold the image's DWARF, in the
// table's order: linkers leave it there for dsymutil and debuggers.
func (f *File) DebugMap(ctx context.Context) ([]ObjectFile, error) {
	t, err := f.table()
	if err != nil {
		return nil, err
	}
	code := native.Image{Code: f.Code()}
	var all []ObjectFile
	var cur *ObjectFile
	open := -1 // the function that waits for its size
	for i := range t.n {
		if i&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		e := t.at(i)
		if e.kind != nSOStab && e.kind != nOSOStab && e.kind != nFunStab {
			continue
		}
		name, err := t.names.At(uint64(e.name))
		if err != nil {
			return nil, err
		}
		switch {
		case e.kind == nSOStab:
			cur, open = nil, -1
		case e.kind == nOSOStab:
			o := ObjectFile{Path: name}
			if at := strings.LastIndexByte(name, '('); at > 0 && strings.HasSuffix(name, ")") {
				o.Path, o.Member = name[:at], name[at+1:len(name)-1]
			}
			all = append(all, o)
			cur, open = &all[len(all)-1], -1
		case cur == nil:
		case name != "":
			open = len(cur.Functions)
			cur.Functions = append(cur.Functions, MappedFunction{Name: name, Addr: e.value})
		case open >= 0:
			fn := &cur.Functions[open]
			if span, ok := code.Span(fn.Addr); ok {
				fn.Size = min(e.value, span.End-fn.Addr)
			}
			open = -1
		}
	}
	return all, nil
}

// Defined visits the symbols that an object file defines, named as its table
// has them, with the addresses of its own space.
func (f *File) Defined(visit func(name string, addr uint64)) error {
	t, err := f.table()
	if err != nil {
		return err
	}
	for i := range t.n {
		e := t.at(i)
		if e.kind&nStab != 0 || e.kind&nType != nSect || e.section < 0 {
			continue
		}
		name, err := t.names.At(uint64(e.name))
		if err != nil {
			return err
		}
		if name != "" {
			visit(name, e.value)
		}
	}
	return nil
}
