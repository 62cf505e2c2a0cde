package crash

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
)

// ParseFrame reads the ways in which a frame is printed:
//
//	0   game            0x0000000104a30000 0x104a2c000 + 16384 (…)
//	12  libdyld.dylib   0x00007fff61a8e085 start + 0
//	0   game            0x0000000104a30000 game + 16384
//	0x0000000104a30000 game 0x104a2c000+16384 [UUID]
//	CoreFoundation 0x1832c0d2c 0x183190000 + 1248556 [UUID]
//	0 0x104ccc074
//	"0   game            0x0000000104a30000 game + 16384",
//	* frame #0: 0x0000000104a30000 game`main + 24
//
// The last but one is a string of a list that NSLog or Swift prints, the last is lldb's.
// sure is false where only a list of images, or a header, can make it a frame.
// Spans count from b's start.
func ParseFrame(b []byte) (f LoadedFrame, sure, ok bool) {
	f = LoadedFrame{Number: -1, Image: -1}
	b = bytes.TrimRight(b, " \t")
	b, p := unquoted(b)
	f.Span = [2]int{p, len(b)}
	var marked bool
	number := p
	f.Number, p, marked = mark(&f, b, p)
	digits := bytes.TrimRight(b[number:p], " \t")
	at := findAddress(b, p)
	if at < 0 {
		return f, false, false
	}
	f.Name = bytes.TrimRight(b[p:at], " \t")
	var end int
	f.Addr, end, _ = scan.Hex(b, at+2)
	wide := end-at-2 >= 8
	p = scan.SkipSpace(b, end)
	f.Indent = min(p, f.Span[1]) - f.Span[0]
	if p == end && p < len(b) {
		return f, false, false
	}
	rest := bytes.TrimRight(b[p:], " \t")
	if len(f.Name) == 0 && len(rest) > 0 && !bytes.HasPrefix(rest, scan.HexMark) { // the image stands behind its address
		f.Name, rest = cutImage(rest, f.stopped)
	}
	switch {
	case len(f.Name) == 0:
		f.Name = nil
	case bytes.HasPrefix(f.Name, scan.HexMark) && f.Number >= 0 && !marked: // a program may be called so
	case scan.IsLabel(f.Name) || f.Name[0] == '#':
		return f, false, false
	}
	f.UUID = trailingUUID(rest)
	if f.Name == nil && f.Number >= 0 && !marked && bytes.HasPrefix(rest, scan.HexMark) { // what its digits name is no place
		f.Name, f.Number = digits, -1
	}
	sure, ok = f.place(rest, wide, marked)
	return f, sure, ok
}

// unquoted returns a line without the quotes and the comma of a list's string, and where its text begins.
func unquoted(b []byte) (line []byte, start int) {
	p := scan.SkipSpace(b, 0)
	if p == len(b) || b[p] != '"' {
		return b, p
	}
	b = bytes.TrimRight(b, ",")
	b = bytes.TrimSuffix(b, []byte{'"'})
	return b, min(p+1, len(b))
}

// cutImage splits the text behind an address into the image's name and the rest. stopped: the line is lldb's.
func cutImage(text []byte, stopped bool) (name, rest []byte) {
	name, rest = text, text
	if tick := bytes.IndexByte(text, '`'); tick > 0 && stopped {
		name, rest = text[:tick], text[tick+1:]
	} else if k := findAddress(text, 0); k > 0 {
		name, rest = text[:k], text[k:]
	} else if plus := bytes.LastIndexByte(text, '+'); plus > 0 {
		name = text[:plus]
	}
	return bytes.TrimRight(name, " \t"), rest
}

// place reads the offset behind the address of f. wide: the address has eight digits or more. marked: a sign stands
// before the number. It returns what ParseFrame does.
func (f *LoadedFrame) place(rest []byte, wide, marked bool) (sure, ok bool) {
	switch base, offset, symbol := ParseOffset(rest); {
	case base != nil && symbol == nil:
		f.Load, _, _ = scan.Hex(base, 2)
		f.Based, f.Offset = f.Name != nil, offset
		return f.Name != nil, f.Name != nil
	case symbol != nil && f.Name != nil && bytes.Equal(symbol, f.Name) && offset <= f.Addr:
		f.Based, f.Load, f.Offset = true, f.Addr-offset, offset
		return wide, true
	case symbol != nil && f.Name != nil:
		f.symbol, f.Offset = symbol, offset
		return f.Number >= 0 && wide && !marked, !marked || f.stopped
	}
	bare := f.Name == nil && len(rest) == 0
	return f.Number == 0 && wide && bare, f.Number >= 0 && (bare || !marked || f.stopped)
}

// mark reads what stands before a frame: its number, "3", "3:", "3.", "#3", "[3]", "(3)", "frame #3:",
// and the sign of a list. marked: it is more than the number, which other formats put before
// other lines. Without a number it is -1.
func mark(f *LoadedFrame, b []byte, p int) (number, end int, marked bool) {
	for _, sign := range [...]string{"- ", "* ", "\u2022 "} {
		if bytes.HasPrefix(b[p:], []byte(sign)) {
			p = scan.SkipSpace(b, p+len(sign))
		}
	}
	q := p
	if bytes.HasPrefix(b[q:], []byte("frame #")) {
		f.stopped, q = true, q+len("frame ")
	}
	var closing byte
	if q < len(b) {
		switch b[q] {
		case '#':
			q, marked = q+1, true
		case '[':
			q, marked, closing = q+1, true, ']'
		case '(':
			q, marked, closing = q+1, true, ')'
		}
	}
	number, end, ok := scan.Digits(b, q)
	if ok && closing != 0 {
		ok = end < len(b) && b[end] == closing
		end++
	}
	if ok && end < len(b) && (b[end] == ':' || b[end] == '.') {
		end, marked = end+1, true
	}
	if !ok || end >= len(b) || !scan.IsSpace(b[end]) {
		f.stopped = false
		return -1, p, false
	}
	return number, scan.SkipSpace(b, end), marked
}

// findAddress is where the first word of 0x and digits begins, from p on; -1 if there is none.
func findAddress(b []byte, p int) int {
	for {
		i := bytes.Index(b[p:], scan.HexMark)
		if i < 0 {
			return -1
		}
		p += i
		_, end, ok := scan.Hex(b, p+2)
		if ok && (p == 0 || scan.IsSpace(b[p-1])) && (end == len(b) || scan.IsSpace(b[end]) || b[end] == '+') {
			return p
		}
		p += 2
	}
}

// ParseOffset reads "0xLOAD + N", with spaces or without, and "SYMBOL + N".
func ParseOffset(b []byte) (base []byte, offset uint64, symbol []byte) {
	if bytes.HasPrefix(b, scan.HexMark) {
		_, end, ok := scan.Hex(b, 2)
		p := scan.SkipSpace(b, end)
		if !ok || p == len(b) || b[p] != '+' {
			return nil, 0, nil
		}
		n, _, ok := scan.Number(b, scan.SkipSpace(b, p+1))
		if !ok {
			return nil, 0, nil
		}
		return b[:end], n, nil
	}
	// What follows the offset begins with a bracket: a file, an id.
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '+')
		if i <= 0 {
			return nil, 0, nil
		}
		end = i
		n, stop, ok := scan.Number(b, scan.SkipSpace(b, i+1))
		after := b[min(scan.SkipSpace(b, stop), len(b)):]
		if !ok || len(after) > 0 && bytes.IndexByte([]byte("([<"), after[0]) < 0 {
			continue
		}
		return nil, n, bytes.TrimRight(b[:i], " \t")
	}
}

// trailingUUID is the UUID at the end of a line, in brackets of any kind or in none.
func trailingUUID(b []byte) string {
	b = bytes.TrimRight(b, " \t,;")
	if n := len(b); n > 0 && bytes.IndexByte([]byte("])>"), b[n-1]) >= 0 {
		b = b[:n-1]
	}
	for _, n := range []int{36, 32} {
		if len(b) < n || len(b) > n && scan.HexDigit(b[len(b)-n-1]) >= 0 {
			continue
		}
		if uuid, end, ok := scan.UUID(b, len(b)-n); ok && end == len(b) {
			return uuid
		}
	}
	return ""
}
