package script

// The library's parser cannot be stopped. What it does to tokens grows with their
// number, but when a scope ends it hands each unresolved identifier to the one around
// it: that grows with identifiers and depth, up to 1000 scopes, in time and in memory.
const (
	// effortPerByte is how often a byte of a script may hand on an identifier:
	// bundles of twenty megabytes, minified or not, do so less than once.
	effortPerByte = 2
	// freeEffort is what a script of any length may spend.
	freeEffort = 1 << 20
)

// isModest reports whether parsing a script takes time and memory in proportion to
// its length. It knows no strings, comments and regular expressions: a bracket in one is a
// bracket. Brackets of real scripts match, mostly; a script that hides brackets to
// mislead it is bounded by maxBundleBytes alone.
func isModest(script []byte) bool {
	type scope struct {
		outside int  // identifiers of the scope around it, so far
		arrow   bool // the body of an arrow function: ends with ',', ';' or the code around it
	}
	var open []scope
	most := freeEffort + effortPerByte*len(script)
	count, effort := 0, 0
	end := func() {
		effort += count
		count += open[len(open)-1].outside
		open = open[:len(open)-1]
	}
	endArrows := func() {
		for len(open) > 0 && open[len(open)-1].arrow {
			end()
		}
	}
	prev := byte(0)
	for _, c := range script {
		switch {
		case inWord[c]:
			if !inWord[prev] && prev != '.' && (c < '0' || c > '9') {
				count++
			}
		case c == '{', c == '(':
			open = append(open, scope{outside: count})
			count = 0
		case c == '}', c == ')':
			if endArrows(); len(open) > 0 {
				end()
			}
		case c == ',', c == ';':
			endArrows()
		case c == '>' && prev == '=':
			open = append(open, scope{count, true})
			count = 0
		}
		if prev = c; effort > most {
			return false
		}
	}
	return true
}

// inWord are the bytes of identifiers and numbers.
var inWord = func() (in [256]bool) {
	for i := range in {
		c := byte(i)
		in[i] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '\\' || c >= 0x80
	}
	return in
}()
