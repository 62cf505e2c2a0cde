package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// parseSymbols reads a line of glibc's backtrace_symbols:
//
//	/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a]
//	./shop(checkout+0x1d) [0x401136]
//	./shop() [0x401136]
//	./shop [0x401136]
//	libcart.so(+0x1f3a)
//	(EE) 3: /usr/lib/libcart.so (0x7f5c5d5f4000+0x1f3a) [0x7f5c5d5f5f3a]
//
// An offset without a name counts from the load bias, so it is an address of
// the file; behind where the image was mapped, as the X server prints it, it
// is a position. Without either, only a program at a fixed address can be meant.
// A program's own numbers and marks may stand before a path.
func parseSymbols(b []byte) (line, bool) {
	l := line{family: symbols, start: scan.SkipSpace(b, 0), number: -1, space: symbol.Unslid}
	rest := bytes.TrimRight(b, " \t")
	var abs uint64
	bracketed, glued := false, false // glued: the bracket stands right behind a word
	if n := len(rest); n > 0 && rest[n-1] == ']' {
		i := bytes.LastIndex(rest, []byte("[0x"))
		if i < 0 {
			return line{}, false
		}
		v, end, ok := scan.Hex(rest, i+3)
		if !ok || end != n-1 {
			return line{}, false
		}
		abs, bracketed, glued = v, true, i > 0 && !scan.IsSpace(rest[i-1])
		rest = bytes.TrimRight(rest[:i], " \t")
	}
	open, group := len(rest), []byte(nil)
	grouped := open > 0 && rest[open-1] == ')'
	if grouped {
		if open = bytes.LastIndexByte(rest, '('); open < 0 {
			return line{}, false
		}
		group = rest[open+1 : len(rest)-1]
	}
	before := rest[:open]
	if bracketed {
		var end int
		if l.start, end = program(before, l.start); end < open && !grouped && !glued {
			return line{}, false
		}
		if bytes.ContainsAny(before, "=<>\"'") {
			return line{}, false
		}
		before = before[:end]
	}
	if len(before) <= l.start || !grouped && (abs < 0x1000 || before[l.start] != '/' && before[l.start] != '.') {
		return line{}, false
	}
	path := before[l.start:]
	if bytes.ContainsAny(path, " \t=<>\"'") || isLabel(path) {
		return line{}, false
	}
	name, offset, found := bytes.Cut(group, []byte("+0x"))
	switch {
	case found:
		v, end, ok := scan.Hex(offset, 0)
		if !ok || end != len(offset) || bytes.ContainsAny(name, " \t()") || len(name) == 0 && !bracketed && !looksLikeFile(path) {
			return line{}, false
		}
		l.pc = v
		if _, end, ok := scan.Hex(name, 2); ok && end == len(name) && bytes.HasPrefix(name, scan.HexMark) {
			l.space = symbol.Position
		} else if len(name) > 0 {
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

// program finds the path in what stands before a group: behind marks that the program puts
// there, before the rest of its title: "(EE) 3: /usr/bin/shop", "/usr/bin/shop *:6379 [cluster]".
// It is the last word that begins like a path, else the first one that is no mark.
func program(b []byte, from int) (start, end int) {
	first, last := b[len(b):], b[len(b):]
	for p := from; p < len(b); {
		q := p
		for q < len(b) && !scan.IsSpace(b[q]) {
			q++
		}
		switch word := b[p:q]; {
		case word[0] == '/' || word[0] == '.':
			last, start = word, p
		case len(last) == 0 && len(first) == 0 && bytes.IndexByte([]byte("[(#"), word[0]) < 0 && bytes.IndexByte([]byte("]):"), word[len(word)-1]) < 0:
			first, start = word, p
		}
		p = scan.SkipSpace(b, q)
	}
	if len(last) == 0 {
		last = first
	}
	return start, start + len(last)
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
	l := line{family: perf, start: scan.SkipSpace(b, 0), number: -1, space: symbol.Loaded}
	if l.start == 0 {
		return line{}, false
	}
	ip, p, ok := scan.Hex(b, l.start)
	if !ok || p-l.start < 4 || p == len(b) || b[p] != ' ' {
		return line{}, false
	}
	rest := bytes.TrimRight(b[p+1:], " \t")
	limit := len(rest)
	if i := bytes.LastIndex(rest, deleted); i >= 0 { // a bracket of the path's own
		limit = i
	}
	open := bytes.LastIndex(rest[:limit], []byte(" ("))
	if open < 0 || rest[len(rest)-1] != ')' {
		return line{}, false
	}
	name, dso := rest[:open], rest[open+2:len(rest)-1]
	if len(name) == 0 || len(dso) == 0 || string(dso) == "inlined" { // into the function of a line below
		return line{}, false
	}
	l.pc, l.tail = ip, p+1
	if i := bytes.LastIndex(dso, []byte("+0x")); i > 0 {
		if v, end, ok := scan.Hex(dso, i+3); ok && end == len(dso) {
			l.offset, l.placed, dso = v, true, dso[:i]
		}
	}
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		v, end, ok := scan.Hex(name, i+3)
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

// parseGo reads the second line of a frame of a Go traceback: "\t/src/main.go:20 +0x1d", or with
// the spaces that a copy made of the tab. The line
// before it is "main.main()", "main.(*Cart).Add(0xc000012345, {0x1, 0x2})" or
// "created by main.main in goroutine 1".
func parseGo(before, b []byte) (line, bool) {
	start := scan.SkipSpace(b, 0)
	if start == 0 {
		return line{}, false
	}
	plus := bytes.LastIndex(b, []byte(" +0x"))
	if plus < 0 {
		return line{}, false
	}
	v, end, ok := scan.Hex(b, plus+4)
	if !ok || end != len(b) && !bytes.HasPrefix(b[end:], []byte(" fp=")) {
		return line{}, false
	}
	colon := bytes.LastIndexByte(b[:plus], ':')
	if colon < 0 {
		return line{}, false
	}
	if _, end, ok := scan.Digits(b, colon+1); !ok || end != plus {
		return line{}, false
	}
	before = bytes.TrimRight(before, "\r\n")
	name := goFunction(before)
	if len(name) == 0 {
		return line{}, false
	}
	return line{family: golang, start: start, tail: start, number: -1, pc: v, function: name, created: bytes.HasPrefix(before, createdBy)}, true
}

var createdBy = []byte("created by ")

// faultLine begins what Go's runtime says of a signal, before the goroutine that it stopped.
var faultLine = []byte("[signal ")

// goFunction is the function that the first line of a frame names.
func goFunction(b []byte) []byte {
	if rest, ok := bytes.CutPrefix(b, createdBy); ok {
		name, _, _ := bytes.Cut(rest, []byte(" in goroutine "))
		return name
	}
	if len(b) == 0 || scan.IsSpace(b[0]) || b[len(b)-1] != ')' || bytes.IndexByte(b, '.') < 0 {
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
