package machofile

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const exportTrie = "export trie"

// exported returns the functions of the export trie: a tree with edges that spell
// names. Each node is read once, however often it is referred to; sound tries
// are trees.
func (f *File) exported(code *native.Image) ([]native.Symbol, error) {
	if f.exports.size == 0 {
		return nil, nil
	}
	b, err := f.View(exportTrie, f.exports.off, int64(f.exports.size), "an export trie inside the image")
	if err != nil {
		return nil, err
	}
	type node struct {
		at     uint64
		parent int // bytes of the name of the node above
		edge   []byte
	}
	fault := func(at uint64, want string) error { return f.Corrupt(exportTrie, at, want) }
	base := f.Base()
	var all []native.Symbol
	seen := map[uint64]bool{0: true}
	spelled := int64(0) // bytes of names
	var name []byte     // of the node at work: nodes below it come before others
	for todo := []node{{}}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		name = append(name[:n.parent], n.edge...)
		rest := b[n.at:]
		size, k := uleb(rest)
		if k == 0 || size > uint64(len(rest)-k) {
			return nil, fault(n.at, "a node inside the trie")
		}
		if size > 0 {
			if addr, ok := exportedAt(rest[k : k+int(size)]); ok {
				if spelled += int64(len(name)); spelled > 1<<20+64*int64(len(b)) {
					return nil, f.Limit(exportTrie, n.at, "shorter names")
				}
				if s, ok := f.symbol(code, symbol.ShortName(string(name), f.In.Limits.NameBytes), base+addr); ok {
					s.Rank = symbol.RankDynsym
					all = append(all, s)
				}
			}
		}
		rest = rest[k+int(size):]
		if len(rest) == 0 {
			return nil, fault(n.at, "a count of children")
		}
		children := int(rest[0])
		rest = rest[1:]
		for range children {
			end := bytes.IndexByte(rest, 0)
			if end < 0 {
				return nil, fault(n.at, "an edge that ends")
			}
			to, k := uleb(rest[end+1:])
			if k == 0 || to >= uint64(len(b)) {
				return nil, fault(n.at, "a child inside the trie")
			}
			edge := rest[:end]
			rest = rest[end+1+k:]
			if seen[to] {
				return nil, fault(to, "a node that is referred to once")
			}
			seen[to] = true
			todo = append(todo, node{to, len(name), edge})
		}
	}
	return all, nil
}

// exportedAt is the offset from the base of what a node exports; false for what
// comes from elsewhere or is no place in the image.
func exportedAt(b []byte) (uint64, bool) {
	const (
		kindMask = 3
		reexport = 8
	)
	flags, k := uleb(b)
	if k == 0 || flags&kindMask != 0 || flags&reexport != 0 {
		return 0, false
	}
	at, k := uleb(b[k:])
	return at, k > 0
}

// symbol makes a function's symbol; false if no code stands at addr, or a label.
func (f *File) symbol(code *native.Image, name string, addr uint64) (native.Symbol, bool) {
	if f.cpu == cpuARM {
		addr &^= 1 // the Thumb state
	}
	name = strings.TrimPrefix(name, "_")
	span, ok := code.Span(addr)
	if !ok || name == "" || f.Relocatable() && (strings.HasPrefix(name, "ltmp") || name[0] == 'L' || name[0] == 'l' && strings.HasPrefix(name, "l_")) {
		return native.Symbol{}, false
	}
	return native.Symbol{Addr: addr, Size: span.End - addr, Name: name, Open: true}, true
}

// uleb reads an unsigned LEB128 number of at most 64 bits; n is its length, 0 if it does not end.
func uleb(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 10 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
