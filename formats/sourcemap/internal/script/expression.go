package script

// expression reads expressions with commas between.
func (p *parser) expression() {
	for p.assignment(); p.kind == ','; p.assignment() {
		p.next()
	}
}

// list reads expressions up to the bracket that closes them, and it: elements of an array, parameters, or what
// parentheses hold.
func (p *parser) list(closer kind) {
	for p.kind != closer && p.kind != endToken {
		if p.kind == ',' || p.kind == spreadToken {
			p.next()
			continue
		}
		from := p.at
		if p.assignment(); p.at == from {
			p.fail()
		}
	}
	p.want(closer)
}

// assignment reads an expression without commas, or none.
func (p *parser) assignment() {
	if !p.enter() {
		return
	}
	direct, targets := p.fresh == p.at, 0
	for {
		for p.prefix() {
			direct = false
		}
		if p.operand(direct) { // an arrow function ends it
			break
		}
		if direct = (p.kind == '=' || p.kind == logicToken) && len(p.chain) > 0; direct {
			p.push(level{kind: inTarget}, p.chain...)
			targets++
			p.next()
			p.fresh = p.at
		} else if !p.operator() {
			break
		}
	}
	for range targets {
		p.pop()
	}
	p.depth--
}

// operator passes over what stands between two operands. It reports whether another operand follows.
func (p *parser) operator() bool {
	switch p.kind {
	case '=', logicToken, assignToken, binaryToken, '+', '-', '*', '/':
	case '?':
		p.next()
		if p.assignment(); p.kind != ':' {
			return false
		}
	case wordToken:
		if !p.is("in") && !p.is("instanceof") {
			return false
		}
	default:
		return false
	}
	p.next()
	return true
}

// prefix passes over an operator before an operand. It reports whether there is one.
func (p *parser) prefix() bool {
	switch p.kind {
	case prefixToken, stepToken, '+', '-':
	case wordToken:
		switch string(p.text()) {
		case "typeof", "void", "delete":
		case "await":
			if !p.async {
				return false
			}
		case "yield":
			if !p.yield {
				return false
			}
			if p.next(); p.kind == '*' {
				p.next()
			}
			return true
		case "new":
			m := p.mark()
			if p.next(); p.kind == '.' { // new.target
				p.back(m)
				return false
			}
			return true
		default:
			return false
		}
	default:
		return false
	}
	p.next()
	return true
}

// operand reads a value with all that is taken from it, or nothing if none begins here. It leaves its name in chain,
// and reports whether it was an arrow function. direct tells that the path names the value.
func (p *parser) operand(direct bool) (arrow bool) {
	p.chain = p.chain[:0]
	from := p.at
	switch p.kind {
	case wordToken:
		if p.word(direct) {
			return true
		}
	case '(':
		fresh := p.fresh == from
		if p.next(); fresh {
			p.fresh = p.at
		}
		if p.list(')'); p.kind == arrowToken && !p.newLine {
			p.arrow(from, direct, false)
			return true
		}
		p.chain = p.chain[:0]
	case '[':
		p.next()
		p.list(']')
		p.chain = p.chain[:0]
	case '{':
		p.object(direct)
		p.chain = p.chain[:0]
	case '`':
		p.template()
	case stringToken, numberToken, privateToken:
		p.next()
	case '/', assignToken:
		if p.script[p.at] != '/' {
			return false
		}
		if !p.regexp() {
			p.fail()
			return false
		}
		p.next()
	case '@':
		for p.kind == '@' {
			p.decorators()
		}
		return p.operand(direct)
	default:
		return false
	}
	p.members(direct)
	return false
}

// word reads an operand that begins with a word, but for what is taken from it. It reports whether it was an arrow function.
func (p *parser) word(direct bool) (arrow bool) {
	m := p.mark()
	switch string(p.text()) {
	case "function":
		p.function(p.at, direct)
		p.chain = p.chain[:0]
		return false
	case "class":
		p.class(direct)
		p.chain = p.chain[:0]
		return false
	case "this", "super":
		p.chain = append(p.chain, namePart{text: p.text(), at: -1})
		p.next()
		return false
	case "null", "true", "false", "import":
		p.next()
		return false
	case "in", "instanceof", "of", "else", "case", "default":
		if p.script[p.at] != 'o' {
			return false // no operand: the one before is missing
		}
	case "async":
		if p.next(); p.newLine {
			p.back(m)
			break
		}
		switch {
		case p.is("function"):
			p.function(m.token.at, direct)
			p.chain = p.chain[:0]
			return false
		case p.kind == '(':
			from := p.at
			p.next()
			if p.list(')'); p.kind == arrowToken && !p.newLine {
				p.arrow(from, direct, true)
				return true
			}
			p.chain = p.chain[:0]
			return false
		case p.kind == wordToken:
			from := p.at
			if p.next(); p.kind == arrowToken {
				p.arrow(from, direct, true)
				return true
			}
		}
		p.back(m)
	}
	p.chain = append(p.chain[:0], p.identifier(p.prevEnd))
	if p.next(); p.kind == arrowToken && !p.newLine {
		p.arrow(m.token.at, direct, false)
		return true
	}
	return false
}

// members reads what is taken from a value: members, calls, templates.
func (p *parser) members(direct bool) {
	for {
		switch p.kind {
		case '.', optionToken:
			lead := p.at
			if p.next(); p.kind == privateToken {
				p.privates.note(p.identifier(lead), false)
			}
			if p.kind == wordToken || p.kind == privateToken {
				p.take(p.identifier(lead))
				p.next()
			}
		case '[':
			p.index()
		case '(':
			p.call(direct)
		case '`':
			p.template()
			p.chain = p.chain[:0]
		case stepToken:
			if p.newLine {
				return
			}
			p.next()
			p.chain = p.chain[:0]
		default:
			return
		}
	}
}

// take adds a member to the chain.
func (p *parser) take(name namePart) {
	if len(p.chain) >= mostParts {
		p.chain = p.chain[:0]
	}
	if len(p.chain) > 0 {
		p.chain = append(p.chain, dotPart)
	}
	p.chain = append(p.chain, name)
}

// index reads a member in brackets.
func (p *parser) index() {
	p.push(level{kind: inOther}, p.chain...)
	p.next()
	word := p.kind == wordToken
	key := p.computed()
	l := p.path[len(p.path)-1]
	p.chain = append(p.chain[:0], p.parts[l.from:l.to]...)
	p.pop()
	if key = p.keyOf(key, word); len(key) > 0 {
		p.take(key[0])
		p.chain = append(p.chain, key[1:]...)
	}
}

// keyOf is the name that a computed key gives a member; word tells that the key begins with one.
func (p *parser) keyOf(key []namePart, word bool) []namePart {
	switch {
	case p.metro || len(key) > 0 && !word:
		return key
	case len(key) > 0 && string(key[0].text) == "Symbol":
		return append(append([]namePart{openPart}, key...), closePart)
	}
	return []namePart{computedPart}
}

// computed reads a key in brackets behind the first, and the last one. It gives the key, valid until the next one is
// read, if it is a string, a name or a.b.c.
func (p *parser) computed() (key []namePart) {
	from, first := p.at, p.kind
	text := p.text()
	p.expression()
	switch last := len(p.chain) - 1; {
	case p.prevEnd == from+len(text) && first == stringToken:
		key = append(p.keys[:0], namePart{text: text[1 : len(text)-1], at: -1})
	case p.prevEnd == from+len(text) && first == numberToken && p.metro:
		key = append(p.keys[:0], namePart{text: text, at: -1})
	case last >= 0 && last < mostKey && p.chain[0].at == int32(from) && int(p.chain[last].at)+len(p.chain[last].text) == p.prevEnd:
		key = append(p.keys[:0], p.chain...)
	}
	p.keys = key
	p.want(']')
	return key
}

// mostKey is how many parts a computed key may have that gives a name.
const mostKey = 16

// call reads arguments.
func (p *parser) call(direct bool) {
	p.push(level{kind: inArgument, direct: direct}, p.chain...)
	k := len(p.path) - 1
	p.next()
	for p.kind != ')' && p.kind != endToken {
		switch p.kind {
		case ',':
			p.path[k].argument++
			p.next()
			continue
		case spreadToken:
			p.next()
			continue
		}
		from := p.at
		p.fresh = from
		if p.assignment(); p.at == from {
			p.fail()
		}
	}
	p.pop()
	p.want(')')
	p.chain = p.chain[:0]
}

// template reads a template with its substitutions.
func (p *parser) template() {
	if !p.enter() {
		return
	}
	for {
		substitution, ok := p.chunk()
		if !ok {
			p.fail()
			return
		}
		p.next()
		if !substitution {
			break
		}
		if p.expression(); p.kind != '}' {
			p.fail()
			return
		}
	}
	p.chain = p.chain[:0]
	p.depth--
}
