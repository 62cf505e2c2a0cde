package pclntab

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

const (
	codeAt  = 0x401000
	tableAt = 0x500000
	dataAt  = 0x600000
	treesAt = 0x580000
)

// values are what a table of a function says: value v up to an address that counts from its entry.
type values []step

// call is an inlined call.
type call struct {
	parent     int16
	name       string
	file, line int32 // of the call, before Go 1.20
	from       uint32
}

// fn is a function of a made table.
type fn struct {
	entry               uint64 // from codeAt
	name                string
	file, line, inlined values
	calls               []call
}

// program is a Go program made by hand.
type program struct {
	version  version
	big      bool
	size     int
	quantum  byte
	moved    bool // its words of addresses are the loader's
	lost     bool // it has no moduledata
	funcs    []fn
	end      uint64
	files    []string
	tree     []byte
	pctab    []byte
	names    []byte
	nameOffs map[string]uint32
	words    map[uint64]uint64 // address: value, when moved
}

func (p *program) order() binary.AppendByteOrder {
	if p.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (p *program) word(b []byte, v uint64) []byte {
	if p.size == 4 {
		return p.order().AppendUint32(b, uint32(v))
	}
	return p.order().AppendUint64(b, v)
}

// address appends an address, which lies at at.
func (p *program) address(b []byte, at, v uint64) []byte {
	if p.moved && v != 0 {
		p.words[at] = v
		v = 0
	}
	return p.word(b, v)
}

func (p *program) name(s string) uint32 {
	if off, ok := p.nameOffs[s]; ok {
		return off
	}
	off := uint32(len(p.names))
	p.nameOffs[s] = off
	p.names = append(append(p.names, s...), 0)
	return off
}

func (p *program) values(v values) uint32 {
	if len(v) == 0 {
		return 0
	}
	off := uint32(len(p.pctab))
	pc, last := uint64(0), int32(-1)
	for _, s := range v {
		d := s.value - last
		p.pctab = binary.AppendUvarint(p.pctab, uint64(uint32(d<<1^d>>31)))
		p.pctab = binary.AppendUvarint(p.pctab, (s.end-pc)/uint64(p.quantum))
		pc, last = s.end, s.value
	}
	p.pctab = append(p.pctab, 0)
	return off
}

// memory makes the program.
func (p *program) memory(lim *formats.Limits) *native.Memory {
	p.tree, p.pctab, p.names, p.nameOffs, p.words = nil, []byte{0}, nil, map[string]uint32{}, map[uint64]uint64{}
	for _, f := range p.funcs {
		p.name(f.name)
		for _, c := range f.calls {
			p.name(c.name)
		}
	}
	var units, files []byte
	for _, f := range p.files {
		units = p.order().AppendUint32(units, uint32(len(files)))
		files = append(append(files, f...), 0)
	}
	entry := 4
	if p.version == go116 {
		entry = p.size
	}

	type place struct{ file, line, inlined, trees uint32 }
	var places []place
	for _, f := range p.funcs {
		at := place{file: p.values(f.file), line: p.values(f.line), inlined: p.values(f.inlined), trees: none}
		if len(f.calls) > 0 {
			at.trees = uint32(len(p.tree))
		}
		for _, c := range f.calls {
			if p.version == go120 {
				p.tree = append(p.tree, 0, 0, 0, 0)
				p.tree = p.order().AppendUint32(p.tree, p.name(c.name))
				p.tree = p.order().AppendUint32(p.tree, c.from)
				p.tree = p.order().AppendUint32(p.tree, 1)
				continue
			}
			p.tree = p.order().AppendUint16(p.tree, uint16(c.parent))
			p.tree = append(p.tree, 0, 0)
			for _, v := range []uint32{uint32(c.file), uint32(c.line), p.name(c.name), c.from} {
				p.tree = p.order().AppendUint32(p.tree, v)
			}
		}
		places = append(places, at)
	}
	words := 8
	if p.version == go116 {
		words--
	}
	offs := []int{8 + words*p.size}
	for _, n := range []int{len(p.names), len(units), len(files), len(p.pctab)} {
		at := offs[len(offs)-1] + n
		offs = append(offs, (at+p.size-1)&^(p.size-1))
	}

	list := (2*len(p.funcs) + 1) * entry
	list = (list + p.size - 1) &^ (p.size - 1)
	funcsAt := uint64(tableAt + offs[4])
	head := make([]byte, 0, list)
	var bodies []byte
	for i, f := range p.funcs {
		off := uint64(list + len(bodies))
		at := funcsAt + off
		if p.version == go116 {
			head = p.address(head, funcsAt+uint64(len(head)), codeAt+f.entry)
			head = p.word(head, off)
			bodies = p.address(bodies, at, codeAt+f.entry)
		} else {
			head = p.order().AppendUint32(head, uint32(f.entry))
			head = p.order().AppendUint32(head, uint32(off))
			bodies = p.order().AppendUint32(bodies, uint32(f.entry))
		}
		for _, v := range []uint32{p.name(f.name), 0, 0, 0, places[i].file, places[i].line, 3, 0} {
			bodies = p.order().AppendUint32(bodies, v)
		}
		if p.version == go120 {
			bodies = p.order().AppendUint32(bodies, 1)
		}
		bodies = append(bodies, 0, 0, 0, 4)
		for _, v := range []uint32{0, 0, places[i].inlined} {
			bodies = p.order().AppendUint32(bodies, v)
		}
		if p.version != go116 {
			for _, v := range []uint32{none, none, none, places[i].trees} {
				bodies = p.order().AppendUint32(bodies, v)
			}
		} else {
			for (list+len(bodies))%p.size != 0 {
				bodies = append(bodies, 0)
			}
			v := uint64(0)
			if places[i].trees != none {
				v = treesAt + uint64(places[i].trees)
			}
			bodies = p.word(p.word(p.word(bodies, 0), 0), 0)
			bodies = p.address(bodies, funcsAt+uint64(list+len(bodies)), v)
		}
		for (list+len(bodies))%p.size != 0 {
			bodies = append(bodies, 0)
		}
	}
	if p.version == go116 {
		head = p.address(head, funcsAt+uint64(len(head)), codeAt+p.end)
	} else {
		head = p.order().AppendUint32(head, uint32(p.end))
	}

	t := p.order().AppendUint32(nil, 0xffffff00|uint32(magics[p.version]))
	t = append(t, 0, 0, p.quantum, byte(p.size))
	t = p.word(p.word(t, uint64(len(p.funcs))), uint64(len(p.files)))
	if p.version != go116 {
		text := uint64(codeAt)
		if p.version == go120 && !p.lost {
			text = 0 // as of Go 1.26
		}
		t = p.address(t, tableAt+uint64(len(t)), text)
	}
	for _, off := range offs {
		t = p.word(t, uint64(off))
	}
	for i, piece := range [][]byte{p.names, units, files, p.pctab, head, bodies} {
		if i < len(offs) {
			t = append(t, make([]byte, offs[i]-len(t))...)
		} else {
			t = append(t, make([]byte, offs[4]+list-len(t))...)
		}
		t = append(t, piece...)
	}

	m := &native.Memory{Order: native.ByteOrder(p.big), AddrSize: p.size}
	block := func(addr uint64, b []byte, written bool) {
		m.Blocks = append(m.Blocks, native.Block{Addr: addr, Written: written,
			In: &formats.Input{Name: fmt.Sprintf("%#x", addr), Size: int64(len(b)), Limits: lim, Bytes: bytes.NewReader(b), Mapped: b}})
	}
	block(tableAt, t, false)
	block(treesAt, p.tree, false)
	if !p.lost {
		block(dataAt, p.module(offs), true)
	}
	for at, to := range p.words {
		m.Moved = append(m.Moved, native.Moved{At: at, To: to})
	}
	m.Sort()
	return m
}

// module makes moduledata.
func (p *program) module(offs []int) []byte {
	data := p.word(p.word(nil, 1), 2) // something else stands before it
	words := make([]uint64, moduleWords)
	words[wordTable], words[wordNames], words[wordFuncs] = tableAt, tableAt+uint64(offs[0]), tableAt+uint64(offs[4])
	words[wordText] = codeAt
	switch p.version {
	case go118:
		words[wordFuncdata118] = treesAt
	case go120:
		words[wordFuncdata120], words[wordFuncdata120+1] = treesAt, treesAt+1
	}
	for _, w := range words {
		data = p.address(data, dataAt+uint64(len(data)), w)
	}
	return data
}

// usual is a program with two functions, and two calls inlined into the first.
func usual(v version) *program {
	return &program{version: v, size: 8, quantum: 1, end: 0x60, files: []string{"a.go", "b.go"}, funcs: []fn{
		{entry: 0, name: "main.main",
			file:    values{{0x10, 0}, {0x30, 1}, {0x40, 0}},
			line:    values{{0x8, 10}, {0x10, 11}, {0x20, 21}, {0x30, 31}, {0x40, 12}},
			inlined: values{{0x10, -1}, {0x20, 0}, {0x30, 1}, {0x40, -1}},
			calls:   []call{{parent: -1, name: "main.outer", file: 0, line: 11, from: 0x8}, {parent: 0, name: "main.inner[...]", file: 1, line: 21, from: 0x10}}},
		{entry: 0x40, name: "main.leaf", file: values{{0x1c, 1}}, line: values{{0x1c, 5}}},
		{entry: 0x50 + 0x10, name: "main.beyond"},
	}}
}
