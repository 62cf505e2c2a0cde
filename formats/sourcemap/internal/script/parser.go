package script

// mostDepth is how deep statements and expressions may stand in each other.
const mostDepth = 4096

// parser finds functions by the grammar of scripts. It reads what is no script as far as brackets match.
type parser struct {
	lexer
	namer
	functions *List
	privates  privates
	failed    bool
	depth     int

	fresh int         // offset of the value that the end of the path names
	chain []namePart  // a.b.c, if the operand before the token is that
	keys  []namePart  // of the key before the token
	own   [1]namePart // of the function before the token
	async bool        // await is an operator
	yield bool        // yield is one
}

func (p *parser) run() {
	p.async, p.fresh = true, -1 // in a module, await is one outside of functions
	p.next()
	p.statements()
	if p.kind != endToken {
		p.failed = true
	}
}

// fail ends the parse: all loops stop at the script's end.
func (p *parser) fail() {
	p.failed = true
	p.end = len(p.script)
	p.at, p.kind = p.end, endToken
}

// enter notes one more level of depth. The caller leaves it, if it is not too deep.
func (p *parser) enter() bool {
	if p.depth++; p.depth > mostDepth {
		p.fail()
	}
	return !p.failed
}

// want passes over a token of that kind.
func (p *parser) want(k kind) {
	if p.kind != k {
		p.fail()
		return
	}
	p.next()
}

// mark is a place of the lexer to come back to.
type mark struct {
	token   token
	prevEnd int
}

func (p *parser) mark() mark  { return mark{p.token, p.prevEnd} }
func (p *parser) back(m mark) { p.token, p.prevEnd = m.token, m.prevEnd }

// statements reads statements up to a bracket that ends them.
func (p *parser) statements() {
	for p.kind != endToken && p.kind != '}' {
		from := p.at
		p.statement()
		if p.at == from && p.kind != endToken && p.kind != '}' {
			p.fail() // a bracket that nothing opened, most likely
		}
	}
}

// block reads statements in braces.
func (p *parser) block() {
	p.want('{')
	p.statements()
	p.want('}')
}

func (p *parser) statement() {
	if !p.enter() {
		return
	}
	defer func() { p.depth-- }()
	for {
		switch {
		case p.kind == '{':
			p.block()
			return
		case p.kind == ';':
			p.next()
			return
		case p.kind == '@':
			p.decorators()
			continue
		case p.kind != wordToken:
			p.expressionStatement()
			return
		}
		switch string(p.text()) {
		case "else", "do", "try", "finally": // a statement follows
			p.next()
		case "if", "while", "with", "switch":
			p.next()
			p.parentheses()
		case "for":
			p.forHead()
		case "catch":
			if p.next(); p.kind == '(' {
				p.parentheses()
			}
		default:
			p.simple()
			return
		}
		if p.failed || p.kind == '}' || p.kind == endToken {
			return
		}
	}
}

// simple reads a statement that begins with a word and has none behind it.
func (p *parser) simple() {
	switch string(p.text()) {
	case "var", "const":
		p.next()
		p.declarations()
		p.semicolon()
	case "let", "using":
		m := p.mark()
		p.next()
		if p.kind == wordToken && !p.is("in") && !p.is("instanceof") && (!p.newLine || p.script[m.token.at] == 'l') || p.kind == '[' && p.script[m.token.at] == 'l' || p.kind == '{' && p.script[m.token.at] == 'l' {
			p.declarations()
			p.semicolon()
			return
		}
		p.back(m)
		p.expressionStatement()
	case "function":
		p.function(p.at, false)
	case "class":
		p.class(false)
	case "return", "throw":
		p.next()
		if !p.newLine && p.kind != ';' && p.kind != '}' {
			p.expression()
		}
		p.semicolon()
	case "break", "continue":
		if p.next(); p.kind == wordToken && !p.newLine {
			p.next()
		}
		p.semicolon()
	case "case":
		p.next()
		p.expression()
		p.want(':')
	case "default":
		p.next()
		p.want(':')
	case "import":
		p.importing()
	case "export":
		p.exporting()
	default:
		p.expressionStatement()
	}
}

func (p *parser) semicolon() {
	if p.kind == ';' {
		p.next()
	}
}

// expressionStatement reads an expression; a label is one too.
func (p *parser) expressionStatement() {
	from := p.at
	if m := p.mark(); p.is("async") {
		if p.next(); p.is("function") && !p.newLine {
			p.function(m.token.at, false)
			return
		}
		p.back(m)
	}
	p.expression()
	if p.kind == ':' && p.at > from { // behind a label
		p.next()
		return
	}
	p.semicolon()
}

// parentheses reads an expression in parentheses, or a binding.
func (p *parser) parentheses() {
	p.want('(')
	p.list(')')
}

// forHead reads for and its parentheses.
func (p *parser) forHead() {
	if p.next(); p.is("await") {
		p.next()
	}
	p.want('(')
	for p.kind != ')' && p.kind != endToken {
		from := p.at
		switch {
		case p.kind == ';', p.is("of"):
			p.next()
		case p.is("var"), p.is("const"), p.is("let"), p.is("using"):
			p.next()
			if p.kind == wordToken || p.kind == '[' || p.kind == '{' {
				p.declarations()
			}
		default:
			p.expression()
		}
		if p.at == from {
			p.fail()
		}
	}
	p.want(')')
}

// declarations reads what is declared behind var and its like.
func (p *parser) declarations() {
	for {
		switch p.kind {
		case wordToken:
			p.variable()
		case '[', '{':
			p.operand(false)
			if p.kind == '=' {
				p.next()
				p.assignment()
			}
		default:
			return
		}
		if p.kind != ',' {
			if p.is("in") { // for (var a in b)
				p.next()
				p.expression()
			}
			return
		}
		p.next()
	}
}

func (p *parser) variable() {
	name := p.identifier(p.prevEnd)
	p.next()
	if p.kind != '=' {
		return
	}
	p.push(level{kind: inTarget, variable: true}, name)
	p.next()
	p.fresh = p.at
	p.assignment()
	p.pop()
}

// identifier is the token as a part of a name, which a segment names that begins at lead at the earliest.
func (p *parser) identifier(lead int) namePart {
	return namePart{p.text(), int32(p.at), int32(lead)}
}

func (p *parser) importing() {
	m := p.mark()
	if p.next(); p.kind == '(' || p.kind == '.' {
		p.back(m)
		p.expressionStatement()
		return
	}
	p.module()
}

// module passes over the words of import and export up to the module's name, and what follows that.
func (p *parser) module() {
	for p.kind != stringToken {
		switch p.kind {
		case '{':
			p.braces()
			if !p.is("from") {
				p.semicolon()
				return
			}
		case wordToken, ',', '*':
			p.next()
		default:
			p.semicolon()
			return
		}
	}
	if p.next(); (p.is("with") || p.is("assert")) && !p.newLine {
		if p.next(); p.kind == '{' {
			p.braces()
		}
	}
	p.semicolon()
}

// braces passes over braces without functions in them.
func (p *parser) braces() {
	for p.kind != '}' && p.kind != endToken {
		p.next()
	}
	p.want('}')
}

func (p *parser) exporting() {
	p.next()
	switch {
	case p.kind == '{', p.kind == '*':
		p.module()
		return
	case !p.is("default"):
		return // a declaration follows
	}
	p.next()
	p.push(level{kind: inTarget, only: true}, defaultPart)
	defer p.pop()
	for p.kind == '@' {
		p.decorators()
	}
	p.fresh = p.at
	m := p.mark()
	switch {
	case p.is("function"):
		p.function(p.at, true)
		return
	case p.is("class"):
		p.class(true)
		return
	case p.is("async"):
		if p.next(); p.is("function") && !p.newLine {
			p.function(m.token.at, true)
			return
		}
		p.back(m)
	}
	p.assignment()
	p.semicolon()
}

// decorators passes over an @ and what decorates.
func (p *parser) decorators() {
	p.next()
	p.operand(false)
}
