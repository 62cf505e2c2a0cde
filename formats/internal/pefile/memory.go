package pefile

import "github.com/symlake/symlake/formats/internal/native"

// Loaded returns the loaded bytes of an image.
func (f *File) Loaded() (*native.Memory, error) {
	m := &native.Memory{Order: f.Order, AddrSize: f.AddrSize(), Base: f.base}
	for i := range f.headers {
		s := &f.headers[i]
		size := int64(min(s.Stored, s.Size))
		if size == 0 || int64(s.Offset) >= f.In.Size {
			continue
		}
		in, err := f.In.Section(s.Name, int64(s.Offset), min(size, f.In.Size-int64(s.Offset)))
		if err != nil {
			return nil, err
		}
		m.Blocks = append(m.Blocks, native.Block{Addr: f.base + uint64(s.Addr), In: in, Written: s.Flags&flagWrite != 0})
	}
	m.Sort()
	return m, nil
}

// GoTables returns the sections that may hold a Go program's table of functions, somewhere: linkers give it none of its own.
func (f *File) GoTables() []native.Span {
	var all []native.Span
	for i := range f.headers {
		switch s := &f.headers[i]; s.Name {
		case ".rdata", ".data.rel.ro", ".data":
			if s.Stored > 0 {
				at := f.base + uint64(s.Addr)
				all = append(all, native.Span{Start: at, End: at + uint64(min(s.Stored, s.Size))})
			}
		}
	}
	return all
}
