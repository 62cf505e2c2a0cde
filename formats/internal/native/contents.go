package native

import (
	"fmt"
	"math"
	"strings"

	"github.com/symlake/symlake/formats"
)

// Section is the section of that name, inflated and relocated; nil when there
// is none or the file holds no bytes for it. Of several, a debug section's
// ".zdebug_" form included, the first outside of section groups counts: groups
// hold type units and what else the linker may drop.
func (f *ELF) Section(name string) (*Section, error) {
	i := f.find(name)
	if i < 0 {
		return nil, nil
	}
	return f.section(i)
}

// Input is the In of Section, nil when there is no such section.
func (f *ELF) Input(name string) (*formats.Input, error) {
	s, err := f.Section(name)
	if s == nil || err != nil {
		return nil, err
	}
	return s.In, nil
}

// Has reports whether the file holds bytes of a section of that name.
func (f *ELF) Has(name string) bool { return f.find(name) >= 0 }

func (f *ELF) find(name string) int {
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
func (f *ELF) section(i int) (*Section, error) {
	return f.sections[i].get(func() (*Section, error) { return f.open(i) })
}

// raw is section i as it is stored.
func (f *ELF) raw(i int) (*formats.Input, error) {
	h := &f.headers[i]
	name := plainName(h.name)
	if name == "" {
		name = fmt.Sprintf("section %d", i)
	}
	if h.kind == 0 || h.kind == shtNobits {
		return f.in.Section(name, 0, 0)
	}
	if h.off > math.MaxInt64 || h.size > math.MaxInt64 || int64(h.off) > f.in.Size || int64(h.size) > f.in.Size-int64(h.off) {
		return nil, corrupt(name, 0, fmt.Sprintf("%d bytes at %#x of the file", h.size, h.off))
	}
	return f.in.Section(name, int64(h.off), int64(h.size))
}

func (f *ELF) open(i int) (*Section, error) {
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
	relocs, err := f.relocations(i, p.size)
	if err != nil {
		return nil, err
	}
	sec := &Section{Name: name, Addr: f.places[i], Size: p.size, In: stored}
	if h.flags&shfAlloc == 0 {
		sec.Addr = 0
	}
	if p.codec == "" && relocs == nil {
		return sec, nil
	}
	r, closer, err := f.unpack(p, stored)
	if err != nil {
		return nil, err
	}
	defer closer()
	if relocs != nil {
		r = &relocator{f: f, section: name, place: f.places[i], src: r, next: relocs}
	}
	if sec.In, err = f.hold(name, int64(p.size), r); err != nil {
		return nil, err
	}
	return sec, nil
}

// Stored is the first section of that name as the file stores it; present
// tells a section without bytes (nil: a debug file has .text so) from none.
func (f *ELF) Stored(name string) (in *formats.Input, present bool, err error) {
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
func (f *ELF) EachStored(kind SectionKind, visit func(*formats.Input) error) error {
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
func (f *ELF) packing(i int, stored *formats.Input) (packing, error) {
	h := &f.headers[i]
	p := packing{size: uint64(stored.Size)}
	switch {
	case stored.Size == 0:
		return p, nil
	case h.flags&shfCompressed != 0:
		p.skip = 12
		if f.wide {
			p.skip = 24
		}
		b, err := stored.View(0, min(p.skip, stored.Size))
		if err != nil {
			return p, err
		}
		if int64(len(b)) < p.skip {
			return p, corrupt(stored.Name, 0, "a whole compression header")
		}
		r := fields{b, f.order}
		if f.wide {
			p.size = r.u64(8)
		} else {
			p.size = uint64(r.u32(4))
		}
		switch kind := r.u32(0); kind {
		case 1:
			p.codec = "zlib"
		case 2:
			p.codec = "zstd"
		default:
			return p, unsupported(stored.Name, 0, fmt.Sprintf("compression 1 (zlib) or 2 (zstd), not %d", kind))
		}
	case strings.HasPrefix(h.name, ".zdebug_"):
		return f.zdebug(stored)
	default:
		return p, nil
	}
	return p, f.check(p, stored)
}
