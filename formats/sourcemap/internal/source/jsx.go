package source

import "bytes"

// angle reads what < begins where an operand stands: an element of JSX, a type assertion, or the type
// parameters of an arrow function. It reports whether that was all of an expression.
func (p *parser) angle() (done bool) {
	from := p.tok.from
	if p.types {
		p.typeParameters()
		if p.tok.kind == '(' {
			if p.parentheses(from) {
				return true
			}
			p.ends(chain{}, false)
			return true
		}
		p.prefixed()
		return true
	}
	if p.generic() {
		s := p.save()
		p.typeParameters()
		if p.tok.kind == '(' && p.parentheses(from) && !p.lost {
			return true
		}
		if !p.mayTry() && p.room <= 0 {
			p.lose()
			return true
		}
		p.back(s)
	}
	p.elements()
	return false
}

// generic reports whether type parameters may begin here: <T,> or <T extends U>, or <T>( of Flow.
func (p *parser) generic() bool {
	src, i := p.src, int(p.tok.to)
	space := func() {
		for i < len(src) && (classes[src[i]] == classSpace || classes[src[i]] == classLine) {
			i++
		}
	}
	space()
	from := i
	for i < len(src) && inWord[src[i]] {
		i++
	}
	word := src[from:i]
	if space(); len(word) == 0 || i == len(src) {
		return false
	}
	if string(word) == "const" && inWord[src[i]] {
		return true
	}
	switch src[i] {
	case ',':
		return true
	case ':':
		return word[0] >= 'A' && word[0] <= 'Z' && (i+1 < len(src) && src[i+1] == ' ')
	case '>':
		if i++; len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z' {
			space()
			return i < len(src) && src[i] == '('
		}
	case 'e':
		rest, ok := bytes.CutPrefix(src[i:], []byte("extends"))
		rest = bytes.TrimLeft(rest, " \t\r\n")
		return ok && len(rest) > 0 && rest[0] != '=' && rest[0] != '>' && rest[0] != '/'
	}
	return false
}

// elements reads an element of JSX with all in it.
func (p *parser) elements() {
	if !p.enter() {
		return
	}
	group := p.group
	p.group = 0
	depth, i := 0, int(p.tok.to) // i is behind <
	for !p.lost {
		var opened int
		if i, opened = p.tag(i); p.lost {
			break
		}
		if depth += opened; depth <= 0 {
			break
		}
		if i = p.children(i); p.lost {
			break
		}
	}
	p.group = group
	p.depth--
	if !p.lost {
		p.at, p.tok.to = i, int32(i)
		p.next()
	}
}

// children reads text up to the next tag, and gives the place behind its <.
func (p *parser) children(i int) int {
	for {
		n := bytes.IndexAny(p.src[i:], "<{")
		if n < 0 {
			p.lose()
			return i
		}
		i += n
		if p.src[i] == '<' {
			return i + 1
		}
		if i = p.container(i, p.as); p.lost {
			return i
		}
	}
}

// container reads {expression}, and gives the place behind it. Anonymous functions in it are called as.
func (p *parser) container(i int, as int32) int {
	p.at, p.tok = i, token{from: int32(i), to: int32(i)}
	p.next()
	p.next()
	if p.tok.kind != '}' {
		p.assignment(as)
		for p.take(',') {
			p.assignment(as)
		}
	}
	if p.tok.kind != '}' {
		p.lose()
	}
	return int(p.tok.to)
}

// spaces passes over spaces and comments in a tag.
func (p *parser) spaces(i int) int {
	for i < len(p.src) {
		switch classes[p.src[i]] {
		case classSpace, classLine:
			i++
			continue
		}
		if p.src[i] != '/' {
			break
		}
		behind, _ := p.comment(i, false)
		if behind == i {
			break
		}
		i = behind
	}
	return i
}

// tag reads a tag from behind its < on, and gives the place behind it. opened is 1 for a tag that opens an element, -1 for its end.
func (p *parser) tag(i int) (behind, opened int) {
	i = p.spaces(i)
	if i < len(p.src) && p.src[i] == '/' {
		n := bytes.IndexByte(p.src[i:], '>')
		if n < 0 || bytes.IndexByte(p.src[i:i+n], '<') >= 0 {
			p.lose()
			return i, 0
		}
		return i + n + 1, -1
	}
	i = p.tagName(i)
	if i < len(p.src) && p.src[i] == '<' {
		p.at, p.tok = i, token{from: int32(i), to: int32(i)}
		if p.next(); !p.typeArguments() {
			p.lose()
			return i, 0
		}
		i = int(p.tok.from)
	}
	for !p.lost {
		if i = p.spaces(i); i >= len(p.src) {
			break
		}
		switch c := p.src[i]; {
		case c == '>':
			return i + 1, 1
		case c == '/':
			if i = p.spaces(i + 1); i < len(p.src) && p.src[i] == '>' {
				return i + 1, 0
			}
			p.lose()
		case c == '{':
			i = p.container(i, p.as)
		default:
			i = p.attribute(i)
		}
	}
	p.lose()
	return i, 0
}

// tagName passes over the name of a tag or of an attribute.
func (p *parser) tagName(i int) int {
	for i < len(p.src) && (inWord[p.src[i]] || p.src[i] >= 0x80 || p.src[i] == '-' || p.src[i] == ':' || p.src[i] == '.') {
		i++
	}
	return i
}

// attribute reads an attribute, and gives the place behind it.
func (p *parser) attribute(from int) int {
	i := p.tagName(from)
	if i == from {
		p.lose()
		return i
	}
	equals := p.spaces(i)
	if equals >= len(p.src) || p.src[equals] != '=' {
		return i
	}
	name := p.part(partKey, p.as, int32(from), int32(i))
	i = p.spaces(equals + 1)
	if i >= len(p.src) {
		p.lose()
		return i
	}
	switch c := p.src[i]; c {
	case '"', '\'':
		n := bytes.IndexByte(p.src[i+1:], c)
		if n < 0 {
			p.lose()
			return i
		}
		i += n + 2
	case '{':
		i = p.container(i, name)
	case '<':
		p.at, p.tok = i, token{from: int32(i), to: int32(i)}
		as := p.as
		p.as = name
		p.next()
		p.elements()
		p.as = as
		i = int(p.end)
	default:
		p.lose()
	}
	p.parts = p.parts[:name]
	return i
}
