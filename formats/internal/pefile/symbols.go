package pefile

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Numbers of the symbol table.
const (
	classExternal = 2
	classStatic   = 3
	classFile     = 103
	typeFunction  = 0x20
)

const (
	symbolTable = "symbol table"
	exportTable = "export table"
	maxExports  = 1 << 20 // ordinals are numbers of 16 bits; some tools write more addresses
)

// Symbols returns the functions that the symbol table and the exports name, in the order of native.Settle. A symbol ends
// where the function table says, else where the next one begins.
func (f *File) Symbols(ctx context.Context) ([]native.Symbol, error) {
	functions, err := f.Functions(ctx)
	if err != nil {
		return nil, err
	}
	code := native.Image{Code: f.Code()}
	all, err := f.tableSymbols(ctx, &code)
	if err != nil {
		return nil, err
	}
	if all, err = f.exports(ctx, &code, all); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Size = f.room(functions, all[i].Addr)
		all[i].Open = true
		if s, ok := code.Span(all[i].Addr); ok {
			all[i].Bound(s.End)
		}
	}
	all = native.Settle(all)
	return all, nil
}

// room returns how many bytes a function at an address may have: to the end of its entry in the function table, with what fills
// the block of 16 bytes behind it; else to the next entry.
func (f *File) room(functions []Function, addr uint64) uint64 {
	at := uint32(addr - f.base)
	i := sort.Search(len(functions), func(i int) bool { return functions[i].Start > at })
	if i > 0 && functions[i-1].End > at {
		return (uint64(functions[i-1].End)+15)&^15 - uint64(at)
	}
	if i < len(functions) {
		return uint64(functions[i].Start - at)
	}
	return 1 << 32
}

// tableSymbols returns the functions of the symbol table that MinGW and clang leave in images.
func (f *File) tableSymbols(ctx context.Context, code *native.Image) ([]native.Symbol, error) {
	if f.symbolAt == 0 || f.symbolCount == 0 {
		return nil, nil
	}
	if int64(f.symbolCount) > int64(f.In.Limits.Symbols) {
		return nil, f.Limit(symbolTable, 0, fmt.Sprintf("at most %d symbols, not %d", f.In.Limits.Symbols, f.symbolCount))
	}
	b, err := f.View(symbolTable, uint64(f.symbolAt), int64(f.symbolCount)*symbolBytes, "symbols inside the file")
	if err != nil {
		return nil, err
	}
	names, err := f.stringTable()
	if err != nil {
		return nil, err
	}
	names.Spare = int64(f.symbolCount) * 128
	var all []native.Symbol
	source := ""
	for i := 0; i < int(f.symbolCount); i++ {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := native.Fields{B: b[i*symbolBytes:][:symbolBytes]}
		aux, class, kind := int(r.B[17]), r.B[16], r.U16(14)
		first := i + 1
		i += aux
		if class == classFile {
			source = ""
			if aux > 0 && i < int(f.symbolCount) {
				source = sourceName(b[first*symbolBytes : (i+1)*symbolBytes])
			}
			continue
		}
		section := int(int16(r.U16(12))) - 1
		if section < 0 || section >= len(f.headers) || !f.headers[section].Executed() || class != classExternal && class != classStatic ||
			class == classStatic && kind != typeFunction {
			continue
		}
		name := cstring(r.B[:8])
		if r.U32(0) == 0 {
			if name, err = names.At(uint64(r.U32(4))); err != nil {
				return nil, err
			}
		}
		s := native.Symbol{Addr: f.base + uint64(f.headers[section].Addr) + uint64(r.U32(8)), Name: f.plain(name), Rank: symbol.RankSymtab}
		if class == classStatic {
			s.File = source
		}
		if s.Name != "" && f.place(code, &s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// sourceName is the source file that a symbol names in the entries behind it; "" for what assemblers call any.
func sourceName(b []byte) string {
	name := cstring(b)
	if name == "fake" {
		return ""
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// plain returns a name without the underscore that compilers put before each name of 32-bit x86.
func (f *File) plain(name string) string {
	if f.machine == MachineX86 {
		return strings.TrimPrefix(name, "_")
	}
	return name
}

// place clears the mark of Thumb code and reports whether a symbol lies in code.
func (f *File) place(code *native.Image, s *native.Symbol) bool {
	if f.Thumb() {
		s.Addr &^= 1
	}
	_, ok := code.Span(s.Addr)
	return ok
}

// exports adds the functions of the export table to all. Forwarders, which lead to other images, and names of data are not
// among them.
func (f *File) exports(ctx context.Context, code *native.Image, all []native.Symbol) ([]native.Symbol, error) {
	const headBytes = 40
	d := f.directories[DirExport]
	b, err := f.At(d.Addr, headBytes)
	if d.Addr == 0 || b == nil || err != nil {
		return all, err
	}
	r := native.Fields{B: b}
	count, named := int64(r.U32(20)), int64(r.U32(24))
	if count > maxExports || named > maxExports || count+named > int64(f.In.Limits.Symbols) {
		return nil, f.Limit(exportTable, 0, fmt.Sprintf("at most %d exports, not %d and %d names", min(maxExports, f.In.Limits.Symbols), count, named))
	}
	addrs, err := f.At(r.U32(28), 4*count)
	if err != nil {
		return nil, err
	}
	names, err := f.At(r.U32(32), 4*named)
	if err != nil {
		return nil, err
	}
	ordinals, err := f.At(r.U32(36), 2*named)
	if addrs == nil || names == nil || ordinals == nil || err != nil {
		return all, err
	}
	text := f.text()
	for i := range int(named) {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n := int64(f.Order.Uint16(ordinals[2*i:]))
		if n >= count {
			continue
		}
		addr := f.Order.Uint32(addrs[4*n:])
		s := native.Symbol{Addr: f.base + uint64(addr), Rank: symbol.RankDynsym}
		if addr-d.Addr < d.Size && addr >= d.Addr || !f.place(code, &s) {
			continue
		}
		if s.Name, err = text.at(f.Order.Uint32(names[4*i:])); err != nil {
			return nil, err
		}
		if s.Name != "" {
			all = append(all, s)
		}
	}
	return all, nil
}

// Library returns the name that the export table gives the image; "": there is none.
func (f *File) Library() (string, error) {
	d := f.directories[DirExport]
	b, err := f.At(d.Addr, 16)
	if d.Addr == 0 || b == nil || err != nil {
		return "", err
	}
	at := native.Fields{B: b}.U32(12)
	if b, err = f.At(at, min(f.Room(at), 256)); err != nil {
		return "", err
	}
	return strings.ToValidUTF8(cstring(b), "\uFFFD"), nil
}

// texts reads strings of an image, each section as one table.
type texts struct {
	f     *File
	start uint32
	table native.NameTable
}

func (f *File) text() *texts { return &texts{f: f} }

// at returns the string at a relative address; "" if there is none.
func (t *texts) at(addr uint32) (string, error) {
	if addr < t.start || uint64(addr-t.start) >= uint64(len(t.table.B)) {
		f := t.f
		i := sort.Search(len(f.byAddr), func(i int) bool { return f.headers[f.byAddr[i]].Addr > addr }) - 1
		if i < 0 {
			return "", nil
		}
		s := &f.headers[f.byAddr[i]]
		if addr-s.Addr >= s.Stored || t.table.B != nil && t.start == s.Addr {
			return "", nil
		}
		if t.table.B != nil {
			return "", nil // names of all exports lie in one section
		}
		b, err := f.View(exportTable, uint64(s.Offset), int64(s.Stored), "names of exports")
		if err != nil {
			return "", err
		}
		t.start, t.table = s.Addr, native.NameTable{File: &f.Source, Section: exportTable, B: b, Max: f.In.Limits.NameBytes}
	}
	return t.table.At(uint64(addr - t.start))
}
