// Package msvc demangles the names of Microsoft's C++ ABI, which begin with a question mark: functions, data, templates,
// back references, thunks, tables of virtual functions, RTTI, string constants, names local to functions, and what
// clang adds to them. It also reads names of types as RTTI stores them (".?AVCart@@").
//
// The text is what llvm-undname prints. Three forms leave different things out, see Form.
//
// A name that a compiler replaced by a hash ("??@0123…@") has no other text: it stays. What compilers append to a name
// (".llvm.1") is shown in parentheses, as for other languages; LLVM drops it.
//
// Invariants:
//   - any string is accepted, and no string makes it panic;
//   - a name costs bounded memory, time and output; a more costly name is no name;
//   - the result depends on the name and the form alone.
package msvc

import "strings"

// Form says what a text leaves out.
type Form uint8

const (
	// Frame is the form of symbolizers: "Cart::add(int)". It has no access, no
	// "static" or "virtual", no calling convention and no result.
	Frame Form = iota
	// Full is the form of llvm-undname: "public: void __cdecl Cart::add(int)".
	Full
	// Bare is the qualified name without parameters and template arguments: "Cart::add".
	Bare
)

func (f Form) flags() flags {
	switch f {
	case Full:
		return 0
	case Bare:
		return noAccess | noMember | noConvention | noResult | noArguments
	}
	return noAccess | noMember | noConvention | noResult
}

// Is reports whether a name begins as names of Microsoft's C++ do.
func Is(name string) bool {
	return len(name) > 2 && (name[0] == '?' || strings.HasPrefix(name, ".?A"))
}

// Demangler holds the memory that names are read in, which serves one after
// the other. The zero value is ready. It is not safe for concurrent use.
type Demangler struct{ reader reader }

// Name returns the form of a mangled name, which has at most max bytes; false if
// it is no mangled name, or goes beyond a bound. The result keeps no
// reference to the name.
func (d *Demangler) Name(mangled string, form Form, max int) (string, bool) {
	text, ok := d.read(mangled, form, max)
	name := string(text)
	d.trim()
	return name, ok
}

// Append appends what Name returns; false, and nothing, if it is no mangled name.
func (d *Demangler) Append(to []byte, mangled string, form Form, max int) ([]byte, bool) {
	text, ok := d.read(mangled, form, max)
	to = append(to, text...)
	d.trim()
	return to, ok
}

// read returns the form of a name. The text is valid until the next name.
func (d *Demangler) read(mangled string, form Form, max int) ([]byte, bool) {
	if !Is(mangled) || len(mangled) > maxMangled {
		return nil, false
	}
	r := &d.reader
	r.reset(mangled)
	root := r.symbol()
	if r.failed || root == 0 {
		return nil, false
	}
	suffix := r.in[r.pos:]
	if strings.HasPrefix(suffix, "::<!") && suffix[len(suffix)-1] == '>' { // the module of C++20 that has it
		suffix = ""
	}
	if !isSuffix(suffix) {
		return nil, false
	}
	p := printer{reader: r, start: len(r.text), max: len(r.text) + max}
	if form == Bare {
		p.bare(root, 0)
	} else {
		p.print(root, form.flags(), 0)
	}
	if suffix != "" {
		p.put(" (")
		p.put(suffix)
		p.put(")")
	}
	if p.failed || len(r.text) > p.max {
		return nil, false
	}
	return r.text[p.start:], true
}

// trim gives large memory back.
func (d *Demangler) trim() {
	if cap(d.reader.nodes) > keepNodes || cap(d.reader.text) > keepText {
		*d = Demangler{}
	}
}

// isSuffix reports whether compilers end the names of clones so, which may also be not at all: ".llvm.1".
func isSuffix(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '.' || len(s) == 1 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '.' && c != '_' && c != '$' && !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// Undecorated returns the name of a C function of a 32-bit image without the marks of its calling convention and without the
// bytes of its parameters: "f" of "_f@8", "@f@8" and "f@@16". Other names come back unchanged, "_f" too: DWARF has functions
// that are called so. Only images for x86 have such names.
func Undecorated(name string) string {
	at := strings.LastIndexByte(name, '@')
	if at < 1 || at+1 == len(name) || strings.Trim(name[at+1:], "0123456789") != "" || name[0] == '?' {
		return name
	}
	bare, vector := strings.CutSuffix(name[:at], "@") // __vectorcall has no mark in front
	if !vector {
		if bare[0] != '_' && bare[0] != '@' {
			return name
		}
		bare = bare[1:]
	}
	if bare == "" || strings.Contains(bare, "@") {
		return name
	}
	return bare
}
