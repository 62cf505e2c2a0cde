package cxx

import "strings"

var builtins = [128]string{
	'a': "signed char", 'b': "bool", 'c': "char", 'd': "double", 'e': "long double", 'f': "float", 'g': "__float128", 'h': "unsigned char",
	'i': "int", 'j': "unsigned int", 'l': "long", 'm': "unsigned long", 'n': "__int128", 'o': "unsigned __int128", 's': "short",
	't': "unsigned short", 'v': "void", 'w': "wchar_t", 'x': "long long", 'y': "unsigned long long", 'z': "...",
}

var standard = [128]string{
	'a': "std::allocator", 'b': "std::basic_string", 's': "std::string", 'i': "std::istream", 'o': "std::ostream", 'd': "std::iostream",
}

// substitution reads a reference to an earlier part, or an abbreviation.
func (r *reader) substitution() ref {
	r.pos++
	if c := r.peek(); lower(c) {
		r.pos++
		if standard[c&0x7f] == "" || r.peek() == 'B' || r.peek() == 'C' || r.peek() == 'D' {
			return r.give()
		}
		return r.name(standard[c])
	}
	n := 0
	if !r.accept('_') {
		for ; !r.accept('_'); r.pos++ {
			switch c := r.peek(); {
			case digit(c):
				n = 36*n + int(c-'0')
			case 'A' <= c && c <= 'Z':
				n = 36*n + int(c-'A') + 10
			default:
				return r.give()
			}
			if n > len(r.in) {
				return r.give()
			}
		}
		n++
	}
	if n >= len(r.subst) || r.ofLocal.from <= n && n < r.ofLocal.to {
		return r.give() // compilers write the parameters of other templates so, too: T_ is the same for all
	}
	x := r.subst[n]
	if p := &r.nodes[x]; p.kind == kLater && p.n == r.whose && int(p.at) < len(r.params)-r.first {
		return r.params[r.first+int(p.at)]
	}
	return x
}

// typ reads a type.
func (r *reader) typ() ref {
	if !r.enter() {
		return 0
	}
	x := r.anyType()
	r.depth--
	return x
}

func (r *reader) anyType() ref {
	switch r.peek() {
	case 'r', 'V', 'K':
		return r.qualified()
	case 'P':
		return r.indirect(kPointer)
	case 'R':
		return r.indirect(kLvalue)
	case 'O':
		return r.indirect(kRvalue)
	case 'F':
		return r.remember(r.function(""))
	case 'A':
		r.pos++
		n := node{kind: kArray, text: r.digits()}
		if n.text == "" && r.peek() != '_' {
			n.b = r.expression()
		}
		if !r.accept('_') {
			return r.give()
		}
		if n.a = r.typ(); n.a == 0 {
			return 0
		}
		return r.remember(r.push(n))
	case 'M':
		r.pos++
		class := r.typ()
		if class == 0 {
			return 0
		}
		x := r.typ()
		if x == 0 {
			return 0
		}
		return r.remember(r.push(node{kind: kMember, a: class, b: x}))
	case 'T':
		return r.remember(r.typeParam())
	case 'u':
		r.pos++
		n := node{kind: kTransformed, text: r.text()}
		if !r.accept('I') {
			return r.remember(r.name(n.text))
		}
		if n.a = r.typ(); n.a == 0 || !r.accept('E') {
			return r.give()
		}
		return r.remember(r.push(n))
	case 'U':
		return r.remember(r.extended())
	case 'D':
		name := ""
		switch r.second() {
		case 'p':
		case 'o':
			return r.remember(r.function(""))
		case 't', 'T':
			return r.remember(r.decltype())
		case 'a':
			name = "auto"
		case 'c':
			name = "decltype(auto)"
		case 'n':
			name = "std::nullptr_t"
		case 'i':
			name = "char32_t"
		case 's':
			name = "char16_t"
		case 'u':
			name = "char8_t"
		default:
			return r.give()
		}
		if r.pos += 2; name != "" {
			return r.push(node{kind: kBuiltin, text: name})
		}
		x := r.typ()
		if x == 0 {
			return 0
		}
		return r.remember(r.push(node{kind: kExpansion, a: x}))
	case 'S':
		if r.second() == 't' {
			break
		}
		s := r.substitution()
		switch {
		case s == 0 || r.peek() != 'I':
			return s
		case r.cast:
			return r.give() // the text behind them tells their owner
		}
		return r.remember(r.template(s, false))
	case 'N', 'Z', '1', '2', '3', '4', '5', '6', '7', '8', '9':
	default:
		if c := r.peek(); int(c) < len(builtins) && builtins[c] != "" {
			r.pos++
			return r.push(node{kind: kBuiltin, text: builtins[c]})
		}
		return r.give()
	}
	about := named{}
	x := r.fullName(&about, false)
	if about.behind != "" {
		return r.give()
	}
	return r.remember(x)
}

// qualified reads a type behind its qualifiers, which are one.
func (r *reader) qualified() ref {
	at, text := r.pos, ""
	if r.accept('r') {
		text = " restrict"
	}
	volatile := r.accept('V')
	if r.accept('K') {
		text = " const" + text
	}
	switch {
	case text == " const restrict", volatile && text == " restrict":
		return r.give()
	case volatile && text != "":
		text = " const volatile"
	case volatile:
		text = " volatile"
	}
	if c := r.peek(); c == 'F' || c == 'D' && (r.second() == 'o' || r.second() == 'O' || r.second() == 'w' || r.second() == 'x') {
		if text == " restrict" {
			return r.give()
		}
		return r.remember(r.function(text))
	}
	if r.pos == at {
		return r.give()
	}
	x := r.typ()
	if x == 0 {
		return 0
	}
	return r.remember(r.push(node{kind: kConst, a: x, text: text}))
}

// extended reads a type behind a vendor's qualifier.
func (r *reader) extended() ref {
	r.pos++
	text := r.text()
	switch r.peek() {
	case 'I', 'U', 'r', 'V', 'K':
		return r.give()
	}
	if strings.HasPrefix(text, "objcproto") {
		return r.give()
	}
	x := r.typ()
	if x == 0 {
		return 0
	}
	return r.push(node{kind: kExtended, a: x, text: text})
}

func (r *reader) indirect(k kind) ref {
	r.pos++
	x := r.typ()
	if x == 0 {
		return 0
	}
	return r.remember(r.push(node{kind: k, a: x}))
}

// function reads the type of a function; qualifiers are of what it is a member of.
func (r *reader) function(qualifiers string) ref {
	noexcept := ""
	if r.accept('D') {
		if !r.accept('o') {
			return r.give()
		}
		noexcept = " noexcept"
	}
	if !r.accept('F') {
		return r.give()
	}
	r.accept('Y')
	result := r.typ()
	if result == 0 {
		return 0
	}
	from := len(r.open)
	ok := r.parameters()
	n := node{kind: kFunction, a: result, text: qualifiers}
	if r.accept('R') {
		n.text += " &"
	} else if r.accept('O') {
		n.text += " &&"
	}
	if n.text += noexcept; !ok || !r.accept('E') {
		return r.give()
	}
	return r.withList(n, from)
}

// typeParam reads a template parameter that stands for a type.
func (r *reader) typeParam() ref {
	x := r.param()
	if r.peek() == 'I' {
		return r.give()
	}
	return x
}

// param reads a template parameter: it is what it stands for.
func (r *reader) param() ref {
	at, n := r.pos, 0
	if r.pos++; r.naming && r.accept('L') && (r.digits() == "" || !r.accept('_')) {
		return r.give()
	}
	if s := r.digits(); s != "" {
		if len(s) > 3 {
			return r.give()
		}
		for i := range len(s) {
			n = 10*n + int(s[i]-'0')
		}
		n++
	}
	switch known := r.params[r.first:]; {
	case r.naming && r.accept('_'):
		return r.name(r.in[at : r.pos-1])
	case !r.accept('_') || r.cast: // a conversion's may stand behind it
		return r.give()
	case r.declare < 0 || r.declare > 0 && n >= len(known):
		return r.push(node{kind: kLater, at: int32(n), n: r.declare})
	case n < len(known):
		return known[n]
	case r.lambda:
		return r.name("auto")
	}
	return r.give()
}
