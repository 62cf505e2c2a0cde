package explode

import (
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Symbols emits the runs of the symbol tables alone, a run for each piece of
// code that a symbol covers, ranks one after the other. The file of a range
// is what the table says, without a line. Symbols of one rank that overlap
// are cut: the symbol that begins last has the code, of several that begin
// together the first in the list. emit's error comes back unchanged.
func Symbols(img *native.Image, emit func(*symbol.Run) error) error {
	s := symtab{img: img, emit: emit, files: map[string]uint32{}, run: symbol.Run{
		Strings: make([]string, 0, min(2*len(img.Symbols)+1, tableStrings)),
		Ranges:  make([]symbol.Range, 1),
		Scopes:  []symbol.Scope{{Parent: -1}},
	}}
	s.begin()
	for _, s.run.Rank = range []symbol.Rank{symbol.RankSymtab, symbol.RankDynsym} {
		s.stack, s.pos = nil, 0
		if err := s.walk(); err != nil {
			return err
		}
	}
	return nil
}

// tableStrings is how many strings a table has before the next one is begun. Nearly every name occurs in one run: all
// of them in one table would be a copy of the symbols' strings.
const tableStrings = 1024

// symtab sweeps the symbols of one rank.
type symtab struct {
	img   *native.Image
	emit  func(*symbol.Run) error
	run   symbol.Run
	files map[string]uint32
	stack []covering // begun: the last one has the code
	pos   uint64
}

// covering is a symbol with code up to end.
type covering struct {
	end        uint64
	sym        *native.Symbol
	table      any // of name and file; nil: they are in none yet
	name, file uint32
}

func (s *symtab) walk() error {
	img, code := s.img, s.img.Code
	last := ^uint64(0) // address of the last one
	for i := range img.Symbols {
		sym := &img.Symbols[i]
		if sym.Rank != s.run.Rank || sym.Addr == last {
			continue
		}
		for len(code) > 0 && code[0].End <= sym.Addr {
			code = code[1:]
		}
		if len(code) == 0 {
			break
		}
		if sym.Addr < code[0].Start {
			continue
		}
		last = sym.Addr
		end := code[0].End
		if sym.Size != 0 {
			end = min(end, sym.Addr+min(sym.Size, ^sym.Addr))
		} else if next := firstAt(img.Symbols, sym.Addr+1); next < len(img.Symbols) {
			end = min(end, img.Symbols[next].Addr)
		}
		if err := s.finish(sym.Addr); err != nil {
			return err
		}
		s.pos = sym.Addr
		s.stack = append(s.stack, covering{end: end, sym: sym})
	}
	return s.finish(^uint64(0))
}

// begin begins a table of strings.
func (s *symtab) begin() {
	s.run.Table, s.run.Strings = new(int), append(s.run.Strings[:0], "")
	clear(s.files)
	s.files[""] = 0
}

// refer looks the name and the file of c up in the table, or adds them.
func (s *symtab) refer(c *covering) {
	if c.table == s.run.Table {
		return
	}
	if len(s.run.Strings)+2 > cap(s.run.Strings) {
		s.begin()
	}
	file, ok := s.files[c.sym.File]
	if !ok {
		file = s.add(c.sym.File)
		s.files[c.sym.File] = file
	}
	c.table, c.name, c.file = s.run.Table, s.add(native.FunctionName(c.sym.Name)), file
}

func (s *symtab) add(text string) uint32 {
	s.run.Strings = append(s.run.Strings, text)
	return uint32(len(s.run.Strings) - 1)
}

// finish emits the open range, up to limit.
func (s *symtab) finish(limit uint64) error {
	for len(s.stack) > 0 && s.pos < limit {
		top := &s.stack[len(s.stack)-1]
		if s.pos < top.end {
			s.refer(top)
			to := min(top.end, limit)
			s.run.Scopes[0].Function = top.name
			s.run.Ranges[0] = symbol.Range{Start: s.pos - s.img.Base, End: to - s.img.Base, At: symbol.Site{File: top.file}}
			if err := s.emit(&s.run); err != nil {
				return err
			}
			s.pos = to
		}
		if top.end <= s.pos {
			s.stack = s.stack[:len(s.stack)-1]
		}
	}
	return nil
}
