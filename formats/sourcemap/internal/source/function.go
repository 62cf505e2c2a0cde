package source

// parentheses reads an expression in them, or the parameters of an arrow function and this. It reports which.
func (p *parser) parentheses(head int32) (arrow bool) {
	from := p.tok.from
	empty := p.peek().kind == ')'
	typed := p.list(')')
	if p.lost || p.tok.newLine && p.tok.kind == kindArrow {
		return false
	}
	if p.tok.kind == ':' && p.mayTry() {
		s := p.save()
		p.next()
		p.typ()
		switch {
		case p.lost || p.tok.kind != kindArrow:
			p.back(s)
			return false
		case p.group == 0 || typed || empty:
		default: // of two readings, this one leaves the colon of ? and :
			p.arrow(from, head)
			if p.lost || p.tok.kind != ':' {
				p.back(s)
				return false
			}
			return true
		}
	}
	if p.tok.kind != kindArrow {
		return false
	}
	p.arrow(from, head)
	return true
}

// arrow reads an arrow function from its arrow on. Its parameters begin at from, it begins at head.
func (p *parser) arrow(from, head int32) {
	if !p.enter() {
		return
	}
	f := p.begin(from, "", p.as, token{})
	if head != from {
		p.head(head, f)
	}
	if from+1 < int32(len(p.src)) && p.src[from] == '(' {
		p.head(from+1, f)
	}
	a := p.inside()
	p.next()
	if p.tok.kind == '{' {
		p.body()
	} else {
		p.assignment(none)
	}
	p.finish(f)
	p.outside(a)
	p.depth--
}

// finish ends a function behind the token before.
func (p *parser) finish(f int32) {
	if int(f) < len(p.out.functions) && !p.dead {
		p.out.functions[f].end = p.end
	}
}

// function reads a function from its keyword on.
func (p *parser) function(head int32) {
	if !p.enter() {
		return
	}
	keyword := p.tok.from
	p.next()
	p.take('*')
	own := token{}
	if p.tok.kind == kindWord {
		own = p.tok
		p.next()
	}
	f := p.callable("", p.as, own)
	if f >= 0 {
		p.head(head, f)
		p.head(keyword, f)
		if own.kind == kindWord {
			p.head(own.from, f)
		}
	}
	p.depth--
}

// callable reads parameters and body of a function, and gives its number; negative: it has no body.
func (p *parser) callable(prefix string, name int32, own token) int32 {
	if p.tok.kind == '<' {
		p.typeParameters()
	}
	if p.tok.kind != '(' {
		p.lose()
		return -1
	}
	s := p.save()
	f := p.begin(p.tok.from, prefix, name, own)
	p.head(p.tok.from+1, f)
	a := p.inside()
	p.list(')')
	p.annotation()
	if p.tok.kind == '%' { // Flow: %checks
		p.next()
		p.expect(kindWord)
		if p.tok.kind == '(' {
			p.list(')')
		}
	}
	if p.tok.kind != '{' && !p.lost {
		p.out.functions, p.out.heads, p.out.text = p.out.functions[:s.count], p.out.heads[:s.heads], p.out.text[:s.length]
		p.outside(a)
		return -1
	}
	if !p.lost {
		p.body()
	}
	p.finish(f)
	p.outside(a)
	return f
}
