package explode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/native"
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

// enclosing is how many symbols below an address are tried when the nearest
// one ends before it: labels inside a function of assembly.
const enclosing = 16

// covering is the symbol that covers addr, -1 if none does, and where that
// ends to be so: the symbol that begins last, of several that begin together the
// first in the list.
func (x *Exploder) covering(addr uint64) (i int, end uint64) {
	syms := x.img.Symbols
	next, _ := slices.BinarySearchFunc(syms, addr, func(s native.Symbol, addr uint64) int {
		if s.Addr <= addr {
			return -1
		}
		return 1
	})
	end = ^uint64(0)
	if next < len(syms) {
		end = syms[next].Addr
	}
	found := -1
	for i = next - 1; i >= 0 && i >= next-enclosing; i-- {
		s := &syms[i]
		if found >= 0 && s.Addr != syms[found].Addr {
			break
		}
		if s.Size == 0 && s.Addr == syms[next-1].Addr || addr-s.Addr < s.Size {
			found = i
		}
	}
	if found >= 0 && syms[found].Size != 0 {
		end = min(end, syms[found].Addr+min(syms[found].Size, ^syms[found].Addr))
	}
	return found, end
}

// outermost is the index of the name of an outermost function. Its code at
// low belongs to one of its pieces. It also notes the file that the symbol
// table names for the piece.
func (p *part) outermost(n *node, low uint64) uint32 {
	p.run.file = 0
	if piece := p.tree.piece(n.root, low); piece.End > low {
		low = piece.Start
	}
	name, syms := p.strings.list[n.name], p.x.img.Symbols
	better, plain := -1, -1
	for k := firstAt(syms, low); k < len(syms) && syms[k].Addr == low; k++ {
		switch sym := native.FunctionName(syms[k].Name); {
		case sym == name:
			p.run.file = p.strings.source(syms[k].File)
			return n.name
		case better < 0 && refines(sym, name):
			better = k
		case plain < 0:
			if bare := unscoped(name); bare != "" && common(sym, bare) == len(bare) && refines(sym, bare) {
				plain = k
			}
		}
	}
	if better >= 0 {
		p.run.file = p.strings.source(syms[better].File)
		return p.strings.symbol(better, syms)
	}
	if plain >= 0 {
		p.run.file = p.strings.source(syms[plain].File)
		if bare, sym := unscoped(name), native.FunctionName(syms[plain].Name); sym != bare {
			return p.strings.path(0, []byte(strings.TrimSuffix(name, bare)+sym))
		}
	}
	return n.name
}

// unscoped is what stands behind the scopes of a function's name that is not
// mangled though its language would (C's, in a namespace of C++); "" of others.
func unscoped(name string) string {
	i := strings.LastIndex(name, "::")
	if i < 0 || mangled(name) || strings.ContainsAny(name[i:], "<>() ~") {
		return ""
	}
	return name[i+2:]
}

// refines reports whether a symbol's name spells the function name more
// exactly: the same with a suffix that a compiler adds to clones and parts, a
// constructor or destructor without a kind in DWARF, or the
// mangled form of a name that is not, Crystal's too.
func refines(sym, name string) bool {
	if name == "" {
		return true
	}
	// A number stands for the name in a file built from bitcode; the symbol
	// may still have it, or has a number of its own, which decides as a name would.
	if strings.HasPrefix(name, "__hidden#") {
		return true
	}
	if name[0] == '_' && sym == name[1:] && strings.HasPrefix(sym, "OUTLINED_FUNCTION_") {
		return true // LLVM spells these as Mach-O's symbol tables do
	}
	if sym != "" && (sym[0] == '*' || sym[0] == '~') && crystal(sym, name) {
		return true
	}
	if n := common(sym, name); n == len(name) {
		return len(sym) == n || len(sym) > n+1 && sym[n] == '.'
	}
	if mangled(name) || !mangled(sym) {
		return false
	}
	if swift(sym) { // DWARF's bare names of Swift are "init" and "count.get": no part of the symbol's spelling
		return true
	}
	if operator(name) {
		return strings.HasPrefix(sym, "_Z") // mangled by a code of its own, several for some
	}
	if i := strings.IndexByte(name, '<'); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	if name == "~" { // of a class without a name
		return strings.Contains(sym, "D1Ev") || strings.Contains(sym, "D2Ev")
	}
	name = strings.TrimPrefix(name, "~")
	return name != "" && strings.Contains(sym, strconv.Itoa(len(name))+name)
}

// crystal reports whether a symbol is how Crystal mangles a method of that name, "*Owner#name<Arguments>:Result" or
// "*Owner::name", or a proc. DWARF calls all of them "->". DWARF has no more of a method than its name.
func crystal(sym, name string) bool {
	if sym[0] == '~' {
		return name == "->" && strings.HasPrefix(sym, "~proc")
	}
	for at := 1; ; {
		i := strings.Index(sym[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		begins := at == 1 || sym[at-1] == '#' || strings.HasSuffix(sym[:at], "::")
		if begins && (end == len(sym) || strings.IndexByte("<:'", sym[end]) >= 0) {
			return true
		}
		at++
	}
}

// common is how much of name a symbol begins with. The 4 in a C4 or D4 of
// name, a constructor or destructor of no certain kind, stands for any digit.
func common(sym, name string) int {
	n := 0
	for n < len(name) && n < len(sym) {
		if sym[n] != name[n] && !(n > 0 && name[n] == '4' && (name[n-1] == 'C' || name[n-1] == 'D') && sym[n] >= '0' && sym[n] <= '3') {
			break
		}
		n++
	}
	return n
}

// operator reports whether a name of C++ names an operator or a conversion, a template's too:
// "operator<< <char>", "A::operator()<B::C>", "operator bool".
func operator(name string) bool {
	const word = "operator"
	for at := 0; ; {
		i := strings.Index(name[at:], word)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(word)
		if (i == 0 || name[i-1] == ':') && at < len(name) && !identifier(name[at]) {
			return true
		}
	}
}

// identifier reports whether c may go on a name in C++.
func identifier(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R") || swift(name) || dlang(name)
}

// dlang reports whether a name is mangled as D does: _D, and names with their lengths before them. GDC gives its nested
// functions no linkage name in DWARF, and the symbol has it.
func dlang(name string) bool {
	return len(name) > 3 && name[:2] == "_D" && name[2] >= '1' && name[2] <= '9'
}

// swift reports whether a name is mangled as a version of Swift does; before
// the fourth it was _T and a kind.
func swift(name string) bool {
	if strings.HasPrefix(name, "$s") || strings.HasPrefix(name, "$S") {
		return true
	}
	return len(name) > 3 && strings.HasPrefix(name, "_T") && strings.IndexByte("0FTWZIMVtoveRPsS", name[2]) >= 0
}
