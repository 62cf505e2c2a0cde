package machofile

import (
	"fmt"
	"math"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// dwarfSegment holds the debug sections of linked images and object files.
const dwarfSegment = "__DWARF"

// maxMachoName is the room for a section's name; longer ones are cut.
const maxMachoName = 16

// Input is a debug section by the name that ELF files have for it
// (".debug_info"), inflated and, in an object file, relocated; nil when there is none.
func (f *File) Input(name string) (*formats.Input, error) {
	i := f.find(name)
	if i < 0 {
		return nil, nil
	}
	s, err := f.sections[i].Get(func() (*native.Section, error) { return f.open(i, name) })
	if s == nil {
		return nil, err
	}
	return s.In, err
}

// Has reports whether the file holds bytes of a debug section.
func (f *File) Has(name string) bool { return f.find(name) >= 0 }

func (f *File) find(name string) int {
	rest := strings.TrimPrefix(name, ".debug_")
	plain, packed := cut("__debug_"+rest), cut("__zdebug_"+rest)
	for i := range f.headers {
		h := &f.headers[i]
		if h.segment == dwarfSegment && h.stored() && (h.name == plain || h.name == packed) {
			return i
		}
	}
	return -1
}

func cut(name string) string { return name[:min(len(name), maxMachoName)] }

// raw is section i as it is stored.
func (f *File) raw(i int, name string) (*formats.Input, error) {
	h := &f.headers[i]
	if !h.stored() {
		return f.In.Section(name, 0, 0)
	}
	if h.off > math.MaxInt64 || h.size > math.MaxInt64 || int64(h.off) > f.In.Size || int64(h.size) > f.In.Size-int64(h.off) {
		return nil, f.Corrupt(name, 0, fmt.Sprintf("%d bytes at %#x of the image", h.size, h.off))
	}
	return f.In.Section(name, int64(h.off), int64(h.size))
}

func (f *File) open(i int, name string) (*native.Section, error) {
	stored, err := f.raw(i, name)
	if err != nil {
		return nil, err
	}
	h := &f.headers[i]
	p := native.Packing{Size: uint64(stored.Size)}
	if strings.HasPrefix(h.name, "__zdebug_") {
		if p, err = f.Zdebug(stored); err != nil {
			return nil, err
		}
	}
	if p.Size > uint64(f.In.Limits.SectionBytes) {
		return nil, f.Limit(name, 0, fmt.Sprintf("at most %d bytes, not %d", f.In.Limits.SectionBytes, p.Size))
	}
	sec := &native.Section{Name: name, Size: p.Size, In: stored}
	if p.Codec != "" {
		r, closer, err := f.Unpack(p, stored)
		if err != nil {
			return nil, err
		}
		defer closer()
		if sec.In, err = f.Hold(name, int64(p.Size), r); err != nil {
			return nil, err
		}
	}
	if f.Relocatable() && h.relocCount > 0 {
		if sec.In, err = f.relocate(h, sec.In); err != nil {
			return nil, err
		}
	}
	return sec, nil
}

// maxRelocated bounds the debug sections of one object file: they are copied.
const maxRelocated = 512 << 20

// relocate adds the addresses of symbols where the section refers to them. What
// refers to a section holds the address already: an object file's sections
// have addresses of their own.
func (f *File) relocate(h *machoSection, in *formats.Input) (*formats.Input, error) {
	const entry = 8
	if in.Size > maxRelocated {
		return nil, f.Limit(h.name, 0, fmt.Sprintf("at most %d bytes in an object file", maxRelocated))
	}
	relocs, err := f.View(h.name, uint64(h.relocs), int64(h.relocCount)*entry, "relocations inside the file")
	if err != nil {
		return nil, err
	}
	table, err := f.table()
	if err != nil {
		return nil, err
	}
	stored, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	var b []byte // a copy, once something changes
	r := native.Fields{B: relocs, Order: f.Order}
	for at := 0; at < len(relocs); at += entry {
		place, info := r.U32(at), r.U32(at+4)
		if bool(f.Order) || place&(1<<31) != 0 {
			continue // scattered: it holds the address already
		}
		number, width, external, kind := info&0xffffff, info>>25&3, info>>27&1 != 0, info>>28
		minus := kind == 5 && f.cpu == cpuX86_64 || kind == 1 && (f.cpu == cpuARM64 || f.cpu == cpuARM6432)
		if !external || kind != 0 && !minus || width < 2 {
			continue
		}
		n := uint64(1) << width
		if uint64(place) > uint64(in.Size) || uint64(in.Size)-uint64(place) < n {
			return nil, f.Corrupt(h.name, uint64(place), "a relocation inside the section")
		}
		if int(number) >= table.n {
			return nil, f.Corrupt(h.name, uint64(place), fmt.Sprintf("a relocation to one of %d symbols, not %d", table.n, number))
		}
		if b == nil {
			b = append([]byte(nil), stored...)
		}
		value := table.at(int(number)).value
		if minus {
			value = -value
		}
		if n == 8 {
			f.Order.PutUint64(b[place:], f.Order.Uint64(b[place:])+value)
		} else {
			f.Order.PutUint32(b[place:], f.Order.Uint32(b[place:])+uint32(value))
		}
	}
	if b == nil {
		return in, nil
	}
	return f.InMemory(in.Name, b), nil
}

// Stored is a section's bytes as they are in the file, nil if there are none.
func (f *File) Stored(segment, name string) (*formats.Input, error) {
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == segment && h.name == name && h.stored() {
			return f.raw(i, name)
		}
	}
	return nil, nil
}

// EachDebug visits the debug sections as they are stored, in the file's order.
func (f *File) EachDebug(visit func(*formats.Input) error) error {
	for i := range f.headers {
		if h := &f.headers[i]; h.segment == dwarfSegment && h.stored() {
			in, err := f.raw(i, h.name)
			if err != nil {
				return err
			}
			if err := visit(in); err != nil {
				return err
			}
		}
	}
	return nil
}
