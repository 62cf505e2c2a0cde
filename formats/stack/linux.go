package stack

import (
	"bytes"

	"github.com/symlake/symlake/formats/symbol"
)

// parseSymbols reads a line of glibc's backtrace_symbols:
//
//	/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a]
//	./shop(checkout+0x1d) [0x401136]
//	./shop() [0x401136]
//	libcart.so(+0x1f3a)
//
// An offset without a name counts from the load bias, so it is an address of
// the file. Without either, only a program at a fixed address can be meant.
func parseSymbols(b []byte) (line, bool) {
	l := line{family: symbols, start: skipSpace(b, 0), number: -1, space: symbol.Unslid}
	rest := bytes.TrimRight(b, " \t")
	var abs uint64
	bracketed := false
	if n := len(rest); n > 0 && rest[n-1] == ']' {
		i := bytes.LastIndex(rest, []byte("[0x"))
		if i < 0 {
			return line{}, false
		}
		v, end, ok := parseHex(rest, i+3)
		if !ok || end != n-1 {
			return line{}, false
		}
		abs, bracketed = v, true
		rest = bytes.TrimRight(rest[:i], " \t")
	}
	open := bytes.LastIndexByte(rest, '(')
	if open <= l.start || rest[len(rest)-1] != ')' {
		return line{}, false
	}
	path, group := rest[l.start:open], rest[open+1:len(rest)-1]
	if bytes.ContainsAny(path, " \t=<>\"'") || isLabel(path) {
		return line{}, false
	}
	name, offset, found := bytes.Cut(group, []byte("+0x"))
	switch {
	case found:
		v, end, ok := parseHex(offset, 0)
		if !ok || end != len(offset) || bytes.ContainsAny(name, " \t()") || len(name) == 0 && !bracketed && !looksLikeFile(path) {
			return line{}, false
		}
		if l.pc = v; len(name) > 0 {
			l.function = name
		}
	case len(group) == 0 && bracketed:
		l.pc = abs
	default:
		return line{}, false
	}
	if len(name) > 0 && !bracketed {
		return line{}, false
	}
	setFile(&l, path)
	l.tail = l.start
	return l, true
}

// looksLikeFile reports whether a word may name a program or a library.
func looksLikeFile(word []byte) bool {
	return bytes.IndexByte(word, '/') >= 0 || bytes.Contains(word, []byte(".so"))
}

// parsePerf reads a line of a sample as `perf script` prints it:
//
//	55d0c1a2b13d main+0x1d (/home/u/shop)
//	7f3b2c1a2b3c [unknown] (/usr/lib/libcart.so+0x1f3a)
//
// The address is of the run; what leads to the code is the symbol with its
// offset, or the offset in the file that newer versions add (-F +dsoff).
func parsePerf(b []byte) (line, bool) {
	l := line{family: perf, start: skipSpace(b, 0), number: -1, space: symbol.Loaded}
	if l.start == 0 {
		return line{}, false
	}
	ip, p, ok := parseHex(b, l.start)
	if !ok || p-l.start < 4 || p == len(b) || b[p] != ' ' {
		return line{}, false
	}
	rest := bytes.TrimRight(b[p+1:], " \t")
	open := bytes.LastIndex(rest, []byte(" ("))
	if open < 0 || rest[len(rest)-1] != ')' {
		return line{}, false
	}
	name, dso := rest[:open], rest[open+2:len(rest)-1]
	if len(name) == 0 || len(dso) == 0 {
		return line{}, false
	}
	l.pc, l.tail = ip, p+1
	if i := bytes.LastIndex(dso, []byte("+0x")); i > 0 {
		if v, end, ok := parseHex(dso, i+3); ok && end == len(dso) {
			l.offset, l.placed, dso = v, true, dso[:i]
		}
	}
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		v, end, ok := parseHex(name, i+3)
		if !ok || end != len(name) {
			return line{}, false
		}
		l.function, l.pc = name[:i], v
		l.abs = ip
	} else if string(name) != "[unknown]" && !l.placed {
		return line{}, false
	}
	setFile(&l, dso)
	return l, true
}

// parseGo reads the second line of a frame of a Go traceback: "\t/src/main.go:20 +0x1d". The line
// before it is "main.main()", "main.(*Cart).Add(0xc000012345, {0x1, 0x2})" or
// "created by main.main in goroutine 1".
func parseGo(before, b []byte) (line, bool) {
	if len(b) == 0 || b[0] != '\t' {
		return line{}, false
	}
	plus := bytes.LastIndex(b, []byte(" +0x"))
	if plus < 0 {
		return line{}, false
	}
	v, end, ok := parseHex(b, plus+4)
	if !ok || end != len(b) && !bytes.HasPrefix(b[end:], []byte(" fp=")) {
		return line{}, false
	}
	colon := bytes.LastIndexByte(b[:plus], ':')
	if colon < 0 {
		return line{}, false
	}
	if _, end, ok := parseDigits(b, colon+1); !ok || end != plus {
		return line{}, false
	}
	before = bytes.TrimRight(before, "\r\n")
	name := goFunction(before)
	if len(name) == 0 {
		return line{}, false
	}
	return line{family: golang, start: 1, tail: 1, number: -1, pc: v, function: name, created: bytes.HasPrefix(before, createdBy)}, true
}

var createdBy = []byte("created by ")

// goFunction is the function that the first line of a frame names.
func goFunction(b []byte) []byte {
	if rest, ok := bytes.CutPrefix(b, createdBy); ok {
		name, _, _ := bytes.Cut(rest, []byte(" in goroutine "))
		return name
	}
	if len(b) == 0 || isSpace(b[0]) || b[len(b)-1] != ')' || bytes.IndexByte(b, '.') < 0 {
		return nil
	}
	depth := 0
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return b[:i]
			}
		}
	}
	return nil
}
