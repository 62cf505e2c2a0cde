// Package script finds the functions of a JavaScript program: where each begins and ends, and what it is
// called. A name consists of text and of identifiers of the script; the caller may know how its source spells those.
//
// Names are written as engines print them: f, a.b.c for a function that is assigned to it, Class.method, Class.#method,
// get Class.member, new Class, <object>.key. In bundles of Metro they are written as Metro writes them in its
// function maps: Class#method, Class.static, get__x, f$argument_0 for an argument of f.
//
// The scanner reads tokens once, front to back, and keeps no syntax tree. It knows which tokens begin and end
// expressions, statements and functions, and passes over what it does not know. Time grows with the script's length;
// memory holds the functions' places and names. A script whose brackets do not match has no functions, which costs
// the names alone.
package script

import "bytes"

// Functions returns the functions of a script, at most most of them, in the order of their places: a function before the
// functions in it. nil: the script's brackets do not match, or it has no functions or too many.
func Functions(script []byte, most int) *List {
	p := &parser{lexer: lexer{script: script}, functions: newFunctionList(script, most)}
	p.metro = isMetro(script)
	p.run()
	l := p.functions
	if p.failed || l.full || len(l.Placed) == 0 {
		return nil
	}
	l.sort()
	l.Aliases = p.privates.aliasesOf(l.Parts)
	return l
}

// isMetro reports whether Metro made the bundle.
func isMetro(script []byte) bool {
	for _, mark := range []string{"__d(function", "__d((function", "__d(async function"} {
		if bytes.Contains(script, []byte(mark)) {
			return true
		}
	}
	return false
}
