package demangle

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/demangle/msvc"
)

// Short returns the demangled name without parameters, template arguments and return type, as pprof shows functions: "Cart::add".
// A name that is not mangled loses them too if it has the form of C++ or Rust.
func Short(linkage string) string {
	mangled, of := strip(linkage)
	switch of {
	case swifts:
		return new(Demangler).Simplified(linkage)
	case notMangled:
		return plain(linkage)
	case microsoft:
		out := linkage
		_ = formats.Guard("demangle", func() error { // after a panic the name stays
			if text, ok := new(msvc.Demangler).Name(mangled, msvc.Bare, MaxBytes-1); ok {
				out = text
			}
			return nil
		})
		return out
	}
	if len(mangled) > MaxMangledBytes || costly(mangled) {
		return linkage
	}
	out := linkage
	_ = formats.Guard("demangle", func() error { // after a panic the name stays
		text := demangle.Filter(mangled, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoTemplateParams, demangle.MaxLength(maxBytesPower))
		if text != mangled && len(text) < MaxBytes {
			out = text
		}
		return nil
	})
	return out
}

// plain returns a name that is not mangled without template arguments and without the parameters at its end.
func plain(name string) string {
	if !strings.Contains(name, "<") && !strings.HasSuffix(name, ")") || name == "" || name[0] == '<' || strings.Contains(name, ".<") {
		return name
	}
	if !strings.Contains(name, "::") && !strings.HasSuffix(name, ">") {
		return name // as Go's and Java's are
	}
	out := make([]byte, 0, len(name))
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case depth > 0 && c == '<':
			depth++
		case depth > 0 && c == '>' && name[i-1] != '-':
			depth--
		case depth > 0:
		case c == '<' && len(out) > 0 && isWord(out[len(out)-1]) && !strings.HasSuffix(string(out), "operator"):
			depth = 1
		default:
			out = append(out, c)
		}
	}
	if depth > 0 { // an operator, or no name of these languages
		return name
	}
	if short := withoutParameters(string(out)); short != "" {
		return short
	}
	return string(out)
}

// withoutParameters cuts the parameters that a name ends with.
func withoutParameters(name string) string {
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth > 0 {
				continue
			}
			if i > 0 && isWord(name[i-1]) && !strings.HasSuffix(name[:i], "operator") || strings.HasSuffix(name[:i], "operator()") {
				return name[:i]
			}
			return name
		}
	}
	return name
}

// isWord reports whether a byte is a part of an identifier.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
