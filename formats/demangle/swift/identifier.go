package swift

// identifier reads a name: a length and as many bytes; with a leading zero,
// words of earlier names between such pieces, one letter each, the last one in
// upper case; with two zeros, Punycode.
func (p *parser) identifier() ref {
	if !digit(p.peek()) {
		return 0
	}
	words, punycode := false, false
	if p.accept('0') {
		if p.accept('0') {
			punycode = true
		} else {
			words = true
		}
	}
	piece, whole := "", ""
	pieces := 0
	add := func(s string) {
		if pieces++; pieces == 1 {
			whole = s // most names are of one piece: no copy
			return
		}
		if pieces == 2 {
			p.name = append(p.name[:0], whole...)
		}
		p.name = append(p.name, s...)
	}
	for {
		for words && (lower(p.peek()) || upper(p.peek())) {
			c := p.next()
			i := int(c - 'a')
			if upper(c) {
				i, words = int(c-'A'), false
			}
			if i >= p.words {
				return 0
			}
			add(p.word[i])
		}
		if p.accept('0') {
			break
		}
		n := p.natural()
		if punycode {
			p.accept('_')
		}
		var ok bool
		if piece, ok = p.take(n); !ok {
			return 0
		}
		if punycode {
			if piece, ok = decode(piece); !ok {
				return 0
			}
		} else {
			p.learn(piece)
		}
		add(piece)
		if !words {
			break
		}
		if len(p.name) > maxText {
			p.over = true
			return 0
		}
	}
	if pieces > 1 {
		if p.bytes += len(p.name); p.bytes > maxText {
			p.over = true
			return 0
		}
		whole = string(p.name)
	}
	if whole == "" {
		return 0
	}
	return p.remember(p.text(kIdentifier, whole))
}

// learn keeps the words of a name, which begin where case rises, for later
// names.
func (p *parser) learn(name string) {
	start := -1
	for i := 0; i <= len(name) && p.words < maxWords; i++ {
		var c byte
		if i < len(name) {
			c = name[i]
		}
		if start >= 0 && (c == '_' || c == 0 || upper(c) && !upper(name[i-1])) {
			if i-start >= 2 {
				p.word[p.words] = name[start:i]
				p.words++
			}
			start = -1
		}
		if start < 0 && !digit(c) && c != '_' && c != 0 {
			start = i
		}
	}
}

// operators gives the character that a letter stands for in the name of an
// operator; a space for none.
const operators = "& @/= >    <*!|+?%-~   ^ ."

// operatorName undoes the letters of an operator's name. Other scripts than
// Latin stay.
func operatorName(name string) (string, bool) {
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		c := name[i]
		if c < 0x80 {
			if !lower(c) || operators[c-'a'] == ' ' {
				return "", false
			}
			c = operators[c-'a']
		}
		out = append(out, c)
	}
	return string(out), true
}

func (p *parser) operator() ref {
	id := p.pop(kIdentifier)
	if id == 0 {
		return 0
	}
	name, ok := operatorName(p.nodes[id].text)
	if !ok {
		return 0
	}
	switch p.next() {
	case 'i':
		return p.text(kInfix, name)
	case 'p':
		return p.text(kPrefix, name)
	case 'P':
		return p.text(kPostfix, name)
	}
	return 0
}

// localName reads what makes a name unique: "L" a file's discriminator, a
// letter the entity that the importer made it from, else a number.
func (p *parser) localName() ref {
	if p.accept('L') {
		file := p.pop(kIdentifier)
		return p.make(kPrivateName, file, p.popFlag(fName))
	}
	if p.accept('l') {
		return p.make(kPrivateName, p.pop(kIdentifier))
	}
	if c := p.peek(); 'a' <= c && c <= 'j' || 'A' <= c && c <= 'J' {
		p.next()
		return p.make(kRelatedName, p.text(kIdentifier, p.in[p.pos-1:p.pos]), p.popAny())
	}
	number := p.index(kIndex, p.ordinal())
	return p.make(kLocalName, number, p.popFlag(fName))
}
