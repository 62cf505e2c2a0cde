package demangle

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// legacyRust reads a name of Rust's first mangling: a nested name of the
// Itanium ABI with a last part of "h" and 16 hex digits. Written here because
// the library drops underscores that belong to the name ("_open"). The hash is
// left out; a suffix behind the name is kept, as for clones of C++.
func legacyRust(mangled string) (string, bool) {
	rest, ok := strings.CutPrefix(mangled, "_ZN")
	if !ok || !mayEndInHash(rest) {
		return "", false
	}
	var out strings.Builder
	for {
		digits := 0
		for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
			digits++
		}
		n, err := strconv.ParseUint(rest[:digits], 10, 31)
		if err != nil || n == 0 || n > uint64(len(rest)-digits) {
			return "", false
		}
		part := rest[digits : digits+int(n)]
		rest = rest[digits+int(n):]
		if isHash(part) && strings.HasPrefix(rest, "E") {
			if suffix := rest[1:]; suffix != "" {
				if suffix[0] != '.' {
					return "", false
				}
				out.WriteString(" (" + suffix + ")")
			}
			return out.String(), out.Len() > 0
		}
		if out.Len() > 0 {
			out.WriteString("::")
		}
		if !legacyPart(&out, part) {
			return "", false
		}
	}
}

// mayEndInHash is a look that nearly all names of C++ do not pass: the hash is at the end, or a dot is behind it.
func mayEndInHash(rest string) bool {
	const length = len("17h0123456789abcdefE")
	if n := len(rest) - length; n >= 0 && rest[n:n+3] == "17h" {
		return true
	}
	return strings.IndexByte(rest, '.') >= 0
}

func isHash(part string) bool {
	if len(part) != 17 || part[0] != 'h' {
		return false
	}
	return strings.Trim(part[1:], "0123456789abcdef") == ""
}

// legacyPart undoes the escapes of one part of a path.
func legacyPart(out *strings.Builder, part string) bool {
	if strings.HasPrefix(part, "_$") { // a part cannot begin with the dollar sign
		part = part[1:]
	}
	for part != "" {
		switch part[0] {
		case '.':
			if strings.HasPrefix(part, "..") {
				out.WriteString("::")
				part = part[2:]
			} else {
				out.WriteByte('.')
				part = part[1:]
			}
		case '$':
			escape, after, ok := strings.Cut(part[1:], "$")
			if !ok || !legacyEscape(out, escape) {
				return false
			}
			part = after
		default:
			n := strings.IndexAny(part, ".$")
			if n < 0 {
				n = len(part)
			}
			out.WriteString(part[:n])
			part = part[n:]
		}
	}
	return true
}

func legacyEscape(out *strings.Builder, escape string) bool {
	switch escape {
	case "SP":
		out.WriteByte('@')
	case "BP":
		out.WriteByte('*')
	case "RF":
		out.WriteByte('&')
	case "LT":
		out.WriteByte('<')
	case "GT":
		out.WriteByte('>')
	case "LP":
		out.WriteByte('(')
	case "RP":
		out.WriteByte(')')
	case "C":
		out.WriteByte(',')
	default: // u and the code of a character
		code, err := strconv.ParseUint(strings.TrimPrefix(escape, "u"), 16, 32)
		if err != nil || !strings.HasPrefix(escape, "u") || !utf8.ValidRune(rune(code)) || unicode.IsControl(rune(code)) {
			return false
		}
		out.WriteRune(rune(code))
	}
	return true
}
