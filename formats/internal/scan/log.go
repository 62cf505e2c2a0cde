package scan

import "bytes"

// maxTagBytes bounds a log's tag; Android cuts them at 23 bytes, other
// writers do not.
const maxTagBytes = 256

// LogPrefix is the length of what Android's logs put before a message, 0 if
// the line is none of a log. The forms are logcat's and Android Studio's:
//
//	02-03 10:11:12.300  4300  4300 F DEBUG   : message     threadtime; year, zone and uid may be there too
//	02-03 10:11:12.300 F/DEBUG   ( 4300): message          time
//	F/DEBUG   ( 4300): message                             brief; without the number: tag
//	F DEBUG   : message                                    as copied from consoles
//	2025-02-03 10:11:12.300 4300-4300/com.example F/DEBUG: message
//	2025-02-03 10:11:12.300  4300-4300  DEBUG   com.example   F  message
//
// What sets a terminal's colour may stand before it, as logcat -v color has it.
func LogPrefix(b []byte) int {
	colours := Colors(b)
	p := colours + dateBytes(b[colours:])
	dated := p > colours
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

// Colors is the length of the sequences at the beginning of b that set a terminal's colours: "\x1b[38;5;196m".
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

// WithoutColors is b without the sequences at its end that set a terminal's colours.
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

// dateBytes is the length of "[YYYY-]MM-DD HH:MM:SS.fraction" with the space
// behind it, 0 if the line does not begin so.
func dateBytes(b []byte) int {
	p := Shape(b, "0000-")
	n := Shape(b[p:], "00-00 00:00:00.000")
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

// Shape is the length of shape if b begins with it; 0 in shape is any digit.
func Shape(b []byte, shape string) int {
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

// smallColon is what Android Studio printed for a colon before its second version.
const smallColon = "\ufe55"

// tagEnd is where the message begins behind "TAG: " or "TAG(PID): ".
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
