package elffile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// Section is the section of that name, inflated and relocated; nil when there
// is none or the file holds no bytes for it. Of several, a debug section's
// ".zdebug_" form included, the first outside of section groups counts: groups
// hold type units and what else the linker may drop.
func (f *File) Section(name string) (*native.Section, error) {
	i := f.find(name)
	if i < 0 {
		return nil, nil
	}
	return f.section(i)
}

// Input is the In of Section, nil when there is no such section.
func (f *File) Input(name string) (*formats.Input, error) {
	s, err := f.Section(name)
	if s == nil || err != nil {
		return nil, err
	}
	return s.In, nil
}

// Has reports whether the file holds bytes of a section of that name.
func (f *File) Has(name string) bool { return f.find(name) >= 0 }

func (f *File) find(name string) int {
	grouped := -1
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind == 0 || h.kind == shtNobits || h.size == 0 || plainName(h.name) != name {
			continue
		}
		if h.flags&shfGroup == 0 {
			return i
		}
		if grouped < 0 {
			grouped = i
		}
	}
	return grouped
}

// plainName is a section's name without the mark of the older way to compress.
func plainName(name string) string {
	if rest, ok := strings.CutPrefix(name, ".zdebug_"); ok {
		return ".debug_" + rest
	}
	return name
}

// section makes section i readable, once.
func (f *File) section(i int) (*native.Section, error) {
	return f.sections[i].Get(func() (*native.Section, error) { return f.open(i) })
}

// raw is section i as it is stored.
func (f *File) raw(i int) (*formats.Input, error) {
	h := &f.headers[i]
	name := plainName(h.name)
	if name == "" {
		name = fmt.Sprintf("section %d", i)
	}
	if h.kind == 0 || h.kind == shtNobits {
		return f.In.Section(name, 0, 0)
	}
	if h.off > math.MaxInt64 || h.size > math.MaxInt64 || int64(h.off) > f.In.Size || int64(h.size) > f.In.Size-int64(h.off) {
		return nil, corrupt(name, 0, fmt.Sprintf("%d bytes at %#x of the file", h.size, h.off))
	}
	return f.In.Section(name, int64(h.off), int64(h.size))
}

func (f *File) open(i int) (*native.Section, error) {
	stored, err := f.raw(i)
	if err != nil {
		return nil, err
	}
	name := stored.Name
	p, err := f.packing(i, stored)
	if err != nil {
		return nil, err
	}
	h := &f.headers[i]
	relocs, err := f.relocations(i, p.Size)
	if err != nil {
		return nil, err
	}
	sec := &native.Section{Name: name, Addr: f.places[i], Size: p.Size, In: stored}
	if h.flags&shfAlloc == 0 {
		sec.Addr = 0
	}
	if p.Codec == "" && relocs == nil {
		return sec, nil
	}
	r, closer, err := f.Unpack(p, stored)
	if err != nil {
		return nil, err
	}
	defer closer()
	if relocs != nil {
		r = &relocator{f: f, section: name, place: f.places[i], src: r, next: relocs}
	}
	if sec.In, err = f.Hold(name, int64(p.Size), r); err != nil {
		return nil, err
	}
	return sec, nil
}

// Stored is the first section of that name as the file stores it; present
// tells a section without bytes (nil: a debug file has .text so) from none.
func (f *File) Stored(name string) (in *formats.Input, present bool, err error) {
	for i := range f.headers {
		if f.headers[i].name != name {
			continue
		}
		if f.headers[i].kind == shtNobits {
			return nil, true, nil
		}
		in, err := f.raw(i)
		return in, true, err
	}
	return nil, false, nil
}

// SectionKind is what EachStored selects.
type SectionKind uint8

// The kinds of sections.
const (
	DebugSection SectionKind = iota // .debug_ and .zdebug_
	TableSection                    // symbol and string tables, but for section names
)

// EachStored visits the sections of a kind that have bytes, as they are
// stored, in the file's order.
func (f *File) EachStored(kind SectionKind, visit func(*formats.Input) error) error {
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind == 0 || h.kind == shtNobits {
			continue
		}
		debug := strings.HasPrefix(plainName(h.name), ".debug_")
		table := h.kind == shtSymtab || h.kind == shtDynsym || h.name == ".strtab" || h.name == ".dynstr"
		if kind == DebugSection && !debug || kind == TableSection && !table {
			continue
		}
		in, err := f.raw(i)
		if err != nil {
			return err
		}
		if err := visit(in); err != nil {
			return err
		}
	}
	return nil
}

// packing reads a section's compression header and refuses sizes that the
// limits or the stored bytes rule out.
func (f *File) packing(i int, stored *formats.Input) (native.Packing, error) {
	h := &f.headers[i]
	p := native.Packing{Size: uint64(stored.Size)}
	switch {
	case stored.Size == 0:
		return p, nil
	case h.flags&shfCompressed != 0:
		p.Skip = 12
		if f.wide {
			p.Skip = 24
		}
		b, err := stored.View(0, min(p.Skip, stored.Size))
		if err != nil {
			return p, err
		}
		if int64(len(b)) < p.Skip {
			return p, corrupt(stored.Name, 0, "a whole compression header")
		}
		r := native.Fields{B: b, Order: f.Order}
		if f.wide {
			p.Size = r.U64(8)
		} else {
			p.Size = uint64(r.U32(4))
		}
		switch kind := r.U32(0); kind {
		case 1:
			p.Codec = "zlib"
		case 2:
			p.Codec = "zstd"
		default:
			return p, unsupported(stored.Name, 0, fmt.Sprintf("compression 1 (zlib) or 2 (zstd), not %d", kind))
		}
	case strings.HasPrefix(h.name, ".zdebug_"):
		return f.Zdebug(stored)
	default:
		return p, nil
	}
	return p, f.Check(p, stored)
}

// minidebug is the file inside .gnu_debugdata: an ELF file packed by xz that
// holds the symbol table strip removed. nil when there is none. It lives until
// its Close.
func (f *File) minidebug() (*File, error) {
	const name = ".gnu_debugdata"
	packed, err := f.Input(name)
	if packed == nil || err != nil {
		return nil, err
	}
	in, err := f.UnpackXZ(name, packed)
	if err != nil {
		return nil, err
	}
	inner, err := Open(in)
	if err != nil {
		if in.Release != nil {
			err = errors.Join(err, in.Release())
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	inner.Keep(in.Release)
	if inner.kind != f.kind || inner.machine != f.machine || inner.wide != f.wide || inner.Order != f.Order {
		return nil, errors.Join(corrupt(name, 0, "a file of the same machine and kind"), inner.Close())
	}
	return inner, nil
}
