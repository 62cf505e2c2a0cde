package elffile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	sttNotype = 0
	sttObject = 1
	sttFunc   = 2
	sttFile   = 4
	sttIfunc  = 10

	stbLocal = 0
)

// table is one symbol table with what it refers to.
type table struct {
	f       *File
	name    string
	b       []byte // entries
	entry   int
	n       int
	names   native.NameTable
	indices []byte // SHT_SYMTAB_SHNDX: 4 bytes an entry, or nil
}

// entry of a symbol table.
type entry struct {
	name        uint32
	kind, bind  byte
	section     int // index of its section; -1: none
	absolute    bool
	value, size uint64
}

// table reads the symbol table in section i; its names too if named.
func (f *File) table(i int, named bool) (*table, error) {
	if i <= 0 || i >= len(f.headers) {
		return nil, corrupt("", 0, fmt.Sprintf("a symbol table in section %d", i))
	}
	h := &f.headers[i]
	if h.kind != shtSymtab && h.kind != shtDynsym {
		return nil, corrupt(h.name, 0, fmt.Sprintf("a symbol table in section %d, not a section of type %d", i, h.kind))
	}
	t := &table{f: f, name: h.name, entry: 16}
	if f.wide {
		t.entry = 24
	}
	if h.entrySize != 0 && h.entrySize != uint64(t.entry) {
		return nil, corrupt(h.name, 0, fmt.Sprintf("entries of %d bytes, not %d", t.entry, h.entrySize))
	}
	sec, err := f.section(i)
	if err != nil {
		return nil, err
	}
	if n := sec.In.Size / int64(t.entry); n > int64(f.In.Limits.Symbols) {
		return nil, limit(h.name, 0, fmt.Sprintf("at most %d symbols, not %d", f.In.Limits.Symbols, n))
	}
	if t.b, err = sec.Bytes(); err != nil {
		return nil, err
	}
	t.n = len(t.b) / t.entry
	for j := range f.headers {
		if x := &f.headers[j]; x.kind == shtShndx && x.link == uint32(i) {
			if sec, err = f.section(j); err != nil {
				return nil, err
			}
			if t.indices, err = sec.Bytes(); err != nil {
				return nil, err
			}
			break
		}
	}
	if !named {
		return t, nil
	}
	if int64(h.link) >= int64(len(f.headers)) {
		return nil, corrupt(h.name, 0, fmt.Sprintf("a string table in section %d", h.link))
	}
	if sec, err = f.section(int(h.link)); err != nil {
		return nil, err
	}
	t.names = native.NameTable{File: &f.Source, Section: sec.Name, Max: f.In.Limits.NameBytes}
	t.names.B, err = sec.Bytes()
	return t, err
}

func (t *table) at(i int) entry {
	r := native.Fields{B: t.b[i*t.entry:], Order: t.f.Order}
	var e entry
	var info byte
	var shndx uint16
	if t.f.wide {
		e.name, info, shndx, e.value, e.size = r.U32(0), r.B[4], r.U16(6), r.U64(8), r.U64(16)
	} else {
		e.name, e.value, e.size, info, shndx = r.U32(0), uint64(r.U32(4)), uint64(r.U32(8)), r.B[12], r.U16(14)
	}
	e.kind, e.bind = info&15, info>>4
	index := int64(shndx)
	switch {
	case shndx == shnXnum && (i+1)*4 <= len(t.indices):
		index = int64(native.Fields{B: t.indices, Order: t.f.Order}.U32(i * 4))
	case shndx == shnAbs:
		e.absolute, index = true, 0
	case shndx >= shnLow:
		index = 0
	}
	e.section = -1
	if index > 0 && index < int64(len(t.f.headers)) {
		e.section = int(index)
	}
	return e
}

// address returns the place of a symbol; false for a symbol that is not defined here.
func (t *table) address(e *entry) (uint64, bool) {
	switch {
	case e.absolute:
		return e.value, true
	case e.section < 0:
		return 0, false
	case t.f.kind == typeRel:
		return t.f.places[e.section] + e.value, true
	}
	return e.value, true
}

// Symbols are the function symbols of .symtab, of the one inside
// .gnu_debugdata and of .dynsym: ascending by address, and at one address the
// best rank first, then the largest, then the last of its table, which makes
// global names win over local ones. That is llvm-symbolizer's preference.
func (f *File) Symbols(ctx context.Context) ([]native.Symbol, error) {
	code, err := f.Code()
	if err != nil {
		return nil, err
	}
	var all []native.Symbol
	for _, i := range f.tables(shtSymtab) {
		if all, err = f.collect(ctx, i, symbol.RankSymtab, code, all); err != nil {
			return nil, err
		}
	}
	inner, err := f.minidebug()
	if err != nil {
		return nil, err
	}
	if inner != nil {
		f.Keep(inner.Close) // its names live on in the symbols
		for _, i := range inner.tables(shtSymtab) {
			if all, err = inner.collect(ctx, i, symbol.RankSymtab, code, all); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range f.tables(shtDynsym) {
		if all, err = f.collect(ctx, i, symbol.RankDynsym, code, all); err != nil {
			return nil, err
		}
	}
	return native.Settle(all), nil
}

// maxTables bounds the symbol tables of a kind that are read. Sound files have one; headers of more could all lead to the
// same bytes.
const maxTables = 8

// tables returns the sections that are symbol tables of a kind.
func (f *File) tables(kind uint32) (found []int) {
	for i := range f.headers {
		if f.headers[i].kind == kind && f.headers[i].size > 0 && len(found) < maxTables {
			found = append(found, i)
		}
	}
	return found
}

// collect appends the functions of the table in section i to all.
func (f *File) collect(ctx context.Context, i int, rank symbol.Rank, code []native.Span, all []native.Symbol) ([]native.Symbol, error) {
	if f.headers[i].size == 0 {
		return all, nil
	}
	t, err := f.table(i, true)
	if err != nil {
		return nil, err
	}
	image := native.Image{Code: code}
	opd, err := f.descriptors()
	if err != nil {
		return nil, err
	}
	functions := 0
	for j := 1; j < t.n; j++ {
		if k := t.at(j).kind; k == sttFunc || k == sttIfunc {
			functions++
		}
	}
	all = slices.Grow(all, functions) // nearly all of them are kept
	var file string
	for j := 1; j < t.n; j++ {
		if j&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		e := t.at(j)
		switch e.kind {
		case sttFile:
			if file, err = t.names.At(uint64(e.name)); err != nil {
				return nil, err
			}
			continue
		case sttNotype, sttFunc, sttObject, sttIfunc:
		default:
			continue
		}
		if e.section < 0 {
			continue
		}
		addr, _ := t.address(&e)
		if opd != nil && e.section == opd.section {
			var ok bool
			if addr, ok = opd.code(f, e.value); !ok {
				continue
			}
		} else if !f.headers[e.section].executed() {
			continue
		}
		if (f.machine == machARM || f.machine == machMIPS) && (e.kind == sttFunc || e.kind == sttIfunc) {
			addr &^= 1
		}
		span, ok := image.Span(addr)
		if !ok {
			continue
		}
		name, err := t.names.At(uint64(e.name))
		if err != nil {
			return nil, err
		}
		if f.mapping(name, &e) {
			continue
		}
		s := native.Symbol{Addr: addr, Size: min(e.size, span.End-addr), Name: unversioned(name), Rank: rank}
		if e.size == 0 {
			s.Size, s.Open = span.End-addr, true
			if h := &f.headers[e.section]; h.code() {
				s.Bound(f.places[e.section] + h.size)
			}
		}
		if e.bind == stbLocal {
			s.File = file
		}
		all = append(all, s)
	}
	return all, nil
}

// unversioned is a name without its version ("f@V_1.2", "f@@V_1.2"), which is part of the dynamic linker's name, not
// of the function's. What stands behind the sign in names of Crystal is no version: "*Cart@Store#add:Nil".
func unversioned(name string) string {
	at := strings.IndexByte(name, '@')
	if at <= 0 || strings.ContainsAny(name[at:], "#:/<>() ") {
		return name
	}
	return name[:at]
}

// mapping reports whether a symbol only marks what the bytes are ("$a", "$d.3")
// or is the assembler's own label.
func (f *File) mapping(name string, e *entry) bool {
	if name == "" {
		return true
	}
	if e.kind != sttNotype || name[0] != '$' && name[0] != '.' {
		return false
	}
	if strings.HasPrefix(name, ".L") {
		return true // RISC-V assemblers keep them in the table, amid functions
	}
	marks := ""
	switch f.machine {
	case machARM:
		marks = "atd"
	case machARM64:
		marks = "xd"
	case machRISCV:
		if strings.HasPrefix(name, "$x") { // "$xrv64i2p1…": the extensions in force
			return true
		}
		marks = "d"
	}
	return len(name) >= 2 && name[0] == '$' && strings.IndexByte(marks, name[1]) >= 0 &&
		(len(name) == 2 || name[2] == '.')
}

// descriptorTable is the .opd of a 64-bit PowerPC file of the first ABI: there
// a function's symbol names a descriptor. Its first word is the code's address.
type descriptorTable struct {
	section int
	addr    uint64
	b       []byte // empty in a debug file: its functions then have no known address
}

func (f *File) descriptors() (*descriptorTable, error) {
	if f.machine != machPPC64 || f.flags&3 == 2 {
		return nil, nil
	}
	for i := range f.headers {
		if f.headers[i].name != ".opd" {
			continue
		}
		d := &descriptorTable{section: i, addr: f.headers[i].addr}
		if f.headers[i].kind == shtNobits {
			return d, nil
		}
		sec, err := f.section(i)
		if err != nil {
			return nil, err
		}
		d.b, err = sec.Bytes()
		return d, err
	}
	return nil, nil
}

// code is the address that the descriptor at value leads to.
func (d *descriptorTable) code(f *File, value uint64) (uint64, bool) {
	if f.kind != typeRel {
		value -= d.addr
	}
	if value > uint64(len(d.b)) || uint64(len(d.b))-value < 8 {
		return 0, false
	}
	return f.Order.Uint64(d.b[value:]), true
}
