package script

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// kind tells tokens apart. Tokens of one byte that need no other name are that byte.
type kind uint8

const (
	endToken kind = iota
	wordToken
	privateToken // #name
	stringToken
	numberToken
	regexpToken
	arrowToken   // =>
	assignToken  // +=, -= and their like
	logicToken   // ||=, &&=, ??=
	spreadToken  // ...
	optionToken  // ?.
	stepToken    // ++ and --
	binaryToken  // an operator between two operands
	prefixToken  // ! and ~
	unknownToken // a byte of no token
)

// token is a piece of a script: bytes [at, end).
type token struct {
	kind    kind
	newLine bool // a line ends before it
	at, end int
}

// lexer reads the tokens of a script front to back. A slash is an operator until regexp reads it again, and
// a backquote is a token of one byte: the parser knows which ones it wants.
type lexer struct {
	script []byte
	token
	prevEnd int // the end of the token before
}

// next reads the token behind the last one.
func (l *lexer) next() {
	l.prevEnd = l.end
	l.skip()
	l.at = l.end
	if l.at >= len(l.script) {
		l.kind = endToken
		return
	}
	c := l.script[l.at]
	switch {
	case inWord[c]:
		if c >= '0' && c <= '9' {
			l.number()
		} else {
			l.kind, l.end = wordToken, wordEnd(l.script, l.at)
		}
	case c == '\'', c == '"':
		l.quoted(c)
	case c == '#':
		l.kind, l.end = privateToken, wordEnd(l.script, l.at+1)
	case c == '.' && l.byte(1) >= '0' && l.byte(1) <= '9':
		l.number()
	default:
		l.operator(c)
	}
}

// byte is the byte so far behind the token's beginning; 0 behind the script.
func (l *lexer) byte(n int) byte {
	if l.at+n < len(l.script) {
		return l.script[l.at+n]
	}
	return 0
}

// skip passes over spaces and comments behind the token.
func (l *lexer) skip() {
	l.newLine = l.end == 0
	for l.end < len(l.script) {
		rest := l.script[l.end:]
		switch c := rest[0]; {
		case c == '\n', c == '\r':
			l.newLine = true
			l.end++
		case c <= ' ':
			l.end++
		case c == '/' && len(rest) > 1 && rest[1] == '*':
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				l.end = len(l.script)
				return
			}
			l.newLine = l.newLine || bytes.ContainsAny(rest[:end+2], "\n\r")
			l.end += end + 4
		case c == '/' && len(rest) > 1 && rest[1] == '/',
			c == '<' && bytes.HasPrefix(rest, []byte("<!--")),
			c == '-' && l.newLine && bytes.HasPrefix(rest, []byte("-->")),
			c == '#' && l.end == 0 && len(rest) > 1 && rest[1] == '!':
			l.skipLine()
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(rest)
			if !isSpace(r) {
				return
			}
			l.newLine = l.newLine || r == '\u2028' || r == '\u2029'
			l.end += n
		default:
			return
		}
	}
}

// isSpace reports whether a character that is not ASCII is a space or ends a line.
func isSpace(r rune) bool {
	return r == '\ufeff' || unicode.IsSpace(r) || unicode.Is(unicode.Zs, r) || r == '\u2028' || r == '\u2029'
}

func (l *lexer) skipLine() {
	if n := bytes.IndexAny(l.script[l.end:], "\n\r\u2028\u2029"); n >= 0 {
		l.end += n
	} else {
		l.end = len(l.script)
	}
}

func (l *lexer) number() {
	l.kind = numberToken
	for l.end = l.at + 1; l.end < len(l.script); l.end++ {
		c := l.script[l.end]
		if (!inWord[c] || c >= utf8.RuneSelf) && c != '.' && (c != '+' && c != '-' || l.script[l.end-1]|0x20 != 'e' || l.byte(1)|0x20 == 'x') {
			return
		}
	}
}

// quoted reads a string, to the end of the line at most.
func (l *lexer) quoted(quote byte) {
	l.kind = stringToken
	for l.end = l.at + 1; l.end < len(l.script); l.end++ {
		switch c := l.script[l.end]; {
		case c == quote:
			l.end++
			return
		case c == '\\':
			if l.end++; l.end+1 < len(l.script) && l.script[l.end] == '\r' && l.script[l.end+1] == '\n' {
				l.end++
			}
		case c == '\n':
			l.kind = unknownToken
			return
		}
	}
	l.kind, l.end = unknownToken, len(l.script)
}

// operator reads all other tokens.
func (l *lexer) operator(c byte) {
	l.kind = kind(c)
	n, second := 1, l.byte(1)
	switch c {
	case '(', ')', '[', ']', '{', '}', ',', ';', ':', '`', '@':
	case '~':
		l.kind = prefixToken
	case '.':
		if second == '.' && l.byte(2) == '.' {
			l.kind, n = spreadToken, 3
		}
	case '=':
		if second == '>' {
			l.kind, n = arrowToken, 2
		} else if second == '=' {
			l.kind, n = binaryToken, 2
		}
	case '!':
		if l.kind = prefixToken; second == '=' {
			l.kind, n = binaryToken, 2
		}
	case '?':
		if second == '?' {
			n = l.logic(c)
		} else if second == '.' && (l.byte(2) < '0' || l.byte(2) > '9') {
			l.kind, n = optionToken, 2
		}
	case '&', '|':
		n = l.logic(c)
	case '+', '-', '/', '*', '%', '^', '<', '>':
		n = l.arithmetic(c)
	default:
		l.kind = unknownToken
	}
	l.end = l.at + n
}

// arithmetic reads an operator that may stand doubled, and before =. It gives its length.
func (l *lexer) arithmetic(c byte) int {
	n := 1
	switch {
	case (c == '+' || c == '-') && l.byte(1) == c:
		l.kind = stepToken
		return 2
	case c == '%', c == '^':
		l.kind = binaryToken
	case c == '<', c == '>', c == '*' && l.byte(1) == c:
		for l.kind = binaryToken; n < 3 && l.byte(n) == c; n++ {
		}
		if n == 1 && l.byte(1) == '=' {
			return 2 // <= or >=
		}
	}
	if l.byte(n) == '=' {
		l.kind = assignToken
		n++
	}
	return n
}

// logic reads &, |, &&, ||, ?? and their assignments. It gives the length.
func (l *lexer) logic(c byte) int {
	l.kind = binaryToken
	n := 1
	if l.byte(1) == c {
		n = 2
	}
	if l.byte(n) == '=' {
		if l.kind = assignToken; n == 2 {
			l.kind = logicToken
		}
		n++
	}
	return n
}

// regexp reads the token, a slash, again as the beginning of a regular expression. It reports whether there is one.
func (l *lexer) regexp() bool {
	class := false
	for end := l.at + 1; end < len(l.script); end++ {
		switch l.script[end] {
		case '\n', '\r':
			return false
		case '\\':
			end++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				l.kind, l.end = regexpToken, wordEnd(l.script, end+1)
				return true
			}
		}
	}
	return false
}

// chunk passes over a template's text, from the end of the token on, to its end or a substitution. It reports which,
// and whether there is either.
func (l *lexer) chunk() (substitution, ok bool) {
	for l.end < len(l.script) {
		c := l.script[l.end]
		l.end++
		switch {
		case c == '`':
			return false, true
		case c == '\\':
			l.end++
		case c == '$' && l.end < len(l.script) && l.script[l.end] == '{':
			l.end++
			return true, true
		}
	}
	l.end = len(l.script)
	return false, false
}

// text is the token's text, valid as long as the script.
func (l *lexer) text() []byte { return l.script[l.at:l.end] }

// is reports whether the token is the word.
func (l *lexer) is(word string) bool { return l.kind == wordToken && string(l.text()) == word }

// inWord are the bytes of identifiers and numbers. Of the bytes above ASCII, wordEnd looks further.
var inWord = func() (in [256]bool) {
	for i := range in {
		c := byte(i)
		in[i] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '\\' || c >= utf8.RuneSelf
	}
	return in
}()

// wordEnd is the end of the word that begins at at.
func wordEnd(script []byte, at int) int {
	for at < len(script) && inWord[script[at]] {
		switch c := script[at]; {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(script[at:])
			if isSpace(r) {
				return at
			}
			at += n
		case c == '\\' && at+2 < len(script) && script[at+1] == 'u' && script[at+2] == '{':
			for at < len(script) && script[at] != '}' && script[at] != '\n' {
				at++
			}
			if at < len(script) {
				at++
			}
		default:
			at++
		}
	}
	return at
}
