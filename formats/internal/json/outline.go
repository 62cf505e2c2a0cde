package json

import "slices"

// Extent says how far a value goes.
type Extent uint8

// The extents.
const (
	GoesOn  Extent = iota
	Whole          // the value ended
	Cut            // a line ended within a string, or the value is odd and its line ended
	NoPart         // the byte at hand can be no part of the value
	element        // an element of the container that is taken apart ended
	closed         // the container that is taken apart ended
)

// outline follows the brackets and strings of a value that arrives in pieces. It keeps no text, and it
// needs no more memory for deeper values.
//
// It takes more than JSON: comments, commas too many, words such as NaN, numbers of any spelling. A value in one line may be
// odder still, if it once had a name with a colon. In a value of several lines such an oddity is no part of it: a value
// that was cut ends where other text begins.
type outline struct {
	level int // containers that are taken apart: the ends of their elements are told
	depth int // open containers
	at    int64
	start int64           // of the element that ended last
	opens [MaxDepth]int64 // where the outermost open containers begin

	quoted, escaped, lined bool  // in a string; behind a backslash of it; it has an escaped line end
	from                   int64 // of the string
	last                   byte  // outside of strings, that is no space
	word                   []byte
	comment                byte // '/' may begin one, 'l' ends with its line, 'b' is one of a block, '*' may end it
	inner                  bool // all of the text is known to be a part of a value
	lines                  bool // it has several lines
	named                  bool // it has a member
	loose                  bool // it is odd: it ends with its line
}

// plainLetters are the bytes of strings that need no look.
var plainLetters = func() (plain [256]bool) {
	for i := range plain {
		plain[i] = i != '"' && i != '\\' && i != '\n'
	}
	return plain
}()

// next passes bytes of b up to the end of something, which it returns with their number.
func (o *outline) next(b []byte) (n int, e Extent) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if o.quoted {
			if !o.escaped && plainLetters[c] {
				for i+1 < len(b) && plainLetters[b[i+1]] {
					i++
				}
				continue
			}
			if e = o.inString(c, o.at+int64(i)); e == GoesOn {
				continue
			}
		} else if e = o.outside(c, o.at+int64(i)); e == GoesOn {
			continue
		}
		if e != NoPart {
			i++
		}
		o.at += int64(i)
		return i, e
	}
	o.at += int64(len(b))
	return len(b), GoesOn
}

// inString takes a byte of a string, at an offset.
func (o *outline) inString(c byte, at int64) Extent {
	switch {
	case o.escaped:
		o.escaped = false
		o.lined = o.lined || c == 'n'
	case c == '\\':
		o.escaped = true
	case c == '"':
		o.quoted, o.last = false, '"'
		if o.level > 0 && o.depth == o.level && o.lined {
			o.start = o.from
			return element
		}
	case c == '\n' && !o.inner:
		return Cut
	}
	return GoesOn
}

// outside takes a byte outside of strings, at an offset.
func (o *outline) outside(c byte, at int64) Extent {
	if o.comment != 0 && o.inComment(c) {
		return GoesOn
	}
	if len(o.word) > 0 && !isWordByte(c) {
		odd := !isValueWord(o.word)
		if o.word = o.word[:0]; odd && !o.odd() {
			return NoPart
		}
	}
	switch c {
	case ' ', '\t', '\r', recordMark:
		return GoesOn
	case '\n':
		if o.loose && !o.inner {
			return Cut
		}
		o.lines = true
		return GoesOn
	case '"':
		if !o.mayBegin() && !o.odd() {
			return NoPart
		}
		o.quoted, o.lined, o.from = true, false, at
		return GoesOn
	case '{', '[':
		if o.depth > 0 && !o.mayBegin() && !o.odd() {
			return NoPart
		}
		if o.depth < len(o.opens) {
			o.opens[o.depth] = at
		}
		o.depth++
	case '}', ']':
		return o.close(c)
	case ',':
	case ':':
		o.named = o.named || o.last == '"'
	case '/':
		o.comment = c
		return GoesOn
	default:
		return o.letter(c)
	}
	o.last = c
	return GoesOn
}

// close takes a closing bracket.
func (o *outline) close(c byte) Extent {
	o.last = c
	o.depth--
	switch {
	case o.depth <= 0:
		return Whole
	case o.depth < o.level:
		return closed
	case o.depth == o.level && o.level > 0:
		if o.depth < len(o.opens) {
			o.start = o.opens[o.depth]
		}
		return element
	}
	return GoesOn
}

// letter takes a byte that is no mark of JSON.
func (o *outline) letter(c byte) Extent {
	const longest = 40
	switch {
	case c >= 0x80: // a space of a page, or a mark of the byte order
	case isWordByte(c):
		if len(o.word) == 0 && !o.mayBegin() && !o.odd() {
			return NoPart
		}
		if len(o.word) < longest {
			o.word = append(o.word, c)
		}
		o.last = 'a'
	case !o.odd():
		return NoPart
	}
	return GoesOn
}

// inComment takes a byte of a comment, or the byte behind a slash that begins none; false: it is none of a comment.
func (o *outline) inComment(c byte) bool {
	switch o.comment {
	case '/':
		switch c {
		case '/':
			o.comment = 'l'
			return true
		case '*':
			o.comment = 'b'
			return true
		}
		o.comment = 0
		o.loose = o.loose || o.named && !o.lines
		return false
	case 'l':
		if c == '\n' {
			o.comment = 0
			return false
		}
	case 'b':
		if c == '*' {
			o.comment = '*'
		}
	case '*':
		if c == '/' {
			o.comment = 0
		} else if c != '*' {
			o.comment = 'b'
		}
	}
	return true
}

// mayBegin reports whether a value or a name may stand at hand.
func (o *outline) mayBegin() bool {
	return o.last == ',' || o.last == ':' || o.last == '{' || o.last == '['
}

// odd reports whether the value may go on behind an oddity.
func (o *outline) odd() bool {
	if o.inner {
		return true
	}
	if o.named && !o.lines {
		o.loose = true
	}
	return o.loose
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.'
}

// valueWords are words that programs write for values, beside numbers.
var valueWords = []string{"true", "false", "null", "NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "-inf", "Inf", "-Inf", "True", "False", "None", "undefined"}

// isValueWord reports whether a word is a value.
func isValueWord(word []byte) bool {
	c := word[0]
	if len(word) > 1 && (c == '-' || c == '+' || c == '.') {
		c = word[1]
	}
	return c >= '0' && c <= '9' || c == '.' || slices.Contains(valueWords, string(word))
}
