package input

import (
	"bytes"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/scan"
)

// Unescape returns a line with its escapes replaced once. Escapes of nothing known stay as they stand. The text
// of a string in quotes that has line ends stands in lines of its own.
func Unescape(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		if line[i] != '"' {
			n := 0
			out, n = appendUnescaped(out, line[i:])
			i += n
			continue
		}
		end := stringEnd(line, i+1)
		if !bytes.Contains(line[i:end], []byte(`\n`)) {
			out = append(out, line[i:end]...)
			i = end
			continue
		}
		out = append(out, '"', '\n')
		for i++; i < end-1; {
			n := 0
			out, n = appendUnescaped(out, line[i:end-1])
			i += n
		}
		if out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
	}
	return out
}

// stringEnd returns the index behind the quote that ends the string from p on. Without one it returns p: the quote
// before p begins no string.
func stringEnd(line []byte, p int) int {
	for i := p; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return p
}

// appendUnescaped appends the first letter of b, or what its first escape stands for, and returns how many bytes of b
// that took.
func appendUnescaped(out, b []byte) (to []byte, size int) {
	if b[0] != '\\' || len(b) == 1 {
		return append(out, b[0]), 1
	}
	switch b[1] {
	case 'n':
		return append(out, '\n'), 2
	case 't':
		return append(out, '\t'), 2
	case 'r': // a "\n" follows
		return out, 2
	case '"', '\\', '/', '\'':
		return append(out, b[1]), 2
	case 'u':
		const whole = len(`\u0000`)
		if len(b) < whole {
			break
		}
		if v, end, ok := scan.Hex(b[2:whole], 0); ok && end == whole-2 {
			return utf8.AppendRune(out, rune(v)), whole
		}
	}
	return append(out, b[:2]...), 2
}
