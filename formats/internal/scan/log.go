package scan

import "bytes"

// maxTagBytes bounds a log's tag. Android cuts tags at 23 bytes, other writers do not.
const maxTagBytes = 256

// LogPrefix returns the length of the prefix that Android's logs put before a message, 0 if the line
// has none. The forms are logcat's and Android Studio's:
//
//	02-03 10:11:12.300  4300  4300 F DEBUG   : message     threadtime; year, zone and uid may be there too
//	02-03 10:11:12.300 F/DEBUG   ( 4300): message          time
//	F/DEBUG   ( 4300): message                             brief; without the number: tag
//	F DEBUG   : message                                    as copied from consoles
//	2025-02-03 10:11:12.300 4300-4300/com.example F/DEBUG: message
//	2025-02-03 10:11:12.300  4300-4300  DEBUG   com.example   F  message
//
// A sequence that sets a terminal's color may stand before it, as `logcat -v color` prints it.
func LogPrefix(b []byte) int {
	colors := Colors(b)
	p := colors + dateBytes(b[colors:])
	dated := p > colors
	if !dated && p < len(b) && IsSpace(b[p]) {
		return 0
	}
	for field := range 7 { // uid, pid, tid, tag, package, and two to spare
		p = SkipSpace(b, p)
		end := p
		for end < len(b) && !IsSpace(b[end]) {
			end++
		}
		switch {
		case end == p:
			return 0
		case isLevel(b[p]) && end > p+1 && b[p+1] == '/':
			return tagEnd(b, p+2)
		case isLevel(b[p]) && end == p+1 && field >= 3 && bytes.HasPrefix(b[end:], []byte("  ")):
			return end + 2
		case isLevel(b[p]) && end == p+1:
			return tagEnd(b, end)
		case !dated: // then the level comes first
			return 0
		}
		p = end
	}
	return 0
}

// Colors returns the length of the sequences at the beginning of b that set a terminal's colors, such
// as "\x1b[38;5;196m".
func Colors(b []byte) int {
	p := 0
	for bytes.HasPrefix(b[p:], colorBegins) {
		end := p + len(colorBegins)
		for end < len(b) && (b[end] == ';' || '0' <= b[end] && b[end] <= '9') {
			end++
		}
		if end == len(b) || b[end] != 'm' {
			break
		}
		p = end + 1
	}
	return p
}

var colorBegins = []byte("\x1b[")

// WithoutColors returns b without the sequences at its end that set a terminal's colors.
func WithoutColors(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 'm' {
		i := bytes.LastIndex(b, colorBegins)
		if i < 0 || Colors(b[i:]) != len(b)-i {
			break
		}
		b = b[:i]
	}
	return b
}

// dateBytes returns the length of "[YYYY-]MM-DD HH:MM:SS.fraction" with the space behind it, 0 if the
// line does not begin with a date.
func dateBytes(b []byte) int {
	p := shapeBytes(b, "0000-")
	n := shapeBytes(b[p:], "00-00 00:00:00.000")
	if n == 0 {
		return 0
	}
	for p += n; p < len(b) && !IsSpace(b[p]); p++ { // micro- and nanoseconds
		if b[p] < '0' || b[p] > '9' {
			return 0
		}
	}
	return SkipSpace(b, p)
}

// shapeBytes returns the length of shape if b begins with it, else 0. A 0 in shape means any digit.
func shapeBytes(b []byte, shape string) int {
	if len(b) < len(shape) {
		return 0
	}
	for i := range len(shape) {
		if digit := '0' <= b[i] && b[i] <= '9'; shape[i] == '0' && !digit || shape[i] != '0' && b[i] != shape[i] {
			return 0
		}
	}
	return len(shape)
}

func isLevel(c byte) bool { return bytes.IndexByte([]byte("VDIWEFAS"), c) >= 0 }

// smallColon is the colon of Android Studio before its second version.
const smallColon = "\ufe55"

// tagEnd returns the index where the message begins behind "TAG: " or "TAG(PID): ", 0 if b[p:] is no
// tag.
func tagEnd(b []byte, p int) int {
	for i := p; i < len(b) && i < p+maxTagBytes; i++ {
		switch b[i] {
		case ':':
			if i+1 == len(b) || IsSpace(b[i+1]) {
				return min(i+2, len(b))
			}
			return 0
		case smallColon[0]:
			if rest := b[i:]; len(rest) > len(smallColon) && string(rest[:len(smallColon)]) == smallColon && IsSpace(rest[len(smallColon)]) {
				return i + len(smallColon) + 1
			}
		case '(':
			_, end, ok := Digits(b, SkipSpace(b, i+1))
			if !ok || end == len(b) || b[end] != ')' {
				return 0
			}
			i = end
		}
	}
	return 0
}
