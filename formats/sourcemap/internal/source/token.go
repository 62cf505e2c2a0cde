package source

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Kinds of tokens. Punctuation of one byte is its own kind.
const (
	kindEnd      = 0
	kindWord     = 'a' // identifiers, keywords, #private names
	kindNumber   = '0'
	kindString   = '"'
	kindTemplate = '`' // its first byte alone
	kindArrow    = 'A' // =>
	kindOperator = 'o' // a binary operator that needs no other kind
	kindStep     = 'i' // ++ and --
	kindChain    = 'Q' // ?.
	kindSpread   = 'E' // ...
)

// token is the token that the parser looks at.
type token struct {
	kind     byte
	newLine  bool // a line ends before it
	from, to int32
}

// What a byte may begin.
const (
	classOther = iota
	classWord
	classDigit
	classSpace
	classLine
	classPoint // punctuation of one byte
)

var classes = func() (c [256]uint8) {
	for i := range c {
		b := byte(i)
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_', b == '$', b == '\\', b == '#':
			c[i] = classWord
		case b >= '0' && b <= '9':
			c[i] = classDigit
		case b == ' ', b == '\t', b == '\v', b == '\f':
			c[i] = classSpace
		case b == '\n', b == '\r':
			c[i] = classLine
		case bytes.IndexByte([]byte("(){}[];,:@~>"), b) >= 0:
			c[i] = classPoint
		}
	}
	return c
}()

// inWord are the ASCII bytes of identifiers and numbers.
var inWord = func() (in [256]bool) {
	for i := range in {
		in[i] = (classes[i] == classWord || classes[i] == classDigit) && i != '#'
	}
	return in
}()

// next reads the next token. A slash is a token of one or two bytes: the parser asks for regexp where an operand stands.
func (p *parser) next() {
	p.end = p.tok.to
	if p.lost {
		p.tok = token{kind: kindEnd, from: p.tok.from, to: p.tok.to}
		return
	}
	src, i := p.src, p.at
	newLine := false
	for i < len(src) {
		c := src[i]
		switch classes[c] {
		case classSpace:
			i++
		case classLine:
			newLine = true
			i++
		case classWord:
			p.wordAt(i, newLine)
			return
		case classDigit:
			p.numberAt(i, newLine)
			return
		case classPoint:
			p.tok = token{c, newLine, int32(i), int32(i + 1)}
			p.at = i + 1
			return
		default:
			if c >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(src[i:])
				if r != '\ufeff' && !unicode.IsSpace(r) && r != '\u2028' && r != '\u2029' {
					p.wordAt(i, newLine)
					return
				}
				newLine = newLine || r == '\u2028' || r == '\u2029'
				i += n
				continue
			}
			if skipped, line := p.comment(i, newLine); skipped > i {
				i, newLine = skipped, newLine || line
				continue
			}
			p.punctuation(i, newLine)
			return
		}
	}
	p.at = len(src)
	p.tok = token{kindEnd, newLine, int32(len(src)), int32(len(src))}
}

// comment gives the place behind the comment at i, and whether a line ends in it.
func (p *parser) comment(i int, newLine bool) (behind int, line bool) {
	rest := p.src[i:]
	switch {
	case rest[0] == '/' && len(rest) > 1 && rest[1] == '/',
		rest[0] == '#' && i == 0,
		rest[0] == '<' && bytes.HasPrefix(rest, []byte("<!--")) && !p.types,
		rest[0] == '-' && (newLine || i == 0) && bytes.HasPrefix(rest, []byte("-->")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return i + n, true
		}
		return len(p.src), true
	case rest[0] == '/' && len(rest) > 1 && rest[1] == '*':
		n := bytes.Index(rest[2:], []byte("*/"))
		if n < 0 {
			return len(p.src), true
		}
		return i + n + 4, bytes.IndexByte(rest[:n+2], '\n') >= 0
	}
	return i, false
}

// wordAt reads an identifier or a keyword.
func (p *parser) wordAt(from int, newLine bool) {
	src, i := p.src, from
	if src[i] == '#' {
		if from == 0 && len(src) > 1 && src[1] == '!' {
			n := bytes.IndexByte(src, '\n')
			if n < 0 {
				n = len(src)
			}
			p.at = n
			p.next()
			return
		}
		i++
	}
	for i < len(src) {
		switch c := src[i]; {
		case inWord[c]:
			i++
			if c == '\\' && i+1 < len(src) && src[i] == 'u' && src[i+1] == '{' {
				n := bytes.IndexByte(src[i:min(len(src), i+12)], '}')
				i += max(n, 0)
				if n > 0 {
					i++
				}
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(src[i:])
			if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' {
				goto done
			}
			i += n
		default:
			goto done
		}
	}
done:
	p.at = i
	p.tok = token{kindWord, newLine, int32(from), int32(i)}
}

func (p *parser) numberAt(from int, newLine bool) {
	src, i := p.src, from
	for i < len(src) {
		c := src[i]
		if inWord[c] && c != '\\' || c == '.' && !(i+1 < len(src) && src[i+1] == '.') {
			i++
		} else if (c == '+' || c == '-') && (src[i-1] == 'e' || src[i-1] == 'E') && !hexadecimal(src[from:i]) {
			i++
		} else {
			break
		}
	}
	p.at = i
	p.tok = token{kindNumber, newLine, int32(from), int32(i)}
}

func hexadecimal(b []byte) bool { return len(b) > 1 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') }

// punctuation reads a string, an operator, or the beginning of a template.
func (p *parser) punctuation(i int, newLine bool) {
	c := p.src[i]
	if c == '"' || c == '\'' {
		p.stringAt(i, newLine)
		return
	}
	var next, third byte
	if i+1 < len(p.src) {
		next = p.src[i+1]
	}
	if i+2 < len(p.src) {
		third = p.src[i+2]
	}
	kind, n := c, 1
	switch c {
	case '`', '/':
		if c == '/' && next == '=' {
			n = 2
		}
	case '=', '!':
		kind, n = comparison(c, next, third)
	case '.':
		if classes[next] == classDigit {
			p.numberAt(i, newLine)
			return
		}
		if next == '.' && third == '.' {
			kind, n = kindSpread, 3
		}
	case '?':
		kind, n = questioned(next, third)
	case '&', '|', '+', '-', '<', '*', '%', '^':
		kind, n = operator(c, next, third)
	default:
		kind = kindEnd
	}
	p.at = i + n
	p.tok = token{kind, newLine, int32(i), int32(i + n)}
	if kind == kindEnd {
		p.lose()
	}
}

// operator tells what the first byte of an operator begins.
func operator(c, next, third byte) (kind byte, n int) {
	kind, n = c, 1
	switch c {
	case '&', '|':
		if next == c && third == '=' {
			kind, n = '=', 3
		} else if next == c || next == '=' {
			kind, n = kindOperator, 2
		}
	case '+', '-':
		if next == c {
			kind, n = kindStep, 2
		} else if next == '=' {
			kind, n = kindOperator, 2
		}
	case '<':
		if next == '<' && third == '=' {
			kind, n = kindOperator, 3
		} else if next == '<' || next == '=' {
			kind, n = kindOperator, 2
		}
	case '*', '%', '^':
		if next == '=' || next == '*' && c == '*' {
			n = 2
		}
		if n == 2 && next == '*' && third == '=' {
			n = 3
		}
	}
	return kind, n
}

// comparison tells what = or ! begins.
func comparison(c, next, third byte) (kind byte, n int) {
	switch {
	case next == '>' && c == '=':
		return kindArrow, 2
	case next == '=' && third == '=':
		return kindOperator, 3
	case next == '=':
		return kindOperator, 2
	}
	return c, 1
}

// questioned tells what ? begins.
func questioned(next, third byte) (kind byte, n int) {
	switch {
	case next == '.' && classes[third] != classDigit:
		return kindChain, 2
	case next == '?' && third == '=':
		return '=', 3
	case next == '?':
		return kindOperator, 2
	}
	return '?', 1
}

// stringAt reads a string. A line end in it is no string's.
func (p *parser) stringAt(from int, newLine bool) {
	src, quote := p.src, p.src[from]
	for i := from + 1; i < len(src); i++ {
		switch src[i] {
		case quote:
			p.at = i + 1
			p.tok = token{kindString, newLine, int32(from), int32(i + 1)}
			return
		case '\\':
			if i++; i+1 < len(src) && src[i] == '\r' && src[i+1] == '\n' {
				i++
			}
		case '\n', '\r':
			p.tok = token{kindEnd, newLine, int32(from), int32(i)}
			p.lose()
			return
		}
	}
	p.tok = token{kindEnd, newLine, int32(from), int32(len(src))}
	p.lose()
}

// regexp reads the regular expression that the slash of the token begins.
func (p *parser) regexp() {
	src, class := p.src, false
	for i := int(p.tok.from) + 1; i < len(src); i++ {
		switch src[i] {
		case '\n', '\r':
			p.lose()
			return
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if class {
				continue
			}
			for i++; i < len(src) && inWord[src[i]]; i++ {
			}
			p.at, p.tok.to = i, int32(i)
			p.next()
			return
		}
	}
	p.lose()
}

// template reads the template that the token begins. Where types is set, types stand in it.
func (p *parser) template(types bool) {
	i := int(p.tok.to)
	for i < len(p.src) {
		switch p.src[i] {
		case '`':
			p.at, p.tok.to = i+1, int32(i+1)
			p.next()
			return
		case '\\':
			i++
		case '$':
			if i+1 >= len(p.src) || p.src[i+1] != '{' {
				break
			}
			p.at = i + 2
			if p.next(); types {
				p.skipTo('}')
			} else {
				p.expression()
			}
			if p.tok.kind != '}' {
				p.lose()
				return
			}
			i = int(p.tok.from)
		}
		i++
	}
	p.lose()
}

// word is the text of a token.
func (p *parser) text(t token) []byte { return p.src[t.from:t.to] }

// is reports whether the token is that word.
func (p *parser) is(word string) bool {
	return p.tok.kind == kindWord && string(p.src[p.tok.from:p.tok.to]) == word
}
