package lines

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// Line ends and UTF-16 tell the places of random texts.
func TestCounter(t *testing.T) {
	letters := []string{"a", "b", "some plain letters", "\n", "\n", "\r\n", "é", "漢", "😀", "\xff", "\r"}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 29))
		kinds := letters[:len(letters)-int(seed%2)] // half of them without "\r" alone
		var b strings.Builder
		var starts []int // of letters
		for range r.IntN(60) {
			starts = append(starts, b.Len())
			b.WriteString(kinds[r.IntN(len(kinds))])
		}
		text := b.String()
		c := NewCounter([]byte(text))
		for _, at := range append(starts, len(text), len(text)+1) {
			if r.IntN(3) == 0 {
				continue
			}
			before, rest := text[:min(at, len(text))], text[min(at, len(text)):]
			before = strings.ReplaceAll(before, "\r\n", " \n")
			if strings.HasSuffix(before, "\r") && strings.HasPrefix(rest, "\n") {
				before = before[:len(before)-1] + " "
			}
			before = strings.ReplaceAll(before, "\r", "\n")
			line := strings.Count(before, "\n")
			column := len(utf16.Encode([]rune(before[strings.LastIndexByte(before, '\n')+1:])))
			if got := c.Of(at); got != uint64(line)<<32|uint64(column) {
				t.Fatalf("seed %d: byte %d of %q: line %d, column %d; want %d, %d", seed, at, text, got>>32, uint32(got), line, column)
			}
		}
	}
}
