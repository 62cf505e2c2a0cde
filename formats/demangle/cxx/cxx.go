// Package cxx demangles nearly all of C++'s names (Itanium ABI) at a tenth of a
// general demangler's cost: names, templates, substitutions, types, expressions,
// constraints and what depends on template arguments, but no conversions to a
// template parameter. In what it answers it says what LLVM's demangler says; of
// all else it says that it does not know. The caller then asks a demangler that
// reads the whole grammar. Only names that GCC wrote before it followed the ABI
// ("srSt"), names with template parameters of a local function, and names with
// constraints that speak of parameters to come, are answered here and not there.
//
// Invariants:
//   - any string is accepted, and no string makes it panic;
//   - a name costs bounded memory, time and output; beyond a bound it is not
//     known;
//   - the result depends on the name alone.
package cxx

// Demangler holds the memory that names are read in, which serves one after
// the other. The zero value is ready. It is not safe for concurrent use.
type Demangler struct {
	reader reader
	out    []byte
}

// Name gives the demangled form of a name that begins with "_Z" and has at most
// max bytes then; false if it is not known.
func (d *Demangler) Name(mangled string, max int) (string, bool) {
	out, ok := d.Append(d.out[:0], mangled, max)
	if d.out = out; !ok {
		return "", false
	}
	return string(out), true
}

// Append appends what Name gives; false, and nothing, if the name is not known.
func (d *Demangler) Append(to []byte, mangled string, max int) ([]byte, bool) {
	if len(mangled) < 3 || mangled[:2] != "_Z" {
		return to, false
	}
	r := &d.reader
	r.reset(mangled[2:])
	root := r.encoding()
	suffix := r.in[r.pos:]
	if root == 0 || r.unknown || suffix != "" && !(isSuffix(suffix) && r.takesSuffix(root)) {
		return to, false
	}
	p := printer{nodes: r.nodes, lists: r.lists, out: to, start: len(to), max: len(to) + max, steps: maxSteps}
	p.print(root, 0)
	if suffix != "" {
		p.put(" (")
		p.put(suffix)
		p.put(")")
	}
	if p.failed {
		return p.out[:len(to)], false
	}
	return p.out, true
}

// takesSuffix reports whether a name may belong to a clone: data has none.
func (r *reader) takesSuffix(x ref) bool {
	k := r.nodes[x].kind
	return k == kEncoding || k == kConstrained || k == kSpecial
}

// isSuffix reports whether compilers end a clone's name so: ".isra.0".
func isSuffix(s string) bool {
	for s != "" {
		n := 1
		for n < len(s) && (lower(s[n]) || digit(s[n]) || s[n] == '_') {
			n++
		}
		if s[0] != '.' || n == 1 {
			return false
		}
		s = s[n:]
	}
	return true
}
