package input

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/symlake/symlake/formats/internal/scan"
)

// The byte order marks of texts.
var (
	markUTF8     = []byte{0xef, 0xbb, 0xbf}
	markUTF16Big = []byte{0xfe, 0xff}
	markUTF16    = []byte{0xff, 0xfe}
)

// Decoded returns a reader of in's text in UTF-8 and without a byte order mark. It knows UTF-16 of both
// orders by its mark, or by the zeros of its first letters. Any other input it returns unchanged.
func Decoded(in *bufio.Reader) *bufio.Reader {
	head, _ := in.Peek(HeadBytes) // the error is told where the text is read
	switch {
	case bytes.HasPrefix(head, markUTF8):
		_, _ = in.Discard(len(markUTF8))
		return in
	case bytes.HasPrefix(head, markUTF16), wide(head, 1):
		return Buffered(wideText(in, unicode.LittleEndian))
	case bytes.HasPrefix(head, markUTF16Big), wide(head, 0):
		return Buffered(wideText(in, unicode.BigEndian))
	}
	return in
}

// wideText returns a reader of a text in UTF-16. It takes the byte order from the text's mark, if there is one.
func wideText(in io.Reader, order unicode.Endianness) io.Reader {
	return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(in)
}

// wide reports whether head begins a text in UTF-16 without a mark: at least four letters of ASCII, and a
// zero beside each of them. zero is the place of the zero in a letter: 0 or 1.
func wide(head []byte, zero int) bool {
	const letters = 4
	if len(head) < 2*letters {
		return false
	}
	for i := 0; i+1 < len(head); i += 2 {
		letter := head[i+1-zero]
		if head[i+zero] != 0 || letter >= utf8.RuneSelf || letter < ' ' && letter != '\t' && letter != '\r' && letter != '\n' {
			return false
		}
	}
	return true
}

// Plain returns text in UTF-8, as scan.Plain returns it. Without anything to change it returns text itself.
func Plain(text []byte) []byte {
	if utf8.Valid(text) {
		return scan.Plain(text)
	}
	var decoded []byte
	for rest := text; len(rest) > 0; {
		n := scan.NextLine(rest)
		if n == 0 {
			n = len(rest)
		}
		decoded = append(decoded, fromLatin(rest[:n])...)
		rest = rest[n:]
	}
	return scan.Plain(decoded)
}

// fromLatin returns a line in UTF-8. A line is in Latin-1, as Windows extends it, if it has letters beyond
// ASCII and none of them is UTF-8. A line of both, or with a letter that was cut at its end, stays unchanged.
func fromLatin(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	text := scan.TrimEnd(line)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			if !utf8.FullRune(text[i:]) && (len(text) == len(line) || len(text)-i > 1) { // it was cut
				return line
			}
		case n > 1, r < ' ' && r != '\t' && r != '\r' && r != 0x1b:
			return line
		}
		i += n
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(line)
	if err != nil {
		return line
	}
	return out
}
