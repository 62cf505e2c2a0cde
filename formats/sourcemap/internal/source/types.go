package source

// annotation reads a type behind a colon.
func (p *parser) annotation() {
	if p.take(':') {
		p.typ()
	}
}

// typ reads a type of TypeScript or Flow.
func (p *parser) typ() {
	if p.tok.kind == '|' || p.tok.kind == '&' {
		p.next()
	}
	if !p.enter() {
		return
	}
	for !p.lost {
		p.typeOperand()
		p.typeEnds()
		if p.lost {
			break
		}
		if p.tok.kind == kindWord && !p.tok.newLine && p.is("is") {
			p.next()
			continue
		}
		if p.is("extends") && p.conditional() {
			break
		}
		if p.tok.kind != '|' && p.tok.kind != '&' {
			break
		}
		p.next()
	}
	p.depth--
}

// conditional reads extends T ? A : B of a type. It reports false where extends belongs to no type.
func (p *parser) conditional() bool {
	s := p.save()
	p.next()
	p.typ()
	if p.lost && p.mayTry() {
		p.back(s)
		return true
	}
	if !p.take('?') {
		return true // infer T extends U
	}
	p.typ()
	p.expect(':')
	p.typ()
	return true
}

// typeOperand reads a type without operators.
func (p *parser) typeOperand() {
	for {
		switch p.tok.kind {
		case '(':
			if p.skipBrackets(); p.take(kindArrow) {
				p.typ()
			}
			return
		case '[', '{':
			p.skipBrackets()
			return
		case '<':
			p.typeParameters()
			continue
		case kindTemplate:
			p.template(true)
			return
		case kindString, kindNumber, '*':
			p.next()
			return
		case '-', '?', '%', '+':
			p.next()
			continue
		case kindWord:
			if p.typePrefix() {
				continue
			}
			return
		}
		p.lose()
		return
	}
}

// typePrefix reads a word of a type. It reports whether an operand follows.
func (p *parser) typePrefix() bool {
	switch string(p.text(p.tok)) {
	case "keyof", "readonly", "unique", "infer", "asserts", "typeof", "new", "abstract", "renders", "component":
		p.next()
		switch p.tok.kind {
		case kindWord:
			return !p.tok.newLine && !p.is("extends") && !p.is("is")
		case '(', '{', '[', '<', kindString, kindTemplate, '?':
			return !p.tok.newLine
		}
		return false
	case "import":
		if p.next(); p.tok.kind == '(' {
			p.skipBrackets()
		}
		return false
	case "return", "if", "for", "while", "var", "let", "else", "switch", "throw", "export", "function", "case", "in", "instanceof", "try", "class":
		p.lose()
		return false
	}
	p.next()
	return false
}

// typeEnds reads what stands behind an operand of a type.
func (p *parser) typeEnds() {
	for !p.lost {
		switch p.tok.kind {
		case '[':
			if p.tok.newLine {
				return
			}
			if p.next(); p.tok.kind != ']' {
				p.typ()
			}
			p.expect(']')
		case '.':
			p.next()
			p.expect(kindWord)
		case kindChain:
			p.next()
		case '<':
			if p.tok.newLine || !p.typeArguments() {
				return
			}
		default:
			return
		}
	}
}

// typeParameters passes over <T extends U = V>.
func (p *parser) typeParameters() {
	depth := 0
	for !p.lost {
		switch p.tok.kind {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				p.next()
				return
			}
		case '(', '[', '{':
			p.skipBrackets()
			continue
		case kindTemplate:
			p.template(true)
			continue
		case kindEnd, ')', ']', '}', ';':
			p.lose()
			return
		}
		p.next()
	}
}

// typeArguments reads <T, U> if it stands here. Nothing is read if it does not.
func (p *parser) typeArguments() bool {
	if !p.mayTry() {
		return false
	}
	s := p.save()
	p.next()
	for p.tok.kind != '>' {
		p.typ()
		if p.tok.kind == kindArrow && !p.lost { // Flow: string => void
			p.next()
			p.typ()
		}
		if !p.take(',') {
			break
		}
	}
	if p.tok.kind != '>' || p.lost {
		p.back(s)
		return false
	}
	p.next()
	return true
}

// callTypes reads the type arguments of a call, if they are some: a < b is a comparison.
func (p *parser) callTypes() bool {
	s := p.save()
	if !p.typeArguments() {
		return false
	}
	switch p.tok.kind {
	case '(', kindTemplate, ')', ']', ':', ';', ',', '.', kindChain, '}', '?', '=', kindOperator, '|', '&', kindEnd:
		return true
	case kindWord, '{':
		if p.tok.newLine || p.is("as") || p.is("satisfies") || p.is("implements") || p.tok.kind == '{' {
			return true
		}
	}
	p.back(s)
	return false
}

// typeStatement reads statements that TypeScript and Flow add. It reports false for all others.
func (p *parser) typeStatement() bool {
	t := p.peek()
	named := t.kind == kindWord && !t.newLine
	switch string(p.text(p.tok)) {
	case "interface":
		if !named {
			return false
		}
		p.interfaces()
	case "type", "opaque":
		if word := string(p.text(t)); !named || word == "in" || word == "instanceof" {
			return false
		}
		p.alias()
	case "namespace", "module":
		if t.newLine || t.kind != kindWord && t.kind != kindString {
			return false
		}
		p.namespace()
	case "global":
		if t.kind != '{' || t.newLine {
			return false
		}
		p.next()
		p.block()
	case "declare":
		if !named {
			return false
		}
		if p.next(); p.is("component") {
			p.interfaces()
		} else {
			p.statement()
		}
	case "abstract", "enum":
		if !named {
			return false
		}
		if p.is("enum") {
			p.enum()
			break
		}
		if string(p.text(t)) != "class" {
			return false
		}
		p.next()
		p.class(p.tok.from)
	case "component", "hook": // Flow
		return named && p.component()
	default:
		return false
	}
	return true
}

// component reads a function of Flow's. It reports false where none is.
func (p *parser) component() bool {
	s := p.save()
	if p.function(p.tok.from); p.lost && p.mayTry() {
		p.back(s)
		return false
	}
	return true
}

// alias reads the declaration of a type.
func (p *parser) alias() {
	if p.next(); p.is("type") && p.peek().kind == kindWord {
		p.next()
	}
	p.next()
	if p.tok.kind == '<' {
		p.typeParameters()
	}
	p.annotation()
	if p.take('=') {
		if p.typ(); p.tok.kind == kindArrow { // Flow: string => void
			p.next()
			p.typ()
		}
	}
	p.ending()
}

// interfaces passes over a declaration with types as members.
func (p *parser) interfaces() {
	p.next()
	for p.tok.kind != '{' && !p.lost {
		switch p.tok.kind {
		case '<':
			p.typeParameters()
		case kindWord, '.', ',':
			p.next()
		case '(':
			p.skipBrackets()
		default:
			p.lose()
		}
	}
	if !p.lost {
		p.skipBrackets()
	}
}

// namespace reads a namespace, or the declaration of a module.
func (p *parser) namespace() {
	p.next()
	p.next()
	for p.take('.') {
		p.expect(kindWord)
	}
	if p.tok.kind != '{' {
		p.ending()
		return
	}
	p.block()
}

// enum reads an enum.
func (p *parser) enum() {
	p.next()
	p.expect(kindWord)
	if p.is("of") { // Flow
		p.next()
		p.expect(kindWord)
	}
	p.expect('{')
	for p.tok.kind != '}' && !p.lost {
		if p.tok.kind == kindSpread {
			p.next()
		} else {
			p.key()
			if p.take('=') {
				p.assignment(none)
			}
		}
		if p.tok.kind != '}' {
			p.expect(',')
		}
	}
	p.expect('}')
}
