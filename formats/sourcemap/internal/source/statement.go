package source

// statement reads a statement.
func (p *parser) statement() {
	if !p.enter() {
		return
	}
	switch p.tok.kind {
	case '{':
		p.block()
	case ';':
		p.next()
	case '@':
		p.decorators()
		p.statement()
	case kindWord:
		if !p.wordStatement() {
			p.plain()
		}
	default:
		p.plain()
	}
	p.depth--
}

// block reads statements in brackets.
func (p *parser) block() {
	p.expect('{')
	for p.tok.kind != '}' && !p.lost {
		p.as = none
		p.statement()
	}
	p.expect('}')
}

// plain reads an expression as a statement, or a label.
func (p *parser) plain() {
	t := p.tok
	p.expression()
	if p.tok.kind == ':' {
		if t.kind == kindWord && p.end == t.to {
			p.next() // a label
			return
		}
		p.annotation()
	}
	p.ending()
}

// ending reads the end of a statement.
func (p *parser) ending() {
	if p.take(';') || p.tok.newLine || p.tok.kind == '}' || p.tok.kind == kindEnd {
		return
	}
	p.lose()
}

// wordStatement reads a statement that begins with a keyword. It reports false for all others.
func (p *parser) wordStatement() bool {
	switch string(p.text(p.tok)) {
	case "function":
		p.as = none
		p.function(p.tok.from)
	case "async":
		from := p.tok.from
		if t := p.peek(); t.newLine || t.kind != kindWord || string(p.text(t)) != "function" {
			return false
		}
		p.next()
		p.function(from)
	case "class":
		p.class(p.tok.from)
	case "var", "const":
		p.declaration()
	case "let", "using":
		if !p.declares() {
			return false
		}
		p.declaration()
	case "import":
		if k := p.peek().kind; k == '(' || k == '.' {
			return false
		}
		p.imports()
	case "export":
		p.exports()
	default:
		return p.controlStatement() || p.typeStatement()
	}
	return true
}

// controlStatement reads a statement that directs others. It reports false for all others.
func (p *parser) controlStatement() bool {
	switch string(p.text(p.tok)) {
	case "if", "while", "with":
		p.next()
		p.condition()
		p.dependent()
	case "else", "do", "try", "finally":
		p.next()
		p.dependent()
	case "catch":
		if p.next(); p.tok.kind == '(' {
			p.list(')')
		}
		p.dependent()
	case "for":
		p.loop()
	case "switch":
		p.next()
		p.condition()
		p.expect('{')
		for p.tok.kind != '}' && !p.lost {
			p.as = none
			p.statement()
		}
		p.expect('}')
	case "case":
		p.next()
		p.group++
		p.expression()
		p.group--
		p.expect(':')
	case "default":
		if p.peek().kind != ':' {
			return false
		}
		p.next()
		p.next()
	case "return", "throw":
		p.next()
		if !p.tok.newLine && p.tok.kind != ';' && p.tok.kind != '}' && p.tok.kind != kindEnd {
			p.expression()
		}
		p.ending()
	case "break", "continue", "debugger":
		p.next()
		if p.tok.kind == kindWord && !p.tok.newLine {
			p.next()
		}
		p.ending()
	default:
		return false
	}
	return true
}

// declares reports whether let or using begins a declaration: they may be names.
func (p *parser) declares() bool {
	t, using := p.peek(), p.is("using")
	switch t.kind {
	case kindWord:
		word := string(p.text(t))
		return !(t.newLine && using) && word != "in" && word != "of" && word != "instanceof"
	case '{', '[':
		return !using
	}
	return false
}

// condition reads an expression in parentheses.
func (p *parser) condition() {
	if p.tok.kind != '(' {
		p.lose()
		return
	}
	p.next()
	p.expression()
	p.expect(')')
}

// dependent reads the statement behind a condition or a keyword. It may be missing behind do … while.
func (p *parser) dependent() {
	if p.tok.kind == '}' || p.tok.kind == kindEnd {
		return
	}
	p.as = none
	p.statement()
}

// loop reads a for statement.
func (p *parser) loop() {
	p.next()
	if p.is("await") {
		p.next()
	}
	p.expect('(')
	for p.tok.kind != ')' && !p.lost {
		switch {
		case p.tok.kind == ';' || p.is("of"):
			p.next()
		case p.is("var") || p.is("const") || (p.is("let") || p.is("using")) && p.peek().kind != ';' && p.peek().kind != '=' && !p.ofFollows():
			p.next()
			p.declarators()
		case p.is("await"): // await using
			p.next()
		default:
			p.as = none
			p.expression()
			if p.tok.kind != ';' && p.tok.kind != ')' && !p.is("of") {
				p.lose()
			}
		}
	}
	p.expect(')')
	p.dependent()
}

// ofFollows: let and using are names in `for (using of x)`.
func (p *parser) ofFollows() bool {
	t := p.peek()
	return p.is("using") && t.kind == kindWord && string(p.text(t)) == "of"
}

// declaration reads var, let, const or using.
func (p *parser) declaration() {
	p.next()
	if p.is("enum") {
		p.enum()
		return
	}
	p.declarators()
	p.ending()
}

// declarators reads names and patterns with their types and values.
func (p *parser) declarators() {
	for {
		t, length := p.tok, len(p.parts)
		p.as = none
		switch t.kind {
		case kindWord:
			p.next()
		case '{':
			p.object()
		case '[':
			p.list(']')
		default:
			p.lose()
		}
		if p.tok.kind == '!' {
			p.next()
		}
		p.annotation()
		if p.take('=') {
			as := none
			if t.kind == kindWord {
				as = p.part(partWord, none, t.from, t.to)
			}
			p.assignment(as)
		} else if p.is("in") {
			p.next()
			p.expression()
		}
		p.parts = p.parts[:length]
		if !p.take(',') {
			return
		}
	}
}

// imports reads an import declaration.
func (p *parser) imports() {
	p.next()
	for !p.lost {
		switch p.tok.kind {
		case '{':
			p.skipBrackets()
		case kindWord:
			p.next()
		case '*', ',':
			p.next()
		case '=':
			p.next()
			p.expression()
			p.ending()
			return
		case kindString:
			p.next()
			p.attributes()
			p.ending()
			return
		default:
			p.ending()
			return
		}
	}
}

// attributes reads with {type: "json"}.
func (p *parser) attributes() {
	if (p.is("with") || p.is("assert")) && p.peek().kind == '{' {
		p.next()
		p.skipBrackets()
	}
}

// from reads from "module" and the end of the statement.
func (p *parser) from() {
	if p.is("from") {
		p.next()
		p.expect(kindString)
		p.attributes()
	}
	p.ending()
}

// exports reads an export declaration.
func (p *parser) exports() {
	p.next()
	switch {
	case p.tok.kind == '{':
		p.skipBrackets()
		p.from()
	case p.tok.kind == '*':
		if p.next(); p.is("as") {
			p.next()
			p.next()
		}
		p.from()
	case p.tok.kind == '=':
		p.next()
		p.expression()
		p.ending()
	case p.is("as") && p.peek().kind == kindWord: // export as namespace X
		p.next()
		p.next()
		p.next()
		p.ending()
	case p.is("default"):
		p.exportDefault()
	case p.is("type") && (p.peek().kind == '{' || p.peek().kind == '*'):
		p.next()
		if p.tok.kind == '{' {
			p.skipBrackets()
		} else if p.next(); p.is("as") {
			p.next()
			p.next()
		}
		p.from()
	default:
		p.statement()
	}
}

// exportDefault reads the rest of export default.
func (p *parser) exportDefault() {
	p.as = p.part(partDefault, none, 0, 0)
	p.next()
	if p.tok.kind == '@' {
		p.decorators()
	}
	switch {
	case p.is("function"), p.is("class"):
		if p.is("function") {
			p.function(p.tok.from)
		} else {
			p.class(p.tok.from)
		}
		p.take(';')
	case p.is("abstract") && p.peek().kind == kindWord:
		p.next()
		p.class(p.tok.from)
	case p.is("async"):
		as := p.as
		if p.wordStatement() {
			return
		}
		p.assignment(as)
		p.ending()
	case p.is("interface") && p.peek().kind == kindWord, p.is("enum"), p.is("component"), p.is("hook"):
		if !p.typeStatement() {
			p.plain()
		}
	case p.tok.kind == '(' || p.tok.kind == '<' || p.tok.kind == kindWord && p.peek().kind == kindArrow:
		p.assignment(p.as)
		p.annotation()
		p.ending()
	default:
		p.as = none
		p.plain()
	}
}
