package machofile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// The numbers of mach-o/nlist.h and mach-o/stab.h that are used here.
const (
	nStab    = 0xe0
	nType    = 0x0e
	nSect    = 0x0e
	nFunStab = 0x24
	nSOStab  = 0x64
	nOSOStab = 0x66
)

// nlist is one entry of a symbol table.
type nlist struct {
	name    uint32
	kind    uint8
	section int // index of its section; -1: none
	value   uint64
}

// nlists is the symbol table.
type nlists struct {
	f     *File
	b     []byte
	entry int
	n     int
	names native.NameTable
}

const (
	ordinaryName = 128 // bytes: few names are longer
	symbolTable  = "symbol table"
	stringTable  = "string table"
)

// table reads the symbol table and its names; one of no entries if there is none.
func (f *File) table() (*nlists, error) {
	t := &nlists{f: f, entry: 12, names: native.NameTable{File: &f.Source, Section: stringTable, Max: f.In.Limits.NameBytes}}
	if f.wide {
		t.entry = 16
	}
	if int64(f.symbolCount) > int64(f.In.Limits.Symbols) {
		return nil, f.Limit(symbolTable, 0, fmt.Sprintf("at most %d symbols, not %d", f.In.Limits.Symbols, f.symbolCount))
	}
	var err error
	if t.b, err = f.View(symbolTable, f.symbols.off, int64(f.symbols.size), fmt.Sprintf("%d symbols inside the image", f.symbolCount)); err != nil {
		return nil, err
	}
	t.n = int(f.symbolCount)
	t.names.Spare = int64(t.n) * ordinaryName // linkers store equal names of local functions once
	t.names.B, err = f.View(stringTable, f.strings.off, int64(f.strings.size), "a string table inside the image")
	return t, err
}

func (t *nlists) at(i int) nlist {
	r := native.Fields{B: t.b[i*t.entry:], Order: t.f.Order}
	e := nlist{name: r.U32(0), kind: r.B[4], section: int(r.B[5]) - 1}
	if t.f.wide {
		e.value = r.U64(8)
	} else {
		e.value = uint64(r.U32(8))
	}
	if e.section >= len(t.f.headers) {
		e.section = -1
	}
	return e
}

// function reports whether an entry may be a function's symbol, which no entry of a debug map is.
func (e *nlist) function() bool { return e.kind&nStab == 0 && e.kind&nType == nSect }

// survey tells how many entries may be symbols of functions (nearly all of them are), and whether the table belongs to
// a snapshot of Dart.
func (t *nlists) survey() (functions int, dart bool) {
	var code [256]bool // by the number that entries have for a section
	for i := range t.f.headers[:min(len(t.f.headers), 255)] {
		code[i+1] = t.f.headers[i].code()
	}
	for i := range t.n {
		b := t.b[i*t.entry:][:8]
		e := nlist{name: t.f.Order.Uint32(b), kind: b[4]}
		if e.function() && code[b[5]] {
			functions++
		}
		if uint64(e.name) < uint64(len(t.names.B)) && native.IsDart(t.names.B[e.name:]) {
			dart = true
		}
	}
	return functions, dart
}

// redacted is the name of symbols removed from a system library.
const redacted = "<redacted>"

// Symbols are the function symbols: of the symbol table, without the
// underscore that all compilers but Dart's put before each name; of the debug map, where the
// table has none at an address; of the export trie if there are no others.
// Their order is the one of (*ELF).Symbols. A symbol ends where the next one
// begins, or a function without one, which the list of function starts tells.
func (f *File) Symbols(ctx context.Context) ([]native.Symbol, error) {
	code := native.Image{Code: f.Code()}
	t, err := f.table()
	if err != nil {
		return nil, err
	}
	functions, dart := t.survey()
	var mapped []native.Symbol
	all := make([]native.Symbol, 0, functions)
	for i := range t.n {
		if i&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		e := t.at(i)
		stab := e.kind == nFunStab
		if !stab && !e.function() || e.section < 0 || !f.headers[e.section].code() {
			continue
		}
		if e.name == 0 {
			continue // the end of a function of the debug map
		}
		name, err := t.names.At(uint64(e.name))
		if err != nil {
			return nil, err
		}
		if dart && symbol.DartAnchor(name) == "" {
			name = "_" + name // Dart's compiler puts none there
		}
		s, ok := f.symbol(&code, name, e.value)
		if !ok {
			continue
		}
		h := &f.headers[e.section]
		s.Bound(h.addr + h.size)
		s.Rank = symbol.RankSymtab
		if stab {
			mapped = append(mapped, s)
		} else {
			all = append(all, s)
		}
	}
	all = addMissing(all, mapped)
	if len(all) == 0 {
		if all, err = f.exported(&code); err != nil {
			return nil, err
		}
	}
	starts, err := f.functionStarts()
	if err != nil {
		return nil, err
	}
	return named(native.Settle(all), starts), nil
}

// addMissing adds the symbols of more at addresses without one in all.
func addMissing(all, more []native.Symbol) []native.Symbol {
	if len(more) == 0 {
		return all
	}
	known := make(map[uint64]bool, len(all))
	for i := range all {
		known[all[i].Addr] = true
	}
	for _, s := range more {
		if !known[s.Addr] {
			all = append(all, s)
		}
	}
	return all
}

// named ends each symbol where the next one begins, its section ends or starts tell of a function, then drops symbols whose
// names were removed: they only bound the others.
func named(all []native.Symbol, starts []uint64) []native.Symbol {
	next := uint64(math.MaxUint64) // address of the symbol behind
	k := len(starts)               // starts[k:] lie behind the symbol
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		if i+1 < len(all) && all[i+1].Addr != s.Addr {
			next = all[i+1].Addr
		}
		end := next
		if s.Size != 0 {
			end = s.Addr + s.Size
		}
		for k > 0 && starts[k-1] > s.Addr {
			k--
		}
		if k < len(starts) {
			end = min(end, starts[k])
		}
		s.Size = end - s.Addr
	}
	return slices.DeleteFunc(all, func(s native.Symbol) bool { return s.Name == redacted })
}

// functionStarts are the addresses of LC_FUNCTION_STARTS, ascending.
func (f *File) functionStarts() ([]uint64, error) {
	const section = "function starts"
	if f.starts.size == 0 {
		return nil, nil
	}
	b, err := f.View(section, f.starts.off, int64(f.starts.size), "function starts inside the image")
	if err != nil {
		return nil, err
	}
	var starts []uint64
	addr := f.Base()
	for p := 0; p < len(b); {
		delta, n := uleb(b[p:])
		if n == 0 {
			return nil, f.Corrupt(section, uint64(p), "a number that ends")
		}
		if delta == 0 {
			break // padding
		}
		if p += n; addr+delta < addr {
			return nil, f.Corrupt(section, uint64(p), "addresses that ascend")
		}
		addr += delta
		at := addr
		if f.cpu == cpuARM {
			at &^= 1
		}
		starts = append(starts, at)
	}
	return starts, nil
}
