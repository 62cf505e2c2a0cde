package elffile

import (
	"context"
	"math"

	"github.com/symlake/symlake/formats/internal/native"
)

const (
	ptDynamic = 2
	segWrite  = 2 // PF_W

	dtRela     = 7
	dtRelaSize = 8
)

// relative are the relocations of each machine that add the load address to a word, and nothing of a symbol.
var relative = map[uint16]uint32{3: 8, 21: 22, 22: 12, 40: 23, 62: 8, 183: 1027, 243: 3, 258: 3}

// Loaded returns the loaded bytes of a linked file, with the words that its loader moves where the file does not hold
// them. A file without segments, and a relocatable one, has no blocks.
func (f *File) Loaded(ctx context.Context) (*native.Memory, error) {
	m := &native.Memory{Order: f.Order, AddrSize: f.AddrSize(), Base: f.Base()}
	if f.kind == typeRel {
		return m, nil
	}
	var dynamic *segment
	for i := range f.segments {
		s := &f.segments[i]
		size := min(s.filesz, s.memsz)
		switch {
		case s.kind == ptDynamic:
			dynamic = s
		case s.kind == ptLoad && size > 0 && s.off <= math.MaxInt64 && int64(s.off) < f.In.Size:
			in, err := f.In.Section("segment", int64(s.off), min(int64(min(size, math.MaxInt64)), f.In.Size-int64(s.off)))
			if err != nil {
				return nil, err
			}
			m.Blocks = append(m.Blocks, native.Block{Addr: s.addr, In: in, Written: s.flags&segWrite != 0})
		}
	}
	m.Sort()
	if dynamic == nil {
		return m, nil
	}
	return m, f.readMoved(ctx, m, dynamic)
}

// readMoved reads the relative relocations. Relocations that lead outside are left out: the file may have lost them.
func (f *File) readMoved(ctx context.Context, m *native.Memory, dynamic *segment) error {
	word := f.AddrSize()
	table, err := m.View(dynamic.addr, int64(min(dynamic.filesz, 1<<16)))
	if err != nil {
		return err
	}
	var addr, size uint64
	for ; len(table) >= 2*word; table = table[2*word:] {
		value := f.word(table[word:])
		switch f.word(table) {
		case dtRela:
			addr = value
		case dtRelaSize:
			size = value
		}
	}
	if addr == 0 || size > uint64(f.In.Size) {
		return nil
	}
	relocs, err := m.View(addr, int64(size))
	if err != nil {
		return err
	}
	each := 3 * word
	m.Moved = make([]native.Moved, 0, len(relocs)/each)
	for i := 0; len(relocs) >= each; relocs = relocs[each:] {
		if i++; i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		info := f.word(relocs[word:])
		kind, symbol := uint32(info), info>>32
		if word == 4 {
			kind, symbol = uint32(info&0xff), info>>8
		}
		if kind == relative[f.machine] && symbol == 0 && kind != 0 {
			m.Moved = append(m.Moved, native.Moved{At: f.word(relocs), To: f.word(relocs[2*word:])})
		}
	}
	m.Sort()
	return nil
}

// word reads a number of the size of an address.
func (f *File) word(b []byte) uint64 {
	if f.wide {
		return f.Order.Uint64(b)
	}
	return uint64(f.Order.Uint32(b))
}

// GoTables returns where a Go program may have its table of functions: at the beginning of a section of its own, or
// somewhere in another section that linkers merged it into.
func (f *File) GoTables() (own, merged []native.Span) {
	goes := len(f.headers) == 0
	for i := range f.headers {
		switch f.headers[i].name {
		case ".go.buildinfo", ".note.go.buildid":
			goes = true
		}
	}
	for i := range f.headers {
		h := &f.headers[i]
		if h.kind == shtNobits || h.flags&shfAlloc == 0 || h.addr+h.size < h.addr {
			continue
		}
		switch s := (native.Span{Start: h.addr, End: h.addr + h.size}); h.name {
		case ".gopclntab", ".data.rel.ro.gopclntab":
			own = append(own, s)
		case ".data.rel.ro", ".rodata":
			if goes {
				merged = append(merged, s)
			}
		}
	}
	for i := range f.segments {
		if s := &f.segments[i]; len(f.headers) == 0 && s.kind == ptLoad && s.flags&segExec == 0 && s.addr+s.filesz >= s.addr {
			merged = append(merged, native.Span{Start: s.addr, End: s.addr + s.filesz})
		}
	}
	return own, merged
}
