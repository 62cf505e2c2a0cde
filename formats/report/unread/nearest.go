package unread

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// Form is a form of report with a line of it.
type Form struct {
	Name string
	Line string
}

// Forms returns the forms of dialects that are lines of text, each with the line that it shows as its example.
func Forms(dialects []report.Dialect) (forms []Form) {
	for i := range dialects {
		for _, f := range dialects[i].Forms {
			if line := example(f.Lines); line != "" {
				forms = append(forms, Form{f.Name, line})
			}
		}
	}
	return forms
}

// example returns the line that Form.Lines begins with, without the words behind it; "" if it begins with words.
func example(lines string) string {
	for _, words := range []string{" of ", " below ", " above ", " beside ", " behind ", " as ", " with ", ", ", "; "} {
		lines, _, _ = strings.Cut(lines, words)
	}
	if !strings.ContainsAny(lines, "0123456789") {
		return ""
	}
	return lines
}

const (
	// nearestLines of an input are compared with the examples.
	nearestLines = 200
	// leastLikeness is how many of the pieces of two lines are equal, of 100, if they are near.
	leastLikeness = 50
	// pieceBytes of a line's shape are one piece.
	pieceBytes = 3
)

// Nearest returns the form with the line that is most like a line of text; ok is false if none is near.
func Nearest(text []byte, forms []Form) (nearest Form, ok bool) {
	best := leastLikeness - 1
	shapes := make([]string, len(forms))
	for i := range forms {
		shapes[i] = shape([]byte(forms[i].Line))
	}
	for n := 0; n < nearestLines && len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		s := shape(line)
		if !strings.ContainsAny(s, "9x") {
			continue
		}
		for i := range forms {
			if like := likeness(s, shapes[i]); like > best {
				best, nearest, ok = like, forms[i], true
			}
		}
	}
	return nearest, ok
}

// shape returns a line's shape: "9" for a number, "x" for a hexadecimal one, "a" for a word but of two letters, one
// space for spaces, "(" and ")" for brackets, and all else unchanged. It is at most 120 bytes long.
func shape(line []byte) string {
	const longest = 120
	var out []byte
	line = bytes.TrimSpace(line)
	for p := 0; p < len(line) && len(out) < longest; {
		c := line[p]
		end := p
		for end < len(line) && isWord(line[end]) {
			end++
		}
		word := line[p:end]
		switch {
		case end == p:
			if !scan.IsSpace(c) || out[len(out)-1] != ' ' {
				out = append(out, bracket(c))
			}
			end++
		case bytes.HasPrefix(word, scan.HexMark), len(word) >= 8 && isHex(word):
			out = append(out, 'x')
		case isDecimal(word):
			out = append(out, '9')
		case len(word) == 2:
			out = append(out, word...)
		default:
			out = append(out, 'a')
		}
		p = end
	}
	return string(out)
}

// bracket returns "(" or ")" for a bracket of any kind, else c.
func bracket(c byte) byte {
	switch c {
	case '[', '<', '{':
		return '('
	case ']', '>', '}':
		return ')'
	}
	return c
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c == '/' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isHex(word []byte) bool {
	return !bytes.ContainsFunc(word, func(r rune) bool { return r >= 0x80 || scan.HexDigit(byte(r)) < 0 })
}

func isDecimal(word []byte) bool {
	return !bytes.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// likeness returns how many of the pieces of two shapes are equal, of 100.
func likeness(a, b string) int {
	pieces := map[string]int{}
	for i := 0; i+pieceBytes <= len(a); i++ {
		pieces[a[i:i+pieceBytes]]++
	}
	equal := 0
	for i := 0; i+pieceBytes <= len(b); i++ {
		if piece := b[i : i+pieceBytes]; pieces[piece] > 0 {
			pieces[piece]--
			equal++
		}
	}
	total := max(0, len(a)-pieceBytes+1) + max(0, len(b)-pieceBytes+1)
	if total == 0 {
		return 0
	}
	return 200 * equal / total
}
