// Package linux reads backtraces of programs on Linux and of its kernel, and reports of sanitizers.
package linux

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads the lines of programs on Linux, of its kernel, and of sanitizers on any system.
var Dialect = report.Dialect{
	Name:  "linux",
	Forms: []*report.Form{sanitizer, llvm, coredump, backtraceSymbols, perf, kernel},
	Lines: func(b *report.Builder) report.Lines {
		bare := len(b.Options().Artifacts) > 0
		return report.Lines{
			Find:   func(l *report.Line, f *report.Found) bool { return findLinux(l, bare, f) },
			Header: coredumpHeader,
		}
	},
}

var (
	backtraceSymbols = &report.Form{Name: "backtrace-symbols", Frame0: report.Return, Kind: symbol.ELF, Gap: report.GapEndsReport,
		Lines: "/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a], ./shop(checkout+0x1d) [0x401136] of glibc"}
	perf = &report.Form{Name: "perf", Frame0: report.Exact, Kind: symbol.ELF, Gap: report.GapEndsThread,
		Lines: "55d0c1a2b13d main+0x1d (/home/u/shop) of perf script, below a sample's line"}
)

// findLinux tries the forms of single lines in an order that asks for a log's prefix last. bare: Options
// names the kernel's image.
func findLinux(l *report.Line, bare bool, f *report.Found) bool {
	b := l.Text
	if findNumbered(b, f) {
		return true
	}
	if l.HasAddress() && findKernel(b, bare, f) {
		return true
	}
	if len(b) > 0 && scan.IsSpace(b[0]) && findPerf(b, f) {
		return true
	}
	return l.HasAddress() && l.Prefix() == 0 && findSymbols(b, f) // logs say "NAME 0x…" of anything
}

var traceOfThread = []byte("Stack trace of thread ")

// coredumpHeader reads the line above a thread's frames.
func coredumpHeader(l *report.Line, h *report.Header) bool {
	i := bytes.Index(l.Text, traceOfThread)
	if i < 0 {
		return false
	}
	id := scan.LeadingNumber(string(l.Text[i+len(traceOfThread):]))
	if id == 0 {
		return false
	}
	*h = report.Header{Thread: true, ID: id}
	return true
}

// findSymbols reads a line of glibc's backtrace_symbols:
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
func findSymbols(b []byte, f *report.Found) bool {
	l := report.Place{Start: scan.SkipSpace(b, 0), Space: symbol.Unslid}
	rest := bytes.TrimRight(b, " \t")
	rest, abs, glued, ok := cutBracket(rest)
	if !ok {
		return false
	}
	bracketed := len(rest) < len(bytes.TrimRight(b, " \t"))
	open, group := len(rest), []byte(nil)
	grouped := open > 0 && rest[open-1] == ')'
	if grouped {
		if open = bytes.LastIndexByte(rest, '('); open < 0 {
			return false
		}
		group = rest[open+1 : len(rest)-1]
	}
	before := rest[:open]
	if bracketed {
		var end int
		if l.Start, end = program(before, l.Start); end < open && !grouped && !glued {
			return false
		}
		if bytes.ContainsAny(before, "=<>\"'") {
			return false
		}
		before = before[:end]
	}
	if len(before) <= l.Start || !grouped && (abs < 0x1000 || before[l.Start] != '/' && before[l.Start] != '.') {
		return false
	}
	path := before[l.Start:]
	if bytes.ContainsAny(path, " \t=<>\"'") || scan.IsLabel(path) {
		return false
	}
	switch {
	case len(group) == 0 && bracketed:
		l.PC = abs
	case !placeInGroup(group, &l):
		return false
	case !bracketed && (!bytes.HasPrefix(group, []byte("+0x")) || !looksLikeFile(path)):
		return false
	}
	l.SetFile(path)
	l.Tail = l.Start + 4
	*f = report.Found{Form: backtraceSymbols, Number: -1, Room: report.FrameRoom, Place: l}
	return true
}

// cutBracket cuts the address in brackets off the end of a line. Without brackets, rest is the line. glued: the
// bracket stands right behind a word. ok is false where the brackets hold anything else.
func cutBracket(line []byte) (rest []byte, addr uint64, glued, ok bool) {
	n := len(line)
	if n == 0 || line[n-1] != ']' {
		return line, 0, false, true
	}
	i := bytes.LastIndex(line, []byte("[0x"))
	if i < 0 {
		return line, 0, false, false
	}
	addr, end, ok := scan.Hex(line, i+3)
	if !ok || end != n-1 {
		return line, 0, false, false
	}
	return bytes.TrimRight(line[:i], " \t"), addr, i > 0 && !scan.IsSpace(line[i-1]), true
}

// placeInGroup reads "checkout+0x1d", "0x7f5c5d5f4000+0x1f3a" or "+0x1f3a" into l.
func placeInGroup(group []byte, l *report.Place) bool {
	name, offset, found := bytes.Cut(group, []byte("+0x"))
	v, end, ok := scan.Hex(offset, 0)
	if !found || !ok || end != len(offset) || bytes.ContainsAny(name, " \t()") {
		return false
	}
	l.PC = v
	if _, end, ok := scan.Hex(name, 2); ok && end == len(name) && bytes.HasPrefix(name, scan.HexMark) {
		l.Space = symbol.Position
	} else if len(name) > 0 {
		l.Function = name
	}
	return true
}

// program finds the path in what stands before a group: behind marks that the program puts
// there, before the rest of its title: "(EE) 3: /usr/bin/shop", "/usr/bin/shop *:6379 [cluster]".
// It is the last word that begins like a path, else the first word that is no mark.
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

const (
	perfColumn        = 16      // where perf's addresses end, or behind
	offsetsEnd        = 4 << 20 // no program runs below; larger offsets in programs are taken for addresses
	offsetsEndLibrary = 1 << 28 // no library runs below
)

// findPerf reads a line of a sample as `perf script` prints it:
//
//	55d0c1a2b13d main+0x1d (/home/u/shop)
//	7f3b2c1a2b3c [unknown] (/usr/lib/libcart.so+0x1f3a)
//	        1f3a [unknown] (/usr/lib/libcart.so)
//
// An address of the run leads nowhere alone. The symbol with its offset leads to the code, or
// the offset in the file: from 6.0 on perf prints it in call chains, or with -F +dsoff
// behind the file.
func findPerf(b []byte, f *report.Found) bool {
	l := report.Place{Start: scan.SkipSpace(b, 0), Space: symbol.Loaded}
	if l.Start == 0 {
		return false
	}
	ip, p, ok := scan.Hex(b, l.Start)
	if !ok || p-l.Start < 4 && p < perfColumn || p == len(b) || b[p] != ' ' {
		return false
	}
	rest := bytes.TrimRight(b[p+1:], " \t")
	limit := len(rest)
	if i := bytes.LastIndex(rest, report.Deleted); i >= 0 { // a bracket of the path's own
		limit = i
	}
	open := bytes.LastIndex(rest[:limit], []byte(" ("))
	if open < 0 || rest[len(rest)-1] != ')' {
		return false
	}
	name, dso := rest[:open], rest[open+2:len(rest)-1]
	if len(name) == 0 || len(dso) == 0 || string(dso) == "inlined" { // into the function of a line below
		return false
	}
	l.PC, l.Tail = ip, p+1
	if ip < offsetsEnd || ip < offsetsEndLibrary && bytes.Contains(dso, []byte(".so")) {
		l.FileAt, l.InFile = ip, true
	}
	if i := bytes.LastIndex(dso, []byte("+0x")); i > 0 {
		if v, end, ok := scan.Hex(dso, i+3); ok && end == len(dso) {
			l.FileAt, l.InFile, dso = v, true, dso[:i]
		}
	}
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		v, end, ok := scan.Hex(name, i+3)
		if !ok || end != len(name) {
			return false
		}
		l.Function, l.PC = name[:i], v
		l.Abs = ip
	} else if string(name) != "[unknown]" && !l.InFile {
		return false
	}
	l.SetFile(dso)
	*f = report.Found{Form: perf, Number: -1, Room: report.FrameRoom, Place: l}
	return true
}
