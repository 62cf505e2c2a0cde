package machofile

import (
	"math"

	"github.com/symlake/symlake/formats/internal/native"
)

const protWrite = 2

// Loaded returns the loaded bytes of an image.
func (f *File) Loaded() (*native.Memory, error) {
	m := &native.Memory{Order: f.Order, AddrSize: f.AddrSize(), Base: f.Base(), Chained: true}
	for i := range f.segments {
		s := &f.segments[i]
		if s.stored == 0 || s.off > math.MaxInt64 || int64(s.off) >= f.In.Size {
			continue
		}
		in, err := f.In.Section(s.name, int64(s.off), min(int64(min(s.stored, s.size, math.MaxInt64)), f.In.Size-int64(s.off)))
		if err != nil {
			return nil, err
		}
		m.Blocks = append(m.Blocks, native.Block{Addr: s.addr, In: in, Written: s.initial&protWrite != 0})
	}
	m.Sort()
	return m, nil
}

// GoTables returns the sections with a Go program's table of functions.
func (f *File) GoTables() []native.Span {
	var all []native.Span
	for i := range f.headers {
		if h := &f.headers[i]; h.name == "__gopclntab" && h.stored() && h.addr+h.size >= h.addr {
			all = append(all, native.Span{Start: h.addr, End: h.addr + h.size})
		}
	}
	return all
}
