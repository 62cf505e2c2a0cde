package all_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// nlist is an entry of a symbol table.
type nlist struct {
	name  string
	kind  byte
	value uint64
}

const (
	nDefined, nFun, nOSO, nSO = 0x0e, 0x24, 0x66, 0x64
	textStart                 = 1 << 32
)

// machoOf is a Mach-O image of a type with code, a UUID, symbols and an export trie.
func machoOf(fileType uint32, symbols []nlist, trie []byte) []byte {
	names, table := new(blob).u8(0, 0), &blob{}
	for _, s := range symbols {
		at := uint32(0)
		if s.name != "" {
			at = uint32(len(names.b))
			names.str(s.name)
		}
		table.u32(at).u8(s.kind, 1, 0, 0).u64(s.value)
	}
	name := func(s string) []byte { return append([]byte(s), make([]byte, 16-len(s))...) }
	const head, commands = 32, 72 + 80 + 24 + 24 + 16
	at := uint32(head + commands)
	w := new(blob).u32(0xfeedfacf).u32(0x0100000c).u32(0).u32(fileType).u32(4).u32(commands).u32(0).u32(0)
	w.u32(0x19).u32(72 + 80).u8(name("__TEXT")...).u64(textStart).u64(1 << 30).u64(0).u64(0).u32(5).u32(5).u32(1).u32(0)
	w.u8(name("__text")...).u8(name("__TEXT")...).u64(textStart).u64(1 << 30).u32(0).u32(2).u32(0).u32(0).u32(0x80000400).u32(0).u32(0).u32(0)
	w.u32(0x1b).u32(24).u64(uint64(fileType)).u64(2)
	w.u32(2).u32(24).u32(at).u32(uint32(len(symbols))).u32(at + uint32(len(table.b))).u32(uint32(len(names.b)))
	w.u32(0x80000033).u32(16).u32(at + uint32(len(table.b)+len(names.b))).u32(uint32(len(trie)))
	return w.u8(table.b...).u8(names.b...).u8(trie...).b
}

func machoShape(name string, n int, symbols func(n int) []nlist) formattest.Shape {
	return of("macho/"+name, "a", n, func(n int) string { return string(machoOf(6, symbols(n), nil)) })
}

func defined(n int, symbol func(i int) nlist) (all []nlist) {
	for i := range n {
		all = append(all, symbol(i))
	}
	return all
}

// mapped are the entries of a function of an object file.
func mapped(object, function string, i int) []nlist {
	at := textStart + 16*uint64(i)
	return []nlist{{"/b/", nSO, 0}, {object, nOSO, 0}, {function, nFun, at}, {"", nFun, 16}, {"", nSO, 0}}
}

func mappedShape(name string, n int, object func(i int) string, files func(n int) []formattest.File) formattest.Shape {
	return formattest.Shape{Name: "macho/" + name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		var all []nlist
		for i := range n {
			all = append(all, mapped(object(i), fmt.Sprint("_f", i), i)...)
		}
		return append([]formattest.File{{Name: "a", Bytes: machoOf(2, all, nil)}}, files(n)...)
	}}
}

// hiddenShape is a shape of an image with hidden names and its symbol map.
func hiddenShape(name string, n int, make func(n int) (symbols []nlist, lines string)) formattest.Shape {
	return formattest.Shape{Name: "bcsymbolmap/" + name, Kind: "object", N: n, Make: func(n int) []formattest.File {
		symbols, lines := make(n)
		return []formattest.File{{Name: "a", Bytes: machoOf(6, symbols, nil)},
			{Name: "06000000-0000-0000-0200-000000000000.bcsymbolmap", Bytes: []byte("BCSymbolMap Version: 2.0\n" + lines + "\n")}}
	}}
}

// trie is an export trie of a chain of n nodes. The last one exports.
func trie(n int) []byte {
	var nodes [][]byte
	node := []byte{2, 0, 0x10, 0} // exported at 0x10, no children
	nodes = append(nodes, node)
	const each = 7 // bytes of a node in between: no export, one child, an edge, three bytes of offset
	for i := range n {
		at := uint64((n - i) * each)
		nodes = append(nodes, []byte{0, 1, 'e', 0, byte(at | 0x80), byte(at>>7 | 0x80), byte(at >> 14)})
	}
	w := &blob{}
	for i := len(nodes) - 1; i >= 0; i-- {
		w.u8(nodes[i]...)
	}
	return w.b
}

var machoShapes = []formattest.Shape{
	machoShape("symbols", 5000, func(n int) []nlist {
		return defined(n, func(i int) nlist { return nlist{fmt.Sprint("_f", i), nDefined, textStart + 16*uint64(i)} })
	}),
	machoShape("symbols at one address", 5000, func(n int) []nlist {
		return defined(n, func(i int) nlist { return nlist{fmt.Sprint("_f", i), nDefined, textStart} })
	}),
	machoShape("symbols backward", 5000, func(n int) []nlist {
		return defined(n, func(i int) nlist { return nlist{"_f", nDefined, textStart + 1<<24 - 16*uint64(i)} })
	}),
	machoShape("functions of a debug map alone", 5000, func(n int) []nlist {
		return defined(n, func(i int) nlist { return nlist{fmt.Sprint("_f", i), nFun, textStart + 16*uint64(i)} })
	}),
	mappedShape("object files that are missing", 2000, func(i int) string { return fmt.Sprintf("/b/f%d.o", i) }, func(int) []formattest.File { return nil }),
	mappedShape("one object file", 500, func(int) string { return "/b/f.o" }, func(n int) []formattest.File {
		return []formattest.File{{Name: "f.o", Bytes: machoOf(1, defined(n, func(i int) nlist { return nlist{fmt.Sprint("_f", i), nDefined, textStart + 16*uint64(i)} }), nil)}}
	}),
	mappedShape("members of a library", 300, func(i int) string { return fmt.Sprintf("/b/l.a(f%d.o)", i) }, func(n int) []formattest.File {
		var members []entry
		for i := range n {
			members = append(members, entry{fmt.Sprintf("f%d.o", i), string(machoOf(1, []nlist{{fmt.Sprint("_f", i), nDefined, textStart}}, nil))})
		}
		return []formattest.File{{Name: "l.a", Bytes: []byte(arOf(members))}}
	}),
	hiddenShape("hidden names", 3000, func(n int) ([]nlist, string) {
		return defined(n, func(i int) nlist { return nlist{fmt.Sprintf("__hidden#%d_", i), nDefined, textStart + 16*uint64(i)} }), each(n, "\n", "_f%d")
	}),
	hiddenShape("hidden names of one line", 1000, func(n int) ([]nlist, string) {
		return defined(n, func(i int) nlist { return nlist{"__hidden#0_", nDefined, textStart + 16*uint64(i)} }), strings.Repeat("f", 20_000)
	}),
	hiddenShape("hidden names in one name", 500, func(n int) ([]nlist, string) {
		return []nlist{{strings.Repeat("__hidden#0_", n), nDefined, textStart}}, strings.Repeat("f", 10_000)
	}),
	of("macho/export trie", "a", 3000, func(n int) string { return string(machoOf(6, nil, trie(n))) }),
}
