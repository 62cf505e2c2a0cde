package script

import (
	"bytes"
	"slices"
)

// Name returns the part of a function's name, as an engine prints it, that tells one function from others: without the name
// that a method was called by, "f" of "f [as g]". nil: the name says nothing, as <anonymous>, or is as short as those of a minifier.
func Name(printed []byte) []byte {
	name, _, _ := bytes.Cut(printed, []byte(" [as "))
	for rest := name; len(rest) > 0; {
		word := rest
		if end := bytes.IndexAny(rest, "./<>()*#@ "); end >= 0 {
			word, rest = rest[:end], rest[end+1:]
		} else {
			rest = nil
		}
		if len(word) >= leastWord && !slices.Contains(empty, string(word)) && !isNumber(word) {
			return name
		}
	}
	return nil
}

// leastWord is how long a word is that somebody chose. Minifiers give names of one and two letters.
const leastWord = 3

// empty are the words of names that say nothing of a function.
var empty = []string{"Array", "Function", "Module", "Object", "Promise", "Proxy", "Window", "anonymous", "async", "code", "computed", "eval", "function", "get", "global", "globalThis",
	"module", "native", "new", "null", "object", "promise", "set", "then", "undefined", "unknown", "window"}

func isNumber(word []byte) bool { return len(bytes.Trim(word, "0123456789")) == 0 }
