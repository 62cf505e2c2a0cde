package stack

import "bytes"

// maxTagBytes bounds a log's tag; Android cuts them at 23 bytes, other
// writers do not.
const maxTagBytes = 256

// prefixBytes is the length of what Android's logs put before a message, 0 if
// the line is none of a log. The forms are logcat's and Android Studio's:
//
//	02-03 10:11:12.300  4300  4300 F DEBUG   : message     threadtime; year, zone and uid may be there too
//	02-03 10:11:12.300 F/DEBUG   ( 4300): message          time
//	F/DEBUG   ( 4300): message                             brief; without the number: tag
//	F DEBUG   : message                                    as copied from consoles
//	2025-02-03 10:11:12.300 4300-4300/com.example F/DEBUG: message
//	2025-02-03 10:11:12.300  4300-4300  DEBUG   com.example   F  message
func prefixBytes(b []byte) int {
	p := dateBytes(b)
	dated := p > 0
	if !dated && len(b) > 0 && isSpace(b[0]) {
		return 0
	}
	for field := range 7 { // uid, pid, tid, tag, package, and two to spare
		p = skipSpace(b, p)
		end := p
		for end < len(b) && !isSpace(b[end]) {
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

// dateBytes is the length of "[YYYY-]MM-DD HH:MM:SS.fraction" with the space
// behind it, 0 if the line does not begin so.
func dateBytes(b []byte) int {
	p := shapeBytes(b, "0000-")
	n := shapeBytes(b[p:], "00-00 00:00:00.000")
	if n == 0 {
		return 0
	}
	for p += n; p < len(b) && !isSpace(b[p]); p++ { // micro- and nanoseconds
		if b[p] < '0' || b[p] > '9' {
			return 0
		}
	}
	return skipSpace(b, p)
}

// shapeBytes is the length of shape if b begins with it; 0 in shape is any digit.
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

// tagEnd is where the message begins behind "TAG: " or "TAG(PID): ".
func tagEnd(b []byte, p int) int {
	for i := p; i < len(b) && i < p+maxTagBytes; i++ {
		switch b[i] {
		case ':':
			if i+1 == len(b) || isSpace(b[i+1]) {
				return min(i+2, len(b))
			}
			return 0
		case '(':
			_, end, ok := parseDigits(b, skipSpace(b, i+1))
			if !ok || end == len(b) || b[end] != ')' {
				return 0
			}
			i = end
		}
	}
	return 0
}
