package parquet

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// words are the different texts of one column of a row group, numbered as they came.
type words struct {
	list  []string
	at    map[string]uint32
	bytes int
}

func newWords() *words { return &words{at: map[string]uint32{}} }

// add gives the number of a text. It keeps a copy.
func (w *words) add(s string) uint32 {
	if n, ok := w.at[s]; ok {
		return n
	}
	return w.keep(strings.Clone(s))
}

// keep is add without a copy.
func (w *words) keep(s string) uint32 {
	if n, ok := w.at[s]; ok {
		return n
	}
	n := uint32(len(w.list))
	w.list = append(w.list, s)
	w.at[s] = n
	w.bytes += len(s) + wordCost
	return n
}

// wordCost is what a word takes beside its bytes: two headers and a place in the map.
const wordCost = 72

func (w *words) reset() {
	clear(w.at)
	clear(w.list)
	w.list, w.bytes = w.list[:0], 0
}

// printable makes UTF-8 of any bytes, as every reader of a STRING column wants it: what is
// none stands as \xNN a byte, and in such a text a backslash stands as two.
func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
