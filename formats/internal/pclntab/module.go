package pclntab

import (
	"context"
	"sync"

	"github.com/symlake/symlake/formats/internal/native"
)

// module is what the runtime's moduledata says of a program.
type module struct {
	text     uint64 // where offsets of code count from; 0: unknown
	funcdata uint64 // where offsets of a function's data count from; 0: unknown
	sections []section
}

// section is a piece of code that the linker moved: [from, to) from text lies at addr.
type section struct{ from, to, addr uint64 }

// address returns the address of an offset from text.
func (m *module) address(off uint64) uint64 {
	for i, s := range m.sections {
		if off >= s.from && off < s.to || off == s.to && i == len(m.sections)-1 {
			return s.addr + off - s.from
		}
	}
	return m.text + off
}

// Words of moduledata. A slice has three.
const (
	wordTable, wordNames, wordFuncs = 0, 1, 13
	wordText                        = 22
	wordFuncdata118                 = 38
	wordFuncdata120                 = 40
	moduleWords                     = 45
)

// findModule looks for moduledata. It may be missing: then the header tells where code begins up to Go 1.25, and inlined
// calls are lost from Go 1.18 on.
func (t *Table) findModule(ctx context.Context) error {
	for _, w := range t.mem.Moved {
		if w.To != t.addr {
			continue
		}
		if found, err := t.readModule(w.At); found || err != nil {
			return err
		}
	}
	for i := range t.mem.Blocks {
		b := &t.mem.Blocks[i]
		if !b.Written {
			continue
		}
		bytes, err := b.In.View(0, b.In.Size)
		if err != nil {
			return err
		}
		size := t.mem.AddrSize
		from := int(-b.Addr & uint64(size-1))
		plain := native.Memory{Order: t.mem.Order, AddrSize: size, Base: t.mem.Base, Chained: t.mem.Chained}
		for at := from; len(bytes)-at >= size; at += size {
			if (at-from)%(1<<20) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if plain.Word(bytes[at:], 0) != t.addr {
				continue
			}
			if found, err := t.readModule(b.Addr + uint64(at)); found || err != nil {
				return err
			}
		}
	}
	return nil
}

// readModule reads moduledata at addr and reports whether it is there.
func (t *Table) readModule(addr uint64) (bool, error) {
	size := uint64(t.mem.AddrSize)
	b, err := t.mem.View(addr, moduleWords*int64(size))
	if b == nil || err != nil {
		return false, err
	}
	word := func(i int) uint64 { return t.mem.Word(b[uint64(i)*size:], addr+uint64(i)*size) }
	if word(wordTable) != t.addr || word(wordNames) != t.addr+uint64(t.names) || word(wordFuncs) != t.addr+uint64(t.funcs) {
		return false, nil
	}
	t.module.text = word(wordText)
	after := wordFuncdata118 - 1
	switch t.version {
	case go118:
		t.module.funcdata, after = word(wordFuncdata118), wordFuncdata118+1
	case go120:
		t.module.funcdata, after = word(wordFuncdata120), wordFuncdata120+1
		if word(after+1) != word(after+2) { // since Go 1.26 the end of the table stands before the list of sections
			after++
		}
	}
	const each = 3
	list, n := word(after), word(after+1)
	if n < 2 || n > 1<<10 || n != word(after+2) {
		return true, nil
	}
	sections, err := t.mem.View(list, int64(n*each*size))
	if sections == nil || err != nil {
		return true, err
	}
	part := func(i uint64) uint64 { return t.mem.Word(sections[i*size:], list+i*size) }
	for i := range n {
		t.module.sections = append(t.module.sections, section{part(i * each), part(i*each + 1), part(i*each + 2)})
	}
	return true, nil
}

// placed reports whether it is known where the code lies.
func (t *Table) placed() bool { return t.version == go116 || t.module.text != 0 }

// trees is the memory with the inlined calls, from addr on.
type trees struct {
	once sync.Once
	addr uint64
	b    []byte
	err  error
}

// tree returns the memory from the inlined calls of a function on, which lie at addr, or nil if the file lacks it.
func (t *Table) tree(addr uint64) ([]byte, error) {
	t.trees.once.Do(func() {
		t.trees.addr = t.module.funcdata
		if t.version == go116 { // it has no one place: the memory around the first one
			for _, b := range t.mem.Blocks {
				if b.Addr <= addr && addr-b.Addr < uint64(b.In.Size) {
					t.trees.addr = b.Addr
				}
			}
		}
		t.trees.b, t.trees.err = t.mem.Rest(t.trees.addr)
	})
	off := addr - t.trees.addr
	if t.trees.err != nil || addr < t.trees.addr || off >= uint64(len(t.trees.b)) {
		return nil, t.trees.err
	}
	return t.trees.b[off:], nil
}
