package source

import (
	"bytes"
	"strconv"
)

// Names as V8 prints them, and as the scopes of a minified script are called.
const (
	// Global is the name of the code outside all functions.
	Global = "<global>"
	// Anonymous is the name of a function without one.
	Anonymous = "<anonymous>"

	object   = "<object>"
	computed = "<computed>"
	instance = "<instance_members_initializer>"
	static   = "<static_initializer>"
)

// mostName is the longest name that is kept, in bytes.
const mostName = 1000

// mostParts is the most parts of a name that is kept.
const mostParts = 100

// none is no part.
const none = int32(-1)

// Kinds of parts of names.
const (
	partWord     = iota // text as it stands
	partChain           // a.b["c"]: what a function is assigned to
	partKey             // a property of up, or of an object without a name
	partMember          // a member of the class that up names
	partDefault         // export default
	partInstance        // the values of the fields of class up
	partStatic          // its static blocks and values
)

// part is a part of a name. It stands behind the part up.
type part struct {
	kind     uint8
	up       int32
	from, to int32 // bytes of the source
}

func (p *parser) part(kind uint8, up, from, to int32) int32 {
	p.parts = append(p.parts, part{kind, up, from, to})
	return int32(len(p.parts) - 1)
}

// appendName appends the name of a function that stands where the part says, and may have a name of its own.
func (p *parser) appendName(to []byte, at int32, own token) []byte {
	if own.kind == kindWord {
		if at != none && p.parts[at].kind == partKey && p.parts[at].up != none {
			to = append(p.appendPart(to, p.parts[at].up, 0), '.')
		}
		return appendWord(to, p.text(own))
	}
	if at == none {
		return append(to, Anonymous...)
	}
	return p.appendPart(to, at, 0)
}

func (p *parser) appendPart(to []byte, at int32, depth int) []byte {
	n := &p.parts[at]
	switch n.kind {
	case partDefault:
		return append(to, "default"...)
	case partWord:
		return appendWord(to, p.src[n.from:n.to])
	case partChain:
		return p.appendChain(to, n.from, n.to)
	}
	switch {
	case depth > mostParts:
		return append(to, make([]byte, mostName+1)...) // no name is that long
	case n.up != none:
		to = p.appendPart(to, n.up, depth+1)
		to = append(to, '.')
	case n.kind == partKey:
		to = append(append(to, object...), '.')
	}
	switch n.kind {
	case partInstance:
		return append(to, instance...)
	case partStatic:
		return append(to, static...)
	}
	return p.appendKey(to, n.from, n.to)
}

// appendWord appends an identifier, without its escapes.
func appendWord(to, word []byte) []byte {
	for {
		i := bytes.IndexByte(word, '\\')
		if i < 0 {
			return append(to, word...)
		}
		to = append(to, word[:i]...)
		word = word[i+1:]
		if len(word) == 0 || word[0] != 'u' {
			continue
		}
		hex, rest := word[1:], []byte(nil)
		if len(hex) > 0 && hex[0] == '{' {
			hex, rest, _ = bytes.Cut(hex[1:], []byte{'}'})
		} else {
			n := min(4, len(hex))
			hex, rest = hex[:n], hex[n:]
		}
		if r, err := strconv.ParseUint(string(hex), 16, 32); err == nil {
			to = append(to, string(rune(r))...)
		}
		word = rest
	}
}

// appendKey appends the name of a property.
func (p *parser) appendKey(to []byte, from, until int32) []byte {
	key := p.src[from:until]
	if len(key) == 0 {
		return append(to, computed...)
	}
	switch key[0] {
	case '"', '\'':
		return append(to, bytes.Trim(key, string(key[:1]))...)
	case '[':
		key = bytes.TrimSpace(key[1:max(1, len(key)-1)])
		switch {
		case len(key) > 1 && (key[0] == '"' || key[0] == '\'') && bytes.IndexByte(key[1:], key[0]) == len(key)-2:
			return append(to, key[1:len(key)-1]...)
		case bytes.HasPrefix(key, []byte("Symbol.")) && onlyWords(key):
			return append(append(append(to, '['), key...), ']')
		}
		return append(to, computed...)
	}
	return appendWord(to, key)
}

func onlyWords(b []byte) bool {
	for _, c := range b {
		if !inWord[c] && c != '.' {
			return false
		}
	}
	return true
}

// keyEnd is the length of the key in brackets that b begins with.
func (p *parser) keyEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if n := bytes.IndexByte(b[i+1:], b[i]); n >= 0 {
				i += n + 1
			}
		}
	}
	return len(b)
}

// appendChain appends what a function is assigned to, in one spelling: a["b"] is a.b.
func (p *parser) appendChain(to []byte, from, until int32) []byte {
	src := p.src[from:until]
	if bytes.IndexByte(src, '\\') >= 0 {
		return appendWord(to, src)
	}
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '/':
			behind, _ := p.comment(int(from)+i, false)
			i = max(i, behind-int(from)-1)
		case classes[c] == classSpace || classes[c] == classLine || c == '?' || c == '!':
		case c == '[':
			n := p.keyEnd(src[i:])
			to = p.appendKey(append(to, '.'), from+int32(i), from+int32(i+n))
			i += n - 1
		default:
			to = append(to, c)
		}
	}
	return to
}
