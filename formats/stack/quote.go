package stack

import "bytes"

// quoteBytes is the length of the marks, and of the space before and between them, that a mail
// or a page puts before the lines of what it quotes: "> ", ">> ", "> > "; 0 if there are none.
func quoteBytes(b []byte) int {
	for p := skipSpace(b, 0); p < len(b) && b[p] == '>'; p = skipSpace(b, p+1) {
		if p+1 == len(b) || b[p+1] != '>' && !bytes.HasPrefix(b[p+1:], []byte(" >")) {
			return p + 1
		}
	}
	return 0
}

// unquoted is b, which begins a line, with the marks of quoted lines as spaces, so that what
// stands behind them stands where it stood; b itself if it has none.
func unquoted(b []byte) []byte {
	var plain []byte
	for at := 0; at < len(b); {
		if n := quoteBytes(b[at:]); n > 0 {
			if plain == nil {
				plain = bytes.Clone(b)
			}
			for i := at; i < at+n; i++ {
				plain[i] = ' '
			}
		}
		next := bytes.IndexByte(b[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	if plain == nil {
		return b
	}
	return plain
}
