package source

// chain is an operand that a function may be assigned to; to 0: it is none.
type chain struct{ from, to int32 }

// expression reads expressions between commas.
func (p *parser) expression() {
	p.assignment(p.as)
	for p.take(',') {
		p.assignment(p.as)
	}
}

// assignment reads an expression without commas. Anonymous functions in it are called as.
func (p *parser) assignment(as int32) {
	if !p.enter() {
		return
	}
	old, length := p.as, len(p.parts)
	p.as = as
	p.operands()
	p.as, p.parts = old, p.parts[:length]
	p.depth--
}

// operands reads operands and the operators between them.
func (p *parser) operands() {
	for !p.lost {
		c := p.prefixed()
	operator:
		for !p.lost {
			switch p.tok.kind {
			case '=':
				as := p.as
				if c.to > 0 {
					as = p.part(partChain, none, c.from, c.to)
				}
				p.next()
				p.assignment(as)
				return
			case '?':
				if p.question() {
					return
				}
				continue
			case '<', '/', '*', '+', '-', '|', '&', '%', '^', kindOperator:
				p.next()
				break operator
			case '>':
				p.greater()
				break operator
			case kindStep:
				if p.tok.newLine {
					return
				}
				p.next()
			case '!':
				if p.tok.newLine {
					return
				}
				p.next()
				c = p.ends(c, false)
			case kindWord:
				switch string(p.text(p.tok)) {
				case "in", "instanceof":
					p.next()
					break operator
				case "as", "satisfies":
					if p.tok.newLine {
						return
					}
					p.next()
					p.typ()
					c.to = 0
				default:
					return
				}
			default:
				return
			}
		}
	}
}

// greater reads an operator that begins with >.
func (p *parser) greater() {
	for p.at < len(p.src) && (p.src[p.at] == '>' || p.src[p.at] == '=') {
		p.at++
	}
	p.tok.to = int32(p.at)
	p.next()
}

// question reads what follows a condition. It reports true at the end of the expression.
func (p *parser) question() bool {
	p.next()
	switch p.tok.kind {
	case ':', ',', ')', '=':
		return true // a parameter that may be left out
	}
	p.group++
	p.assignment(p.as)
	p.group--
	p.expect(':')
	p.assignment(p.as)
	return true
}

// prefixed reads an operand with the operators before it and the calls and members behind.
func (p *parser) prefixed() chain {
	for more := true; more; {
		switch p.tok.kind {
		case '!', '~', '+', '-', kindStep, kindSpread:
			p.next()
		case kindWord:
			var alone bool
			if more, alone = p.prefixWord(); alone {
				return chain{}
			}
		default:
			more = false
		}
	}
	return p.operand()
}

func (p *parser) noOperand() bool {
	switch p.tok.kind {
	case ')', ']', '}', ',', ';', ':', '=', '.', kindArrow, kindEnd:
		return true
	}
	return false
}

// prefixWord reads a word that stands before an operand, if it is one. alone: yield without an operand.
func (p *parser) prefixWord() (is, alone bool) {
	if n := p.tok.to - p.tok.from; n < 3 || n > 6 {
		return false, false
	}
	switch string(p.text(p.tok)) {
	case "typeof", "void", "delete":
		p.next()
		return true, false
	case "await":
		if k := p.peek().kind; k == kindArrow || k == '.' {
			return false, false
		}
		p.next()
		return true, p.noOperand()
	case "yield":
		if p.peek().kind == kindArrow {
			return false, false
		}
		if p.next(); p.tok.kind == '*' {
			p.next()
			return true, false
		}
		return true, p.tok.newLine || p.noOperand()
	case "new":
		if p.peek().kind == '.' {
			return false, false // new.target
		}
		p.next()
		return true, false
	}
	return false, false
}

// operand reads an operand, and the calls and members behind it.
func (p *parser) operand() chain {
	from := p.tok.from
	c := chain{}
	switch p.tok.kind {
	case kindWord:
		var done bool
		if c, done = p.wordOperand(); done {
			return chain{}
		}
	case kindNumber, kindString:
		p.next()
	case kindTemplate:
		p.template(false)
	case '(':
		if p.parentheses(from) {
			return chain{}
		}
	case '[':
		p.list(']')
	case '{':
		p.object()
	case '/':
		p.regexp()
	case '<':
		if p.angle() {
			return chain{}
		}
	case '@':
		p.decorators()
		return p.operand()
	default:
		p.lose()
		return chain{}
	}
	return p.ends(c, from+5 == c.to && string(p.src[from:c.to]) == "async")
}

// wordOperand reads an operand that begins with a word. done: nothing belongs to it any more.
func (p *parser) wordOperand() (c chain, done bool) {
	t := p.tok
	switch string(p.text(t)) {
	case "function":
		p.function(t.from)
		return chain{}, false
	case "class":
		p.class(t.from)
		return chain{}, false
	case "async":
		p.next()
		if p.tok.newLine || p.tok.kind != kindWord {
			break
		}
		if p.is("function") {
			p.function(t.from)
			return chain{}, false
		}
		if p.peek().kind == kindArrow {
			from := p.tok.from
			p.next()
			p.arrow(from, t.from)
			return chain{}, true
		}
	case "case", "catch", "const", "continue", "debugger", "default", "do", "else", "export", "extends", "finally", "for", "if", "in", "instanceof",
		"return", "switch", "throw", "try", "var", "while", "with", "break", "enum":
		p.lose()
		return chain{}, true
	default:
		p.next()
	}
	if p.tok.kind == kindArrow && !p.tok.newLine {
		p.arrow(t.from, t.from)
		return chain{}, true
	}
	return chain{t.from, t.to}, false
}

// ends reads what stands behind an operand: members, calls. async: it is this word.
func (p *parser) ends(c chain, async bool) chain {
	grow := func() {
		if c.to > 0 {
			c.to = p.end
		}
	}
	for !p.lost {
		switch p.tok.kind {
		case '.', kindChain:
			chained := p.tok.kind == kindChain
			p.next()
			if chained && p.tok.kind != kindWord {
				continue
			}
			p.expect(kindWord)
			grow()
		case '[':
			if p.list(']'); p.end > 0 {
				grow()
			}
		case '(':
			from := p.tok.from
			if async {
				if p.parentheses(from) {
					return chain{}
				}
				async = false
			} else {
				p.list(')')
			}
			c = chain{}
		case kindTemplate:
			p.template(false)
			c = chain{}
		case '!':
			if p.tok.newLine {
				return c
			}
			p.next()
		case '<':
			if !p.callTypes() {
				return c
			}
		default:
			return c
		}
	}
	return c
}

// list reads expressions, parameters and patterns with their types, up to end.
func (p *parser) list(end byte) (typed bool) {
	group := p.group
	p.group = 0
	p.next()
	for p.tok.kind != end && !p.lost {
		if p.tok.kind == ',' {
			p.next()
			continue
		}
		if p.tok.kind == '@' {
			p.decorators()
		}
		p.modifiers()
		from := p.tok
		p.assignment(p.as)
		if p.tok.kind == ':' {
			typed = true
			p.next()
			p.typ()
			if p.tok.kind == kindArrow { // Flow: string => void
				p.next()
				p.typ()
			}
			if p.tok.kind == '=' {
				p.next()
				as := p.as
				if from.kind == kindWord {
					as = p.part(partWord, none, from.from, from.to)
				}
				p.assignment(as)
			}
		}
		if p.tok.kind != end {
			p.expect(',')
		}
	}
	p.group = group
	p.expect(end)
	return typed
}

// modifiers reads the modifiers of a parameter.
func (p *parser) modifiers() {
	for p.tok.kind == kindWord && p.tok.to-p.tok.from > 5 {
		switch string(p.text(p.tok)) {
		case "public", "private", "protected", "readonly", "override":
		default:
			return
		}
		if t := p.peek(); t.kind != kindWord && t.kind != '{' && t.kind != '[' {
			return
		}
		p.next()
	}
}
