// Package swift turns the linkage names of Swift into what the source calls
// them, in both forms of Apple's "swift demangle -compact": in full and
// simplified.
//
// It reads the manglings of Swift 4 and later ("$s", "$S", "_T0", each also
// behind the underscore of Mach-O, "$e" of Embedded Swift and the file names
// of macro expansions) and those before ("_T…"). A name is read to a whole tree,
// then the tree is printed. The grammar follows Swift's docs/ABI/Mangling.rst;
// words and spelling follow Apple's printer, sugar for optionals and
// collections left to the simplified form as its library does.
//
// The package leaves to others to tell Swift names from other texts, and
// to remember results.
//
// Invariants:
//   - any string is accepted, and no string makes it panic;
//   - a name costs bounded memory, time and output; a more costly name is
//     no name;
//   - a symbolic reference, which stands for an address in an image, is no name;
//   - the result depends on the name and the form alone.
package swift

import "strings"

// Is reports whether a name begins as Swift's names do.
func Is(name string) bool {
	return prefix(name) > 0 || strings.HasPrefix(name, "_T")
}

// Demangler holds the memory that names are read in, which serves one after
// the other. The zero value is ready. It is not safe for concurrent use.
type Demangler struct {
	parser  parser
	printer printer
}

// Name gives the form of a mangled name, which has at most max bytes; false if
// it is no mangled name, or goes beyond a bound. The result keeps no
// reference to the name.
func (d *Demangler) Name(mangled string, simplified bool, max int) (string, bool) {
	d.printer = printer{out: d.printer.out[:0], simple: simplified, where: !simplified, max: max, steps: maxSteps,
		rules: (*printer).printNode, symbol: printSymbol}
	ok := d.parser.print(mangled, &d.printer) && len(d.printer.out) > 0
	text := ""
	if ok {
		text = string(d.printer.out)
	}
	if cap(d.parser.nodes) > keepNodes || cap(d.parser.kids) > keepNodes || cap(d.parser.stack) > keepNodes {
		*d = Demangler{}
	}
	return text, ok
}

// print reads a name and prints it behind the output of to.
func (p *parser) print(mangled string, to *printer) bool {
	var root ref
	if n := prefix(mangled); n > 0 {
		root = p.symbol(mangled, n)
	} else {
		root = p.old(mangled)
	}
	if root == 0 || p.over {
		return false
	}
	to.tree = &p.tree
	to.print(root, 0, false)
	return !to.failed
}

// printSymbol prints a name inside a name. The printer's own tree stays.
func printSymbol(p *printer, name string) bool {
	var inner parser
	return inner.print(name, p)
}
