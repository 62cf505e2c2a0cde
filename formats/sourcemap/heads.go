package sourcemap

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
)

// headFinder finds the heads of a script's functions: where segments begin that map to the head of a function of a source.
type headFinder struct {
	script []byte
	heads  []origin.Head
}

// mostHead is how many bytes of a head are looked at before the parameters.
const mostHead = 256

// add adds the heads of function of, with parameters from offset start on, at position at.
func (h *headFinder) add(start int, at uint64, of int32) {
	put := func(offset int) { h.heads = append(h.heads, origin.Head{At: at - uint64(start-offset), Of: of}) }
	put(start)
	if h.script[start] == '(' {
		put(start + 1)
	}
	i, end := start, max(0, start-mostHead, start-int(uint32(at)))
	for words := 0; words < 4; words++ {
		for i > end && (h.script[i-1] == ' ' || h.script[i-1] == '*') {
			i--
		}
		to := i
		for i > end && inHead(h.script[i-1]) {
			i--
		}
		if i == to || i == end && end > 0 {
			return
		}
		word := string(h.script[i:to])
		if words > 0 && !beforeName(word) {
			return
		}
		put(i)
		if word == "function" {
			words = max(words, 1) // only async stands before it
		}
	}
}

// beforeName: the word stands before the name of a function.
func beforeName(word string) bool {
	switch word {
	case "function", "async", "get", "set", "static":
		return true
	}
	return false
}

// inHead: the byte is of an identifier; of another script than ASCII, columns would be other numbers.
func inHead(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '#'
}

// sorted gives the heads in the order of their positions.
func (h *headFinder) sorted() []origin.Head {
	slices.SortStableFunc(h.heads, func(a, b origin.Head) int { return cmp.Compare(a.At, b.At) })
	return h.heads
}
