package explode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// firstAt is the index of the first symbol at or behind addr.
func firstAt(syms []native.Symbol, addr uint64) int {
	i, _ := slices.BinarySearchFunc(syms, addr, func(s native.Symbol, addr uint64) int {
		if s.Addr < addr {
			return -1
		}
		return 1
	})
	return i
}

// covering is the symbol that covers addr, -1 if none does, and where that
// ends to be so. The nearest one below counts alone: one that lies around it
// does not say what is behind its end.
func (x *Exploder) covering(addr uint64) (i int, end uint64) {
	syms := x.img.Symbols
	next := firstAt(syms, addr+1)
	end = ^uint64(0)
	if addr == ^uint64(0) {
		next = len(syms)
	}
	if next < len(syms) {
		end = syms[next].Addr
	}
	if next == 0 {
		return -1, end
	}
	i = firstAt(syms, syms[next-1].Addr)
	if size := syms[i].Size; size != 0 {
		if addr-syms[i].Addr >= size {
			return -1, end
		}
		end = min(end, syms[i].Addr+size)
	}
	return i, end
}

// outermost is the index of the name of an outermost function, whose code at
// low belongs to one of its pieces.
func (p *part) outermost(n *node, low uint64) (uint32, error) {
	i, err := p.nameOf(n)
	if err != nil {
		return 0, err
	}
	for _, v := range p.tree.intervals[n.first : n.first+n.count] {
		if v.Start <= low && low < v.End {
			low = v.Start
			break
		}
	}
	name, syms := p.strings.list[i], p.x.img.Symbols
	for k := firstAt(syms, low); k < len(syms) && syms[k].Addr == low; k++ {
		if syms[k].Name == name {
			return i, nil
		}
		if refines(syms[k].Name, name) {
			return p.strings.symbol(k, syms), nil
		}
	}
	return i, nil
}

// refines reports whether a symbol's name spells the function name more
// exactly: the same with a suffix that a compiler adds to clones and parts,
// or the mangled form of a name that is not.
func refines(sym, name string) bool {
	if name == "" {
		return true
	}
	if rest, ok := strings.CutPrefix(sym, name); ok {
		return len(rest) > 1 && rest[0] == '.'
	}
	if mangled(name) || !mangled(sym) {
		return false
	}
	if i := strings.IndexByte(name, '<'); i > 0 && !strings.HasPrefix(name, "operator") {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	if name == "operator()" {
		return strings.Contains(sym, "cl")
	}
	name = strings.TrimPrefix(name, "~")
	return name != "" && strings.Contains(sym, strconv.Itoa(len(name))+name)
}

func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// Symbols emits the runs of the symbol tables alone, a run for each piece of
// code that a symbol covers, ranks one after the other. Symbols of one rank
// that overlap are cut: the one that begins last has the code, of those that
// begin together the first in the list.
func Symbols(img *native.Image, emit func(*symbol.Run) error) error {
	for _, rank := range []symbol.Rank{symbol.RankSymtab, symbol.RankDynsym} {
		if err := symbols(img, rank, emit); err != nil {
			return err
		}
	}
	return nil
}

func symbols(img *native.Image, rank symbol.Rank, emit func(*symbol.Run) error) error {
	run := symbol.Run{
		Rank: rank, Strings: []string{""},
		Ranges: make([]symbol.Range, 1),
		Scopes: []symbol.Scope{{Parent: -1}},
	}
	type open struct {
		end uint64
		sym int
	}
	var stack []open
	index := map[int]uint32{} // of symbols in Strings, while they are open
	pos := uint64(0)
	finish := func(limit uint64) error {
		for len(stack) > 0 && pos < limit {
			top := stack[len(stack)-1]
			if pos < top.end {
				to := min(top.end, limit)
				i, ok := index[top.sym]
				if !ok {
					i = uint32(len(run.Strings))
					run.Strings = append(run.Strings, img.Symbols[top.sym].Name)
					index[top.sym] = i
				}
				run.Scopes[0].Function = i
				run.Ranges[0] = symbol.Range{Start: pos - img.Base, End: to - img.Base}
				if err := emit(&run); err != nil {
					return err
				}
				pos = to
			}
			if top.end <= pos {
				delete(index, top.sym)
				stack = stack[:len(stack)-1]
			}
		}
		return nil
	}
	code := img.Code
	for i := range img.Symbols {
		s := &img.Symbols[i]
		if s.Rank != rank {
			continue
		}
		for len(code) > 0 && code[0].End <= s.Addr {
			code = code[1:]
		}
		if len(code) == 0 {
			break
		}
		if s.Addr < code[0].Start || i > 0 && img.Symbols[i-1].Addr == s.Addr && img.Symbols[i-1].Rank == rank {
			continue
		}
		end := code[0].End
		if s.Size != 0 {
			end = min(end, s.Addr+min(s.Size, ^s.Addr))
		} else if next := firstAt(img.Symbols, s.Addr+1); next < len(img.Symbols) {
			end = min(end, img.Symbols[next].Addr)
		}
		if err := finish(s.Addr); err != nil {
			return err
		}
		pos = s.Addr
		stack = append(stack, open{end, i})
	}
	return finish(^uint64(0))
}
