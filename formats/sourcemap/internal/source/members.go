package source

// object reads an object, or a pattern of one.
func (p *parser) object() {
	if !p.enter() {
		return
	}
	owner, group := p.as, p.group
	p.group = 0
	p.next()
	for p.tok.kind != '}' && !p.lost {
		length := len(p.parts)
		p.property(owner)
		p.as, p.parts = owner, p.parts[:length]
		if p.tok.kind != '}' {
			p.expect(',')
		}
	}
	p.group = group
	p.expect('}')
	p.depth--
}

// property reads a property of the object that owner names.
func (p *parser) property(owner int32) {
	switch p.tok.kind {
	case ',':
		return
	case kindSpread:
		p.next()
		p.assignment(p.as)
		return
	}
	head := p.tok.from
	prefix, _ := p.memberWords(false)
	if p.take('*') && p.lost {
		return
	}
	from, to := p.key()
	if p.lost {
		return
	}
	name := p.part(partKey, owner, from, to)
	switch p.tok.kind {
	case '(', '<':
		p.method(prefix, name, head, from)
	case ':':
		p.next()
		p.assignment(name)
	case '=':
		p.next()
		p.assignment(p.part(partWord, none, from, to))
	}
}

// memberWords reads the words before the name of a property or a member, and gives what they add to the name.
func (p *parser) memberWords(class bool) (prefix string, static bool) {
	for p.tok.kind == kindWord {
		word := p.text(p.tok)
		switch string(word) {
		case "get", "set", "async":
		case "static", "public", "private", "protected", "readonly", "abstract", "override", "declare", "accessor":
			if !class {
				return prefix, static
			}
		default:
			return prefix, static
		}
		switch t := p.peek(); t.kind {
		case kindWord, kindString, kindNumber, '[':
		case '*':
			if t.newLine {
				return prefix, static
			}
		case '{':
			if string(word) != "static" {
				return prefix, static
			}
		case '+', '-':
			if !class {
				return prefix, static
			}
		default:
			return prefix, static
		}
		switch string(word) {
		case "get":
			prefix = "get "
		case "set":
			prefix = "set "
		case "static":
			static = true
		}
		p.next()
		if p.tok.newLine && (string(word) == "async" || string(word) == "declare") {
			return prefix, static
		}
	}
	return prefix, static
}

// key reads the name of a property or a member.
func (p *parser) key() (from, to int32) {
	from = p.tok.from
	switch p.tok.kind {
	case kindWord, kindString, kindNumber:
		p.next()
	case '[':
		p.next()
		p.assignment(p.as)
		if p.annotation(); p.tok.kind == kindWord && p.is("in") {
			p.next()
			p.typ()
		}
		p.expect(']')
	default:
		p.lose()
	}
	return from, p.end
}

// method reads a method from its parameters on.
func (p *parser) method(prefix string, name, head, key int32) {
	if !p.enter() {
		return
	}
	if f := p.callable(prefix, name, token{}); f >= 0 {
		p.head(head, f)
		p.head(key, f)
	}
	p.depth--
}

// decorators reads decorators.
func (p *parser) decorators() {
	for p.tok.kind == '@' && !p.lost {
		if p.next(); p.tok.kind == '(' {
			p.list(')')
		} else {
			p.expect(kindWord)
		}
		for p.tok.kind == '.' {
			p.next()
			p.expect(kindWord)
		}
		if p.tok.kind == '<' {
			p.callTypes()
		}
		if p.tok.kind == '(' {
			p.list(')')
		}
	}
}

// class reads a class from its keyword on.
func (p *parser) class(head int32) {
	if !p.enter() {
		return
	}
	keyword := p.tok.from
	p.next()
	owner, own := p.as, token{}
	a := around{p.as, p.group, len(p.parts)}
	if p.tok.kind == kindWord && !p.is("extends") && !(p.is("implements") && p.peek().kind != '{' && p.peek().kind != kindWord) {
		own = p.tok
		owner = p.part(partWord, none, own.from, own.to)
		if p.as != none && p.parts[p.as].kind == partKey && p.parts[p.as].up != none {
			owner = p.part(partKey, p.parts[p.as].up, own.from, own.to)
		}
		p.next()
	}
	if p.tok.kind == '<' {
		p.typeParameters()
	}
	if p.is("extends") {
		p.next()
		if p.operand(); p.tok.kind == '<' {
			p.typeParameters()
		}
	}
	for p.is("implements") || p.is("mixins") {
		p.next()
		p.typ()
		for p.take(',') {
			p.typ()
		}
	}
	if p.tok.kind != '{' {
		p.lose()
	}
	if !p.lost {
		prefix := "new "
		if owner == none {
			prefix = ""
		}
		c := p.begin(p.tok.from, prefix, owner, token{})
		p.head(head, c)
		p.head(keyword, c)
		if own.kind == kindWord {
			p.head(own.from, c)
		}
		p.as, p.group = none, 0
		p.classBody(c, owner)
		p.finish(c)
	}
	p.outside(a)
	p.depth--
}

// classBody reads the members of a class. Its constructor is function c.
func (p *parser) classBody(c, owner int32) {
	open, depth := p.tok.from, p.depth
	p.next()
	for p.tok.kind != '}' && !p.dead {
		at, s := p.tok.from, p.save()
		if !p.lost {
			p.member(c, owner)
			p.parts = p.parts[:s.parts]
		}
		if p.lost || p.tok.from == at && p.tok.kind != '}' {
			p.depth, p.group = depth, 0
			p.out.functions, p.out.heads = p.out.functions[:s.count], p.out.heads[:s.heads]
			p.recover(open, at)
			return
		}
	}
	p.expect('}')
}

// member reads a member of a class.
func (p *parser) member(c, owner int32) {
	p.as = none
	if p.take(';') {
		return
	}
	if p.tok.kind == '@' {
		p.decorators()
	}
	head := p.tok.from
	prefix, static := p.memberWords(true)
	switch {
	case p.tok.kind == '{':
		f := p.initializer(owner, true)
		p.block()
		p.finish(f)
		return
	case p.tok.kind == '*', p.tok.kind == '+', p.tok.kind == '-':
		p.next()
	}
	from, to := p.key()
	if p.lost {
		return
	}
	for p.tok.kind == '?' || p.tok.kind == '!' {
		p.next()
	}
	name := p.part(partMember, owner, from, to)
	switch p.tok.kind {
	case '(', '<':
		if prefix == "" && !static && string(p.src[from:to]) == "constructor" {
			p.constructor(c, head, from)
			break
		}
		p.method(prefix, name, head, from)
	default:
		p.annotation()
		if p.tok.kind == '=' {
			f := p.initializer(owner, static)
			p.next()
			p.assignment(name)
			p.finish(f)
		}
	}
	if !p.take(';') && p.tok.kind != '}' && !p.tok.newLine && p.end > 0 && p.src[p.end-1] != '}' && !p.take(',') {
		p.lose()
	}
}

// initializer begins the function that V8 makes of fields' values, or of static blocks and values.
func (p *parser) initializer(owner int32, static bool) int32 {
	kind := uint8(partInstance)
	if static {
		kind = partStatic
	}
	f := p.begin(p.tok.from, "", p.part(kind, owner, 0, 0), token{})
	p.out.heads = p.out.heads[:len(p.out.heads)-1] // no function's head maps here
	return f
}

// constructor reads the constructor of a class: it and the rest of the class's body are one function.
func (p *parser) constructor(c, head, key int32) {
	at, count := p.tok.from, len(p.out.functions)
	f := p.callable("", none, token{})
	if f < 0 || int(f) != count || p.lost {
		return
	}
	// It has the name of the class's body.
	n := &p.out.functions[f]
	n.from, n.to = p.out.functions[c].from, p.out.functions[c].to
	p.head(head, c)
	p.head(key, c)
	p.head(at, c)
}
