package script

import (
	"bytes"
	"errors"
	"slices"
)

// pieceBytes is how many bytes of functions stay in the function around them, to be parsed with it: their syntax tree
// takes some twenty times as much.
const pieceBytes = 64 << 10

// leastBody is of how many bytes on the body of a function may be a piece of its own.
const leastBody = 48

var errCut = errors.New("brackets of a script")

// extent is some bytes of a script: [from, to).
type extent struct{ from, to int }

// hole is a part that left a piece: the inside of a function's body, which was a piece of its own.
type hole struct {
	extent
	free []int // offsets of the identifiers that are not declared in it
}

// body is a function's, or the whole script: it is open, or closed and in no piece yet.
type body struct {
	extent
	params       extent // if they are just identifiers
	holes        []hole // ascending
	missing      int    // their bytes
	closed       []body // in it; their holes are holes of this one too
	before       int    // how many of holes stand before closed
	bytes        int    // of closed
	await, yield bool   // words in it
}

func (b *body) size() int { return b.to - b.from - b.missing }

// What a bracket is.
const (
	group        = iota // ( or [
	control             // the parenthesis of if, for and their like
	block               // { of statements, or of a class
	literal             // { of an object
	functionBody        // { of a function
	substitution        // ${
)

// bracket that is open, and where its inside begins.
type opening struct {
	kind uint8
	at   int
}

// cutter cuts a script into pieces that can be parsed by themselves: functions' bodies, without the larger ones in
// them. It tells regular expressions from divisions by what stands before them, which may go wrong: whoever parses the
// pieces sees whether the parser found the same ones.
type cutter struct {
	script  []byte
	most    int // bytes of closed bodies that a body keeps
	take    func(*piece) (free []int, err error)
	piece   piece
	open    []opening
	bodies  []body // open ones; the first is the script
	classes []int  // how many brackets were open at the word class, before the class's body
	regexps int    // the sum of their offsets

	at      int
	last    byte    // of the token before; 'a' stands for any word, literal, ++ and --
	word    extent  // the token before, if it is a word
	dotted  bool    // the word is the name of a property
	before  extent  // the token before the word, if it is one too
	arrow   bool    // the token before is =>
	closed  opening // closed last
	params  extent  // the text last in parentheses, or before =>
	newLine bool    // since the token before
}

// cut hands out the pieces of a script, the inner ones first, and sums up the offsets of its regular expressions. A piece
// is valid during the call, which gives the identifiers that are not declared in it.
func cut(script []byte, most int, take func(*piece) (free []int, err error)) (regexps int, err error) {
	c := &cutter{script: script, most: most, take: take, bodies: make([]body, 1, 64), last: ';'}
	c.bodies[0] = wholeOf(script)
	c.at = c.bodies[0].from
	for c.at < len(script) {
		if err := c.token(); err != nil {
			return 0, err
		}
	}
	if len(c.open) != 0 {
		return 0, errCut
	}
	c.piece.fill(script, &c.bodies[0])
	_, err = take(&c.piece)
	return c.regexps, err
}

// wholeOf is a script but for the line that says what runs it.
func wholeOf(script []byte) body {
	from := 0
	if bytes.HasPrefix(script, []byte("#!")) {
		if from = bytes.IndexAny(script, "\r\n"); from < 0 {
			from = len(script)
		}
	}
	return body{extent: extent{from, len(script)}}
}

// token reads a token, or space.
func (c *cutter) token() error {
	ch := c.script[c.at]
	switch {
	case inWord[ch]:
		c.readWord()
		return nil
	case ch == '\'', ch == '"':
		return c.quoted(ch)
	case ch == '/':
		return c.slash()
	case ch <= ' ':
		c.newLine = c.newLine || ch == '\n' || ch == '\r'
		c.at++
		return nil
	}
	c.at++
	rest := c.script[c.at:]
	arrow := false
	switch ch {
	case '`':
		return c.template()
	case '(':
		c.dropClass()
		if c.isControl() {
			c.push(control)
		} else {
			c.push(group)
		}
	case '[':
		c.push(group)
	case '{':
		c.openBrace()
	case ')', ']', '}':
		if err := c.close(ch); err != nil {
			return err
		}
		if c.closed.kind == substitution {
			return c.template()
		}
	case ':':
		c.dropClass()
	case '.':
		if bytes.HasPrefix(rest, []byte("..")) {
			c.at += 2
			ch = ','
		}
	case '=':
		if arrow = len(rest) > 0 && rest[0] == '>'; arrow {
			if c.at++; c.last != ')' {
				c.params = c.word
			}
		}
	case '+', '-':
		if len(rest) > 0 && rest[0] == ch {
			c.at++
			ch = 'a'
		}
	case '<':
		if bytes.HasPrefix(rest, []byte("!--")) {
			c.skipLine()
			return nil
		}
	}
	c.seen(ch)
	c.arrow = arrow
	return nil
}

// seen notes a token that is no word.
func (c *cutter) seen(last byte) {
	c.last, c.word, c.arrow, c.newLine = last, extent{}, false, false
}

func (c *cutter) push(kind uint8) { c.open = append(c.open, opening{kind, c.at}) }

func (c *cutter) close(ch byte) error {
	k := len(c.open) - 1
	if k < 0 || (ch == '}') != (c.open[k].kind >= block) {
		return errCut
	}
	c.closed, c.open = c.open[k], c.open[:k]
	switch {
	case ch == ')':
		c.params = extent{c.closed.at, c.at - 1}
	case c.closed.kind == functionBody:
		return c.closeBody()
	}
	return nil
}

func (c *cutter) text(e extent) string { return string(c.script[e.from:e.to]) }

// dropClass: the word before is no class, but a name that is one.
func (c *cutter) dropClass() {
	if k := len(c.classes) - 1; k >= 0 && c.classes[k] == len(c.open) && c.text(c.word) == "class" {
		c.classes = c.classes[:k]
	}
}

// isControl: the parenthesis that comes belongs to a statement.
func (c *cutter) isControl() bool {
	if c.dotted {
		return false
	}
	switch c.text(c.word) {
	case "if", "for", "while", "switch", "with", "catch":
		return true
	case "await":
		return c.text(c.before) == "for"
	}
	return false
}

func (c *cutter) openBrace() {
	k := len(c.classes) - 1
	switch {
	case k >= 0 && c.classes[k] == len(c.open):
		c.classes = c.classes[:k]
		c.push(block)
	case c.arrow, c.last == ')' && c.closed.kind == group && !c.newLine:
		c.push(functionBody)
		b := body{extent: extent{from: c.at}}
		if c.simpleParams() {
			b.params = c.params
		}
		c.bodies = append(c.bodies, b)
	case c.word.to > 0 && !c.beforeExpression(), c.last == ')', c.last == ';', c.last == '{', c.last == '}':
		c.push(block)
	default:
		c.push(literal)
	}
}

// simpleParams: the parameters are just identifiers.
func (c *cutter) simpleParams() bool {
	for _, ch := range c.script[c.params.from:c.params.to] {
		if !inWord[ch] && ch != ',' && ch > ' ' {
			return false
		}
	}
	return true
}

// closeBody ends the innermost function, and cuts those in the one around it if that has enough of them.
func (c *cutter) closeBody() error {
	k := len(c.bodies) - 1
	b, up := &c.bodies[k], &c.bodies[k-1]
	b.to = c.at - 1
	b.closed = nil
	up.holes = append(up.holes, b.holes...)
	up.missing += b.missing
	if b.size() >= leastBody {
		up.closed = append(up.closed, *b)
		up.bytes += b.size()
	}
	c.bodies = c.bodies[:k]
	if up.bytes < c.most {
		return nil
	}
	inside := slices.Clone(up.holes[up.before:])
	up.holes = up.holes[:up.before]
	for i := range up.closed {
		b := &up.closed[i]
		c.piece.fill(c.script, b)
		free, err := c.take(&c.piece)
		if err != nil {
			return err
		}
		for len(inside) > 0 && inside[0].from < b.from {
			up.holes, inside = append(up.holes, inside[0]), inside[1:]
		}
		up.holes, inside = append(up.holes, hole{b.extent, free}), inside[len(b.holes):]
		up.missing += b.size()
	}
	up.holes = append(up.holes, inside...)
	clear(up.closed)
	up.closed, up.bytes, up.before = up.closed[:0], 0, len(up.holes)
	return nil
}

// readWord reads an identifier, a keyword or a number.
func (c *cutter) readWord() {
	from := c.at
	number := c.script[from] >= '0' && c.script[from] <= '9'
	for c.at < len(c.script) && (inWord[c.script[c.at]] || number && c.script[c.at] == '.') {
		c.at++
	}
	before, dotted := c.word, c.last == '.'
	c.seen('a')
	c.before, c.word, c.dotted = before, extent{from, c.at}, dotted
	if dotted || c.at-from != 5 {
		return
	}
	switch c.text(c.word) {
	case "class":
		c.classes = append(c.classes, len(c.open))
	case "await":
		c.bodies[len(c.bodies)-1].await = true
	case "yield":
		c.bodies[len(c.bodies)-1].yield = true
	}
}
