package group

import "strings"

// isRust reports whether a linkage name is Rust's, of the older mangling or the newer.
func isRust(linkage string) bool {
	if strings.HasPrefix(linkage, "_R") || strings.HasPrefix(linkage, "__R") {
		return true
	}
	at := strings.LastIndex(linkage, "17h")
	return at > 0 && strings.Contains(linkage[:at], "ZN") && len(linkage) > at+19 && linkage[at+19] == 'E' && isHex(linkage[at+3:at+19])
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// block stands behind the name of a function that holds a block of C.
const block = " {block}"

// nativeName returns the name of a function of C, C++, Objective-C or Rust: with its scopes, without types and without
// what compilers add.
func nativeName(readable string) string {
	if in, ok := blockOf(readable); ok {
		return nativeName(in) + block
	}
	if strings.HasPrefix(readable, "-[") || strings.HasPrefix(readable, "+[") {
		end := strings.IndexByte(readable, ']')
		return readable[:end+1]
	}
	for _, prefix := range []string{"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "} {
		readable = strings.TrimPrefix(readable, prefix)
	}
	if !strings.ContainsAny(readable, ":(< ") { // C, or a name that is not demangled
		return withoutSuffixes(readable)
	}
	for _, mark := range []string{" (.", " [clone "} { // demanglers show suffixes so
		readable, _, _ = strings.Cut(readable, mark)
	}
	return unqualified(readable, 0)
}

// blockOf returns the function around a block, whose symbol is __FUNCTION_block_invoke_2 or __45-[Class method]_block_invoke.
func blockOf(name string) (in string, ok bool) {
	if in, ok = strings.CutPrefix(name, "invocation function for block in "); ok {
		return in, true
	}
	if in, _, ok = strings.Cut(name, "_block_invoke"); !ok || !strings.HasPrefix(in, "__") {
		return "", false
	}
	return strings.TrimLeft(in[2:], "0123456789"), true
}

// suffixes are what compilers and linkers append to the names of parts and copies of a function, before a number, a dot
// or nothing.
var suffixes = []string{"cold", "isra", "part", "constprop", "llvm", "lto_priv", "localalias", "resume", "destroy", "cleanup", "__uniq", "__part", "eh", "warm", "hot",
	"unlikely", "split", "exit", "text", "specialized", "clone", "ifunc", "resolver", "default", "extracted", "outlined", "_omp_fn", "omp_outlined", "omp_outlined_debug__",
	"simdclone", "memprof", "actor", "thunk", "sroa", "copy", "kcfi", "cfi", "cfi_jt"}

// withoutSuffixes returns a symbol's name without the suffixes of compilers: "f" of "f.isra.0.part.3", "f.1234" and
// "f.avx2.0".
func withoutSuffixes(name string) string {
	for at := 1; at < len(name); at++ {
		if name[at] != '.' {
			continue
		}
		word := name[at+1:]
		if end := strings.IndexByte(word, '.'); end >= 0 {
			word = word[:end]
		}
		bare := strings.TrimRight(word, "0123456789")
		if bare == "" && word != "" || strings.HasPrefix(word, "arch_") || strings.HasPrefix(word, "avx") || strings.HasPrefix(word, "sse") {
			return name[:at]
		}
		for _, s := range suffixes {
			if bare == s {
				return name[:at]
			}
		}
	}
	if at := strings.Index(name, "$catch$"); at > 0 {
		return name[:at]
	}
	return name
}

// mostNested is how deep types of Rust stand in each other before they are left out.
const mostNested = 4

// unqualified returns a demangled name with its scopes, without parameters, arguments of templates, result and
// qualifiers. Lambdas, closures and unnamed types lose their numbers.
func unqualified(s string, depth int) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		rest := s[i:]
		switch c := s[i]; {
		case startsOperator(s, i):
			n := operatorEnd(rest)
			b.WriteString(strings.TrimRight(rest[:n], " "))
			i += n
		case strings.HasPrefix(rest, "(anonymous "):
			n := closing(rest)
			b.WriteString("{" + strings.Trim(rest[:n], "()") + "}")
			i += n
		case c == '\'', c == '{', strings.HasPrefix(rest, "$_"):
			name, n := unnamed(rest)
			b.WriteString(name)
			i += n
		case c == '<':
			n := closing(rest)
			if b.Len() == 0 && depth < mostNested { // <Type as Trait>::function of Rust
				b.WriteString(rustType(rest[1:max(1, n-1)], depth+1))
			} else if name := b.String(); strings.HasSuffix(name, "::") && i+n < len(s) { // ::<impl Trait for Type>::
				b.Reset()
				b.WriteString(strings.TrimSuffix(name, "::"))
			} else if strings.HasSuffix(name, "::") { // f::<i32>
				b.Reset()
				b.WriteString(strings.TrimSuffix(name, "::"))
			}
			i += n
		case c == '(', c == '[':
			i += closing(rest)
			i += qualifiers(s[i:])
		case c == ' ': // a result stood before
			b.Reset()
			i++
		case c == '*' || c == '&':
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// lastScopes returns a name with the scope that it stands in, and without the scopes around that one: compilers leave
// them out of some functions that they inline. A lambda stands in its function, and is not told from its operator.
func lastScopes(name string) string {
	from := 0
	if strings.HasPrefix(name, "<") { // <Type as Trait>::function of Rust
		from = closing(name)
	}
	parts := strings.Split(name[from:], "::")
	parts[0] = name[:from] + parts[0]
	kept := parts[:0]
	for _, p := range parts {
		last := len(kept) - 1
		switch {
		case p == "{anonymous namespace}":
		case p == "operator()" && last >= 0 && (kept[last] == "{lambda}" || strings.HasPrefix(kept[last], "{anonymous ")):
			kept[last] = "{lambda}"
		case p == "{lambda}" && last >= 0 && kept[last] == p:
		default:
			kept = append(kept, p)
		}
	}
	return strings.Join(kept[max(0, len(kept)-2):], "::")
}

// rustType returns the names in "Type as Trait", without arguments, and in brackets; those in "Type" as they stand.
func rustType(s string, depth int) string {
	what, as, found := strings.Cut(s, " as ")
	what = unqualified(what, depth)
	if !found {
		return what
	}
	return "<" + what + " as " + unqualified(as, depth) + ">"
}

// startsOperator reports whether the word "operator" of C++ begins at i.
func startsOperator(s string, i int) bool {
	const word = "operator"
	return strings.HasPrefix(s[i:], word) && (i == 0 || !isNameByte(s[i-1])) && (i+len(word) == len(s) || !isNameByte(s[i+len(word)]))
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// operatorEnd returns how long "operator" with its sign or type is: up to the parameters, or to the arguments of a
// template behind the sign.
func operatorEnd(s string) int {
	n := len("operator")
	if strings.HasPrefix(s[n:], "()") {
		return n + 2
	}
	for _, sign := range []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"} {
		if strings.HasPrefix(s[n:], sign) {
			return n + len(sign)
		}
	}
	if end := strings.IndexAny(s[n:], "(<"); end >= 0 {
		return n + end
	}
	return len(s)
}

// unnamed returns what stands for a lambda, a closure or an unnamed type at the beginning of s, and how long that is.
func unnamed(s string) (name string, size int) {
	switch {
	case strings.HasPrefix(s, "$_"):
		n := 2
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return "{lambda}", n
	case s[0] == '{':
		n := closing(s)
		inside := strings.Trim(s[:n], "{}")
		if end := strings.IndexAny(inside, "(#<"); end >= 0 {
			inside = inside[:end]
		}
		return "{" + inside + "}", n
	}
	n := 1 + strings.IndexByte(s[1:], '\'') + 1
	if n == 1 {
		return "'", 1
	}
	name = "{" + strings.TrimRight(s[1:n-1], "0123456789") + "}"
	if n < len(s) && s[n] == '(' { // parameters of a lambda
		n += closing(s[n:])
	}
	return name, n
}

// closing returns the length of the bracketed text that s begins with; of all of s if its bracket does not close.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<', '(', '[', '{':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue
			}
			depth--
		case ')', ']', '}':
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}

// qualifiers returns how long the qualifiers behind parameters are.
func qualifiers(s string) int {
	n := 0
	for _, q := range []string{" const", " volatile", " &&", " &", " noexcept"} {
		if strings.HasPrefix(s[n:], q) {
			n += len(q)
		}
	}
	return n
}

// goName returns the name of a function of Go, without numbers of the functions in it and without types.
func goName(name string) string {
	if at := strings.IndexByte(name, '['); at > 0 {
		name = name[:at] + name[at+closing(name[at:]):]
	}
	name = strings.TrimSuffix(name, "-fm")
	parts := strings.Split(name, ".")
	kept, inner := parts[:1], false
	for _, p := range parts[1:] {
		bare := strings.TrimRight(p, "0123456789")
		if inner && bare == "" || bare != p && (bare == "func" || bare == "gowrap" || bare == "deferwrap") {
			inner = true
			continue
		}
		kept = append(kept, p)
	}
	name = strings.Join(kept, ".")
	if inner {
		name += ".{func}"
	}
	return name
}
