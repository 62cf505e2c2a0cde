package cxx

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
	if n >= len(r.subst) {
		return r.give()
	}
	x := r.subst[n]
	if scope := r.nodes[x].scope; scope != 0 && scope != r.scope {
		return r.give() // demanglers do not agree on what its parameters mean here
	}
	return x
}

// template reads the arguments of a template.
func (r *reader) template(x ref, tag bool) ref {
	if x == 0 || r.nodes[x].kind == kTemplate {
		return r.give()
	}
	if tag {
		r.params = nil
	}
	var few [12]ref
	args, ok := r.arguments(few[:0])
	if !ok {
		return 0
	}
	t := r.withList(node{kind: kTemplate, a: x}, args)
	if tag && t != 0 {
		n := &r.nodes[t]
		r.params = r.lists[n.at : n.at+n.n : n.at+n.n]
	}
	return t
}

// arguments reads template arguments, or those of a pack.
func (r *reader) arguments(to []ref) ([]ref, bool) {
	if !r.enter() {
		return nil, false
	}
	defer func() { r.depth-- }()
	for r.pos++; !r.accept('E'); {
		var x ref
		switch r.peek() {
		case 'J':
			var few [12]ref
			pack, ok := r.arguments(few[:0])
			if !ok {
				return nil, false
			}
			x = r.withList(node{kind: kArguments}, pack)
		case 'L':
			x = r.literal()
		case 'X':
			r.unknown = true
		default:
			x = r.typ()
		}
		if x == 0 || r.unknown {
			r.unknown = true
			return nil, false
		}
		to = append(to, x)
	}
	return to, true
}

// literal reads a number, a truth value or a value of an enumeration.
func (r *reader) literal() ref {
	r.pos++
	suffix, plain := "", false
	c := r.peek()
	switch c {
	case 'b':
		if s := r.in[r.pos:]; len(s) > 2 && s[2] == 'E' && (s[1] == '0' || s[1] == '1') {
			r.pos += 3
			if s[1] == '1' {
				return r.name("true")
			}
			return r.name("false")
		}
		return r.give()
	case 'i':
		plain = true
	case 'j':
		suffix, plain = "u", true
	case 'l':
		suffix, plain = "l", true
	case 'm':
		suffix, plain = "ul", true
	case 'x':
		suffix, plain = "ll", true
	case 'y':
		suffix, plain = "ull", true
	case 'd', 'e', 'f', 'g', 'D', '_', 'A', 'v', 'z', 'P', 'T':
		return r.give()
	}
	n := node{kind: kLiteral}
	if plain {
		r.pos++
	} else if n.a = r.typ(); n.a == 0 {
		return 0
	}
	negative := r.accept('n')
	value := r.digits()
	if value == "" || !r.accept('E') {
		return r.give()
	}
	if negative {
		value = "-" + value
	}
	n.text = value + suffix
	return r.push(n)
}

// typ reads a type.
func (r *reader) typ() ref {
	if !r.enter() {
		return 0
	}
	defer func() { r.depth-- }()
	switch c := r.peek(); c {
	case 'K', 'V':
		r.pos++
		x := r.typ()
		if !r.plain(x) {
			return r.give()
		}
		if c == 'K' {
			return r.remember(r.push(node{kind: kConst, a: x, text: " const"}))
		}
		return r.remember(r.push(node{kind: kConst, a: x, text: " volatile"}))
	case 'P':
		return r.indirect(kPointer)
	case 'R':
		return r.indirect(kLvalue)
	case 'O':
		return r.indirect(kRvalue)
	case 'F':
		return r.remember(r.function())
	case 'A':
		r.pos++
		size := r.digits()
		if !r.accept('_') {
			return r.give()
		}
		x := r.typ()
		if x == 0 {
			return 0
		}
		return r.remember(r.push(node{kind: kArray, a: x, text: size}))
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
		return r.param()
	case 'D':
		name := ""
		switch r.second() {
		case 'p':
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
		if s == 0 || r.peek() != 'I' {
			return s
		}
		return r.remember(r.template(s, false))
	case 'N', 'Z', '1', '2', '3', '4', '5', '6', '7', '8', '9':
	default:
		if int(c) < len(builtins) && builtins[c] != "" {
			r.pos++
			return r.push(node{kind: kBuiltin, text: builtins[c]})
		}
		return r.give()
	}
	about := named{}
	outer := r.params
	x := r.fullName(&about, false)
	r.params = outer
	if about.behind != "" {
		return r.give()
	}
	return r.remember(x)
}

// plain reports whether a qualifier before a type is just written behind it.
func (r *reader) plain(x ref) bool {
	if x == 0 {
		return false
	}
	n := &r.nodes[x]
	switch n.kind {
	case kConst, kLvalue, kRvalue, kFunction, kExpansion:
		return false
	case kPack:
		for _, kid := range r.lists[n.at : n.at+n.n] {
			if !r.plain(kid) {
				return false
			}
		}
	}
	return true
}

func (r *reader) indirect(k kind) ref {
	r.pos++
	x := r.typ()
	if x == 0 {
		return 0
	}
	return r.remember(r.push(node{kind: k, a: x}))
}

// function reads the type of a function.
func (r *reader) function() ref {
	r.pos++
	r.accept('Y')
	result := r.typ()
	if result == 0 {
		return 0
	}
	var few [8]ref
	params, ok := r.parameters(few[:0])
	n := node{kind: kFunction, a: result}
	if r.accept('R') {
		n.text = " &"
	} else if r.accept('O') {
		n.text = " &&"
	}
	if !ok || !r.accept('E') {
		return r.give()
	}
	return r.withList(n, params)
}

// param reads a template parameter: it is what it stands for.
func (r *reader) param() ref {
	r.pos++
	n := 0
	if s := r.digits(); s != "" {
		if len(s) > 3 {
			return r.give()
		}
		for i := range len(s) {
			n = 10*n + int(s[i]-'0')
		}
		n++
	}
	if !r.accept('_') || r.lambda > 0 || n >= len(r.params) || r.peek() == 'I' {
		return r.give()
	}
	of := r.nodes[r.params[n]]
	if of.kind == kArguments {
		of.kind = kPack
	} else if of.kind == kLiteral {
		return r.give()
	}
	of.scope = both(of.scope, r.scope)
	return r.remember(r.push(of))
}
