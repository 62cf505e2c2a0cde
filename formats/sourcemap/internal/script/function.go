package script

// begin adds a function that begins at from, without its end.
func (p *parser) begin(from int, name []namePart) int {
	p.functions.add(from, from, name)
	return len(p.functions.Placed) - 1
}

func (p *parser) endOf(number int) {
	if number >= 0 && !p.functions.full {
		p.functions.Placed[number].End = int32(p.prevEnd)
	}
}

// function reads a function from its keyword on; from is where it, or the word async before it, begins.
func (p *parser) function(from int, direct bool) {
	async := from != p.at
	p.next()
	generator := p.kind == '*'
	if generator {
		p.next()
	}
	var own []namePart
	if p.kind == wordToken {
		own = append(p.own[:0], p.identifier(from))
		p.next()
	}
	p.rest(p.of(own, nil, direct), async, generator)
}

// rest reads a function from its parameters on.
func (p *parser) rest(name []namePart, async, generator bool) {
	number := p.begin(p.at, name)
	p.push(level{kind: inFunction})
	wasAsync, wasYield := p.async, p.yield
	p.async, p.yield = async, generator
	p.want('(')
	p.list(')')
	p.block()
	p.async, p.yield = wasAsync, wasYield
	p.pop()
	p.endOf(number)
}

// arrow reads an arrow function from its arrow on; from is where its parameters begin.
func (p *parser) arrow(from int, direct, async bool) {
	number := p.begin(from, p.of(nil, nil, direct))
	p.push(level{kind: inFunction})
	wasAsync, wasYield := p.async, p.yield
	p.async, p.yield = async, false
	if p.next(); p.kind == '{' {
		p.block()
	} else {
		p.assignment()
	}
	p.async, p.yield = wasAsync, wasYield
	p.pop()
	p.endOf(number)
}

// object reads an object, or a pattern of one.
func (p *parser) object(direct bool) {
	if !p.enter() {
		return
	}
	p.push(level{kind: inObject, direct: direct})
	p.next()
	for p.kind != '}' && p.kind != endToken {
		switch p.kind {
		case ',':
			p.next()
			continue
		case spreadToken:
			p.next()
			p.assignment()
			continue
		}
		from := p.at
		if p.property(); p.at == from {
			p.fail()
		}
	}
	p.pop()
	p.want('}')
	p.depth--
}

// property reads a property of an object.
func (p *parser) property() {
	m := p.modifiers()
	number := p.kind == numberToken || p.kind == stringToken && isPath(p.text())
	key := p.key(m.lead)
	if p.kind == ':' && number && !p.metro {
		key = nil // the number of a module, or its path
	}
	l := level{kind: inKey, by: '.'}
	if p.kind == '=' {
		l.kind = inTarget // in a pattern
	}
	p.push(l, key...)
	switch p.kind {
	case '(':
		p.rest(p.of(nil, m.kind(p.metro), true), m.async, m.generator)
	case ':', '=':
		p.next()
		p.fresh = p.at
		p.assignment()
	}
	p.pop()
}

// isPath reports whether a string is a number or a path: bundlers name modules so.
func isPath(quoted []byte) bool {
	digits := true
	for _, c := range quoted[1:max(1, len(quoted)-1)] {
		if c == '/' {
			return true
		}
		digits = digits && c >= '0' && c <= '9'
	}
	return digits
}

// modifiers are the words before a key.
type modifiers struct {
	lead             int // where they begin, or the space before the key
	async, generator bool
	get, set         bool
}

// kind is the part of a name that tells what a member is; nil: a method.
func (m *modifiers) kind(metro bool) *namePart {
	switch {
	case m.get && metro:
		return &metroGetPart
	case m.set && metro:
		return &metroSetPart
	case m.get:
		return &getPart
	case m.set:
		return &setPart
	}
	return nil
}

// modifiers reads words before a key. A key of these words is none.
func (p *parser) modifiers() (m modifiers) {
	m.lead = p.prevEnd
	for p.kind == wordToken {
		word := &m.get
		switch string(p.text()) {
		case "get":
		case "set":
			word = &m.set
		case "async":
			word = &m.async
		case "accessor":
			word = new(bool)
		default:
			return m
		}
		at := p.mark()
		p.next()
		switch p.kind {
		case '(', ',', ':', '=', ';', '}', endToken:
			p.back(at)
			return m
		}
		*word = true
	}
	if p.kind == '*' {
		m.generator = true
		p.next()
	}
	return m
}

// key reads a key, and gives its name, valid until the next one is read.
func (p *parser) key(lead int) []namePart {
	text := p.text()
	p.keys = p.keys[:0]
	switch p.kind {
	case wordToken, privateToken:
		p.keys = append(p.keys, p.identifier(lead))
	case stringToken:
		if len(text) > 2 {
			p.keys = append(p.keys, namePart{text: text[1 : len(text)-1], at: -1})
		}
	case numberToken:
		p.keys = append(p.keys, namePart{text: text, at: -1})
	case '[':
		p.push(level{kind: inOther})
		p.next()
		word := p.kind == wordToken
		key := p.computed()
		p.pop()
		return p.keyOf(key, word)
	default:
		return nil
	}
	p.next()
	return p.keys
}

// class reads a class.
func (p *parser) class(direct bool) {
	if !p.enter() {
		return
	}
	from := p.at
	p.next()
	var own []namePart
	if p.kind == wordToken && !p.is("extends") {
		own = append(p.own[:0], p.identifier(from))
		p.next()
	}
	p.push(level{kind: inClass, direct: direct, ends: len(own) > 0}, own...)
	number, seen := p.part(from, p.of(nil, &newPart, false)), len(p.privates.seen)
	if p.is("extends") {
		p.next()
		p.operand(false)
	}
	p.want('{')
	for p.kind != '}' && p.kind != endToken {
		at := p.at
		if p.kind == ';' {
			p.next()
		} else if p.element(); p.at == at {
			p.fail()
		}
	}
	p.privates.close(seen)
	p.pop()
	p.want('}')
	p.endOf(number)
	p.depth--
}

// part begins a part of a class that V8 names as a function: the class itself, or what initializes it. Metro does not.
func (p *parser) part(from int, name []namePart) int {
	if p.metro {
		return -1
	}
	return p.begin(from, name)
}

// initializer begins the part of a class that is called so.
func (p *parser) initializer(name namePart) int {
	p.push(level{kind: inKey}, name)
	defer p.pop()
	return p.part(p.at, p.of(nil, nil, false))
}

// element reads a member of a class.
func (p *parser) element() {
	if p.kind == '@' {
		p.decorators()
		return
	}
	lead, by := p.prevEnd, byte('#')
	if at := p.mark(); p.is("static") {
		switch p.next(); p.kind {
		case '(', '=', ';', '}':
			p.back(at)
		case '{':
			number := p.initializer(staticPart)
			p.push(level{kind: inFunction})
			p.block()
			p.pop()
			p.endOf(number)
			return
		default:
			by = '.'
		}
	}
	m := p.modifiers()
	if by == '.' {
		m.lead = lead
	}
	if by == '#' && p.is("constructor") && !p.metro {
		at := p.mark()
		if p.next(); p.kind == '(' {
			p.rest(p.of(nil, &newPart, false), false, false)
			return
		}
		p.back(at)
	}
	if p.kind == privateToken {
		p.privates.note(p.identifier(m.lead), true)
	}
	key := p.key(m.lead)
	switch p.kind {
	case '(':
		p.push(level{kind: inKey, by: by}, key...)
		p.rest(p.of(nil, m.kind(p.metro), true), m.async, m.generator)
		p.pop()
	case '=':
		part := fieldsPart
		if by == '.' {
			part = staticPart
		}
		number := p.initializer(part)
		p.push(level{kind: inKey, by: by}, key...)
		p.next()
		p.fresh = p.at
		p.assignment()
		p.pop()
		p.endOf(number)
	}
}
