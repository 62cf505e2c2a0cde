package msvc

import (
	"strconv"
	"strings"
)

// maxLiteral is how many bytes of a string a name holds: compilers write 32, and some have written more.
const maxLiteral = 128

// constant reads the name of a string constant: its kind, size, checksum and first bytes.
func (r *reader) constant() ref {
	if !r.acceptText("@_") {
		return r.fail()
	}
	wide := false
	switch r.take() {
	case '1':
		wide = true
	case '0':
	default:
		return r.fail()
	}
	size, negative := r.natural()
	sum := strings.IndexByte(r.left(), '@')
	if r.failed || negative || size == 0 || wide && size < 2 || sum < 0 {
		return r.fail()
	}
	if r.pos += sum + 1; r.pos >= len(r.in) {
		return r.fail()
	}
	from := len(r.text)
	cut := false
	if wide {
		cut = r.wide(size)
	} else {
		cut = r.narrow(size)
	}
	r.text = append(r.text, '"')
	if cut {
		r.text = append(r.text, "..."...)
	}
	return r.push(node{kind: kString, from: int32(from), to: int32(len(r.text))})
}

// wide writes a string of wchar_t.
func (r *reader) wide(size uint64) (cut bool) {
	cut = size > 64
	r.text = append(r.text, 'L', '"')
	for !r.accept('@') {
		if size%2 != 0 || size == 0 {
			r.failed = true
		}
		c := uint32(r.char())<<8 | uint32(r.char())
		if r.failed {
			return false
		}
		if size != 2 || cut {
			r.escape(c)
		}
		size -= 2
	}
	return cut
}

// narrow writes a string of char, char16_t or char32_t. Its bytes tell which.
func (r *reader) narrow(size uint64) (cut bool) {
	var room [maxLiteral]byte
	data := room[:0]
	for !r.accept('@') {
		if len(data) == maxLiteral {
			r.failed = true
		}
		c := r.char()
		if r.failed {
			return false
		}
		data = append(data, c)
	}
	cut = size > uint64(len(data))
	width := charWidth(data, size)
	r.text = append(r.text, [...]string{1: `"`, 2: `u"`, 4: `U"`}[width]...)
	for i, n := 0, len(data)/width; i < n; i++ {
		var c uint32
		for k := range width {
			c |= uint32(data[i*width+k]) << (8 * k)
		}
		if i+1 < n || cut {
			r.escape(c)
		}
	}
	return cut
}

// charWidth guesses the bytes of a character: by the zeros at the end of a whole string, else by how many zeros there are.
func charWidth(data []byte, size uint64) int {
	if size%2 == 1 {
		return 1
	}
	zeros := 0
	if size < 32 {
		for zeros < len(data) && data[len(data)-1-zeros] == 0 {
			zeros++
		}
		switch {
		case zeros >= 4 && size%4 == 0:
			return 4
		case zeros >= 2:
			return 2
		}
		return 1
	}
	for _, b := range data {
		if b == 0 {
			zeros++
		}
	}
	switch {
	case zeros >= 2*len(data)/3 && size%4 == 0:
		return 4
	case zeros >= len(data)/3:
		return 2
	}
	return 1
}

// char reads a byte of a string.
func (r *reader) char() byte {
	c := r.take()
	if c != '?' {
		return c
	}
	switch c = r.take(); {
	case c == '$':
		high, low := r.take(), r.take()
		if high < 'A' || high > 'P' || low < 'A' || low > 'P' {
			r.failed = true
		}
		return (high-'A')<<4 | (low - 'A')
	case isDigit(c):
		return ",/\\:. \n\t'-"[c-'0']
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return c + 0x80
	}
	r.failed = true
	return 0
}

// escape writes a character as C's source has it.
func (r *reader) escape(c uint32) {
	switch c {
	case 0:
		r.text = append(r.text, `\0`...)
	case '\'', '"', '\\':
		r.text = append(r.text, '\\', byte(c))
	case '\a', '\b', '\t', '\n', '\v', '\f', '\r':
		r.text = append(r.text, '\\', "abtnvfr"[c-'\a'])
	default:
		if c > 0x1f && c < 0x7f {
			r.text = append(r.text, byte(c))
			return
		}
		r.text = append(r.text, '\\', 'x')
		digits := strings.ToUpper(strconv.FormatUint(uint64(c), 16))
		if len(digits)%2 == 1 {
			r.text = append(r.text, '0')
		}
		r.text = append(r.text, digits...)
	}
}
