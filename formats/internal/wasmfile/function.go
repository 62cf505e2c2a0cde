package wasmfile

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Function is a function that a module defines.
type Function struct {
	Start, End uint64 // of its body, behind its size, in the contents of the code section: addresses of DWARF
}

// Functions are the functions of a module. Imported functions have the first numbers.
type Functions struct {
	Imported []string   // "module.name"
	Defined  []Function // ascending, apart
	Names    []Name     // from the name section, ascending by number; the first of a number counts
	Exports  []Name     // ascending by number
	Damage   error      // of the name section: names behind that place are missing
}

// Name is the name of a function by its number.
type Name struct {
	Index uint32
	Text  string
}

// checkEvery is after how many functions a context is asked.
const checkEvery = 4096

// CountFunctions returns how many functions a module imports and defines. It does not look at the functions.
func (f *File) CountFunctions() (imported, defined int, err error) {
	err = f.eachImport(func(string, string) { imported++ })
	if err != nil {
		return 0, 0, err
	}
	s := f.known[sectionCode]
	if s.end == 0 {
		return imported, 0, nil
	}
	c := between(&f.Source, "code", s.start, s.end)
	defined, err = int(c.count(2, "functions")), c.err
	if err == nil && (defined > f.In.Limits.Symbols || imported > f.In.Limits.Symbols) {
		err = f.Limit("code", 0, "fewer functions")
	}
	return imported, defined, err
}

// Functions reads where functions are and what they are called. It reads the sizes of bodies, not the bodies.
func (f *File) Functions(ctx context.Context) (*Functions, error) {
	imported, defined, err := f.CountFunctions()
	if err != nil {
		return nil, err
	}
	all := &Functions{Imported: make([]string, 0, imported), Defined: make([]Function, 0, defined)}
	err = f.eachImport(func(module, field string) {
		all.Imported = append(all.Imported, symbol.ShortName(module+"."+field, f.In.Limits.NameBytes))
	})
	if err != nil {
		return nil, err
	}
	s := f.known[sectionCode]
	c := between(&f.Source, "code", s.start, s.end)
	if s.end != 0 {
		c.u32("the number of functions")
	}
	for i := range defined {
		if err := check(ctx, i); err != nil {
			return nil, err
		}
		size := uint64(c.u32("the size of a function"))
		from := c.at - s.start
		c.skip(size, fmt.Sprintf("%d bytes of function %d", size, imported+i))
		if c.err != nil {
			return nil, c.err
		}
		all.Defined = append(all.Defined, Function{from, from + size})
	}
	if all.Exports, err = f.exports(ctx, uint64(imported)+uint64(defined)); err != nil {
		return nil, err
	}
	all.Names, all.Damage, err = f.names(ctx, uint64(imported)+uint64(defined))
	return all, err
}

func check(ctx context.Context, i int) error {
	if i%checkEvery == 0 {
		return ctx.Err()
	}
	return nil
}

// The kinds of imports and exports.
const (
	externFunction = iota
	externTable
	externMemory
	externGlobal
	externTag

	compactItems = 0x7f // the imports of one module, behind its name
	compactNames = 0x7e // and of one type
)

// eachImport calls do for each imported function.
func (f *File) eachImport(do func(module, field string)) error {
	s := f.known[sectionImport]
	if s.end == 0 {
		return nil
	}
	c := between(&f.Source, "import", s.start, s.end)
	for range c.count(3, "imports") {
		module, field := c.name("a module's name"), c.name("a name")
		kind := c.u8("the kind of an import")
		switch {
		case field == "" && kind == compactItems:
			for range c.count(2, "imports") {
				field := c.name("a name")
				if c.extern(c.u8("the kind of an import")) && c.err == nil {
					do(module, field)
				}
			}
		case field == "" && kind == compactNames:
			function := c.extern(c.u8("the kind of imports"))
			for range c.count(1, "imports") {
				if field := c.name("a name"); function && c.err == nil {
					do(module, field)
				}
			}
		default:
			if c.extern(kind) && c.err == nil {
				do(module, field)
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return c.err
}

// extern passes over the type of an import, and reports whether it is a function's.
func (c *cursor) extern(kind byte) (function bool) {
	switch kind {
	case externFunction:
		c.u32("the type of a function")
		return true
	case externTable:
		c.valueType()
		c.limits()
	case externMemory:
		c.limits()
	case externGlobal:
		c.valueType()
		c.u8("whether a global changes")
	case externTag:
		c.u8("the attribute of a tag")
		c.u32("the type of a tag")
	default:
		c.at--
		c.fail(fmt.Sprintf("a known kind of import, not %#x", kind))
	}
	return false
}

// valueType passes over the type of a value. References to types of heaps take more than a byte.
func (c *cursor) valueType() {
	const reference, nullable = 0x64, 0x63
	if b := c.u8("a type"); b != reference && b != nullable {
		return
	}
	for range 5 {
		if c.u8("a type of heap") < 0x80 {
			return
		}
	}
	c.fail("a type of heap")
}

// limits passes over the limits of a memory or a table.
func (c *cursor) limits() {
	const hasMost, hasPage = 1, 8
	flags := c.u8("flags of limits")
	c.leb(64, "a least size")
	if flags&hasMost != 0 {
		c.leb(64, "a largest size")
	}
	if flags&hasPage != 0 {
		c.u32("the size of a page")
	}
}

// exports are the exported functions. The first export of a function counts.
func (f *File) exports(ctx context.Context, functions uint64) ([]Name, error) {
	s := f.known[sectionExport]
	if s.end == 0 {
		return nil, nil
	}
	c := between(&f.Source, "export", s.start, s.end)
	var all []Name
	for i := range int(c.count(3, "exports")) {
		if err := check(ctx, i); err != nil {
			return nil, err
		}
		text := c.name("a name")
		kind, index := c.u8("the kind of an export"), c.u32("the number of what is exported")
		if c.err != nil {
			return nil, c.err
		}
		if kind == externFunction && uint64(index) < functions && text != "" {
			all = append(all, Name{index, text})
		}
	}
	return settle(all), c.err
}

// names reads the name section. damage says where it ends to be one.
func (f *File) names(ctx context.Context, functions uint64) (all []Name, damage, err error) {
	s, ok := f.custom["name"]
	if !ok {
		return nil, nil, nil
	}
	const ofFunctions = 1
	c := between(&f.Source, "name", s.start, s.end)
	for c.err == nil && c.left() > 0 {
		id := c.u8("the id of a part")
		size := uint64(c.u32("the size of a part"))
		if c.err == nil && size > c.left() {
			c.fail(fmt.Sprintf("%d bytes of part %d", size, id))
		}
		if c.err != nil || id != ofFunctions || all != nil {
			c.skip(size, "a part")
			continue
		}
		end := c.end
		c.end = c.at + size
		for i := range int(c.count(2, "names")) {
			if err := check(ctx, i); err != nil {
				return nil, nil, err
			}
			index, text := c.u32("the number of a function"), c.name("the name of a function")
			if c.err != nil {
				break
			}
			if uint64(index) < functions && text != "" {
				all = append(all, Name{index, text})
			}
		}
		if c.err == nil {
			c.at, c.end = c.end, end
		}
	}
	if c.err != nil && !formats.Rejects(c.err) {
		return nil, nil, c.err
	}
	return settle(all), c.err, nil
}

// ModuleName is what the name section calls the module, "" if it does not.
func (f *File) ModuleName() (string, error) {
	s, ok := f.custom["name"]
	if !ok {
		return "", nil
	}
	c := between(&f.Source, "name", s.start, s.end)
	if id := c.u8("the id of a part"); id != 0 || c.err != nil {
		return "", sound(c.err)
	}
	c.u32("the size of a part")
	text := c.name("the name of a module")
	if c.err != nil {
		return "", sound(c.err)
	}
	return text, nil
}

// sound returns an error that is not about the contents of the file.
func sound(err error) error {
	if formats.Rejects(err) {
		return nil
	}
	return err
}

// Symbols are the functions as an image has them: from the name section, else by their exports, else by their numbers.
func (all *Functions) Symbols() []native.Symbol {
	symbols := make([]native.Symbol, 0, len(all.Defined))
	names, exports := all.Names, all.Exports
	for i, fn := range all.Defined {
		s := native.Symbol{Addr: fn.Start, Size: fn.End - fn.Start, Rank: symbol.RankSymtab}
		index := uint32(len(all.Imported) + i)
		if s.Name, names = find(names, index); s.Name == "" {
			s.Rank = symbol.RankDynsym
			s.Name, exports = find(exports, index)
		}
		if s.Name != "" && s.Size > 0 {
			symbols = append(symbols, s)
		}
	}
	return symbols
}

// Import returns what an imported function is called.
func (all *Functions) Import(index int) (string, symbol.Rank) {
	if text, _ := find(all.Names, uint32(index)); text != "" {
		return text, symbol.RankSymtab
	}
	return all.Imported[index], symbol.RankDynsym
}
