package report

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// line is one parsed frame line. Offsets count from the line's start; byte
// slices alias it.
type line struct {
	family family // backtrace for every "#NN pc" line: what stands around it decides
	start  int    // of the frame: what stands before belongs to a log, or is space
	tail   int    // where the image begins
	number int    // NN; -1: none
	pc     uint64
	space  symbol.Space

	named     bool   // the line says something about the image, even if it is "<unknown>"
	file      []byte // path as printed, without container
	container []byte
	buildID   []byte
	arch      string
	mapped    uint64      // offset of the image in what it was mapped from
	function  []byte      // that pc counts from, nil: none
	kind      symbol.Kind // of the image, where the line says more than its family does
	offset    uint64      // in the file, if placed
	abs       uint64      // where it was mapped, beside function
	placed    bool
	exact     bool      // says itself that it is where the processor stood
	created   bool      // of a Go traceback: the place where the goroutine was started
	dart      *dartLine // a frame of Dart, which pc and space do not place
}

// parseLine reads a line without its line end. bare allows ADDRESS alone.
func parseLine(b []byte, bare bool) (l line, ok bool) {
	if l, ok = parseNumbered(b); ok {
		return l, true
	}
	// Looking for a log's prefix costs more than all else, and most lines of a
	// log are neither of these.
	pc, address := bytes.Contains(b, pcWord), bytes.Contains(b, scan.HexMark)
	if !pc && !address {
		if len(b) > 0 && scan.IsSpace(b[0]) && b[len(b)-1] == ')' {
			return parsePerf(b)
		}
		if bytes.IndexByte(b, '+') > 0 {
			return parseDartPlace(b) // a decimal offset
		}
		return line{}, false
	}
	if address {
		if l, ok = parseKernel(b, bare); ok {
			return l, true
		}
		if l, ok = parseHotspot(b); ok {
			return l, true
		}
	}
	at := scan.LogPrefix(b)
	if pc {
		if l, ok = parseDartCrash(b, at); ok {
			return l, true
		}
		if l, ok = parseUnnumbered(b, at); ok {
			return l, true
		}
	}
	if address && len(b) > 0 && scan.IsSpace(b[0]) {
		if l, ok = parsePerf(b); ok {
			return l, true
		}
	}
	if !address || at > 0 { // logs say "NAME 0x…" of anything
		return line{}, false
	}
	if l, ok = parseDartPlace(b); ok {
		return l, true
	}
	if l, ok = parseSymbols(b); ok {
		return l, true
	}
	return parsePlain(b, bare)
}

var pcWord = []byte("pc")

// parseNumbered reads "#04 pc 0001f3a8  IMAGE" and the forms of [parseSanitizer] and [parseThreadSanitizer].
func parseNumbered(b []byte) (line, bool) {
	other, behind := line{}, -1 // the last number before no address: logs of builds number their steps too
	barren := false             // no group of the line names a place
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '#')
		if i < 0 {
			return other, behind >= 0 && parseThreadSanitizer(&other, b, behind)
		}
		i += from
		from = i + 1
		if i > 0 && !scan.IsSpace(b[i-1]) {
			continue
		}
		l := line{family: backtrace, start: i}
		number, p, ok := scan.Digits(b, i+1)
		if !ok || p == scan.SkipSpace(b, p) {
			continue
		}
		l.number = number
		p = scan.SkipSpace(b, p)
		switch {
		case bytes.HasPrefix(b[p:], absWord) && parseDart(&l, b, p):
			return l, true
		case bytes.HasPrefix(b[p:], scan.HexMark):
			if !barren && parseSanitizer(&l, b, p) {
				return l, true
			}
			barren = true
		case parsePC(&l, b, p):
			parseImage(&l, b)
			return l, true
		default:
			other, behind = l, p
		}
	}
}

// parseUnnumbered reads "pc 0x0000000000022074 libc.so [arm64-v8a::77e6…]". A
// register dump may begin with "pc" too, so the image must look like one.
func parseUnnumbered(b []byte, at int) (line, bool) {
	l := line{family: monitor, start: scan.SkipSpace(b, at), number: -1}
	if !parsePC(&l, b, l.start) {
		return line{}, false
	}
	parseImage(&l, b)
	if bytes.IndexByte(l.file, '.') < 0 && bytes.IndexByte(l.file, '/') < 0 && l.buildID == nil {
		return line{}, false
	}
	return l, true
}

// parsePC reads "pc HEX" at p and sets l.tail behind it.
func parsePC(l *line, b []byte, p int) bool {
	if !bytes.HasPrefix(b[p:], pcWord) {
		return false
	}
	q := scan.SkipSpace(b, p+2)
	if q == p+2 {
		return false
	}
	if bytes.HasPrefix(b[q:], scan.HexMark) {
		q += 2
	}
	pc, end, ok := scan.Hex(b, q)
	if !ok || end < len(b) && !scan.IsSpace(b[end]) {
		return false
	}
	l.pc, l.space, l.tail = pc, symbol.Unslid, scan.SkipSpace(b, end)
	return true
}

// parseSanitizer reads what stands behind a number, and at p begins with an address:
//
//	0x7b24d90a08 [in FUNCTION …] (IMAGE+0xOFF) [(BuildId: …)]   sanitizers
//	0x00007f5c5d5f5f3a FUNCTION (IMAGE+0xOFF)                   LLVM's own handler
//	0x00007f5c5d5f5f3a FUNCTION (IMAGE + 0xOFF)                 systemd-coredump
//
// The offset counts from the load bias, so it is an address of the file; in
// the last form from the image's beginning.
func parseSanitizer(l *line, b []byte, p int) bool {
	_, end, ok := scan.Hex(b, p+2)
	if !ok {
		return false
	}
	if _, ok = parsePlaced(l, b, end); !ok {
		return false
	}
	switch {
	case l.space == symbol.Position:
		l.family = coredump
	case end-(p+2) == 16: // LLVM pads addresses to their full width, sanitizers to 12 digits at most
		l.family = llvm
	}
	return true
}

// parseThreadSanitizer reads what ThreadSanitizer prints behind the number, which is no
// address: "FUNCTION FILE:LINE:COLUMN (IMAGE+0xOFF) [(BuildId: …)]". Nothing may follow.
func parseThreadSanitizer(l *line, b []byte, p int) bool {
	if !bytes.Contains(b[p:], []byte("+0x")) {
		return false
	}
	end, ok := parsePlaced(l, b, p)
	if !ok || l.space == symbol.Position {
		return false
	}
	rest := bytes.TrimSpace(b[end:])
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte("(BuildId: ")) && bytes.IndexByte(rest, ')') == len(rest)-1
}

// parsePlaced finds " (IMAGE+0xOFF)" or " (IMAGE + 0xOFF)" from p on, and reads it and the
// groups behind it; end is where the first group ends.
func parsePlaced(l *line, b []byte, p int) (end int, ok bool) {
	for {
		i := bytes.IndexByte(b[p:], ')')
		if i < 0 {
			return 0, false
		}
		end = p + i
		before := end // where the group's own path may begin at the latest
		if bytes.HasSuffix(b[p:end+1], deleted) {
			before -= len(deleted) - 1
			if i = bytes.IndexByte(b[end+1:], ')'); i >= 0 {
				end += 1 + i
			}
		}
		open := bytes.LastIndex(b[p:before], []byte(" ("))
		if open < 0 {
			p = end + 1
			continue
		}
		open += p + 2
		group := b[open:end]
		end++
		p = end
		plus := bytes.LastIndexByte(group, '+')
		if plus <= 0 {
			continue
		}
		space, path, at := symbol.Unslid, group[:plus], plus+1
		if path[plus-1] == ' ' {
			space, path, at = symbol.Position, path[:plus-1], scan.SkipSpace(group, at)
		}
		if len(path) == 0 || !bytes.HasPrefix(group[at:], scan.HexMark) {
			continue
		}
		pc, stop, ok := scan.Hex(group, at+2)
		if !ok || stop != len(group) {
			continue
		}
		l.family, l.pc, l.space, l.tail = sanitizer, pc, space, open-1
		setFile(l, path)
		parseGroups(l, b[end:])
		l.apple()
		return end, true
	}
}

// apple reads what sanitizers print on Apple's systems: "libcart.dylib:arm64e" as the image, and
// as its build-id the UUID with 16 bytes of the next load command.
func (l *line) apple() {
	colon := bytes.LastIndexByte(l.file, ':')
	if colon <= 0 {
		return
	}
	arch := appleArch(string(l.file[colon+1:]))
	if arch == "" {
		return
	}
	l.file, l.arch, l.kind = l.file[:colon], arch, symbol.MachO
	if len(l.buildID) == 64 {
		l.buildID = l.buildID[:32]
	}
}

// parsePlain reads "ARTIFACT ADDRESS", and "ADDRESS" where bare allows it.
func parsePlain(b []byte, bare bool) (line, bool) {
	l := line{family: plain, start: scan.SkipSpace(b, 0), number: -1}
	rest := bytes.TrimRight(b[l.start:], " \t")
	if i := bytes.LastIndexAny(rest, " \t"); i >= 0 {
		name := bytes.TrimRight(rest[:i], " \t")
		if bytes.ContainsAny(name, " \t") || isLabel(name) || string(name) == "C" || string(name) == "V" { // of a virtual machine's log
			return line{}, false
		}
		l.named, l.file = true, name
		rest = rest[i+1:]
	} else if !bare {
		return line{}, false
	}
	l.space = symbol.Unslid
	if len(rest) > 0 && rest[0] == '+' {
		if colon := bytes.LastIndex(l.file, []byte(".go:")); colon >= 0 {
			return line{}, false // a line of a Go traceback
		}
		l.space = symbol.Position
		rest = rest[1:]
	}
	if !bytes.HasPrefix(rest, scan.HexMark) {
		return line{}, false
	}
	pc, end, ok := scan.Hex(rest, 2)
	if !ok || end != len(rest) {
		return line{}, false
	}
	l.pc = pc
	return l, true
}

// isLabel reports whether what stands before an address only says what the
// address is: "fault_addr:", "x0" in a dump of registers, another address.
func isLabel(name []byte) bool {
	if strings.IndexByte(":=,", name[len(name)-1]) >= 0 || bytes.HasPrefix(name, scan.HexMark) {
		return true
	}
	switch s := string(bytes.ToLower(name)); s {
	case "pc", "lr", "sp", "fp", "ip", "ra", "gp", "tp", "pst", "cpsr", "eip", "esp", "ebp", "rip", "rsp", "rbp":
		return true
	default: // x0 … x30, r8, w1
		_, end, ok := scan.Digits(name, 1)
		return ok && end == len(name) && end <= 3 && strings.IndexByte("xwrvqds", s[0]) >= 0
	}
}

// parseImage reads what stands behind the address: a path, "archive!path", a
// kernel's name for a mapping, and groups.
func parseImage(l *line, b []byte) {
	tail := b[l.tail:]
	if len(tail) == 0 {
		return
	}
	end := pathEnd(tail)
	switch tail[0] {
	case '[': // "[anon:dalvik-main space]", or at once the group "[arm64-v8a::77e6…]"
		if parseGroups(l, tail); l.buildID != nil {
			return
		}
		end = bytes.IndexByte(tail, ']') + 1
	case '<': // "<anonymous:7f60>", "<unknown>"
		end = bytes.IndexByte(tail, '>') + 1
	}
	if end < 0 || end == 0 && tail[0] != '(' {
		end = len(tail)
	}
	if end > 0 {
		setFile(l, tail[:end])
	}
	parseGroups(l, tail[end:])
}

// pathEnd is where a path or a group's path ends; -1: at the end of b.
func pathEnd(b []byte) int {
	for i, c := range b {
		if scan.IsSpace(c) || c == '(' {
			return i
		}
	}
	return -1
}

// deleted is what the kernel appends to the path of a file that is gone.
var deleted = []byte(" (deleted)")

// setFile splits "archive!path". Some unwinders print a library as its own
// archive.
func setFile(l *line, path []byte) {
	path = bytes.TrimSuffix(path, deleted)
	l.named, l.file = true, path
	i := bytes.IndexByte(path, '!')
	if i <= 0 || i == len(path)-1 {
		return
	}
	outer, inner := path[:i], path[i+1:]
	if bytes.Equal(scan.Base(outer), scan.Base(inner)) {
		l.file = outer
		return
	}
	l.file, l.container = inner, outer
}

// parseGroups reads "(BuildId: HEX)", "[ABI::ID]" or "[ABI:VERSION:ID]", and
// "(HEX)" at the end, as OpenHarmony prints the build-id; all other groups say
// nothing about the image's identity.
func parseGroups(l *line, b []byte) {
	if i := bytes.Index(b, []byte("(BuildId: ")); i >= 0 {
		id, _, closed := bytes.Cut(b[i+len("(BuildId: "):], []byte(")"))
		if closed && scan.IsHex(id) {
			l.named, l.buildID = true, id
		}
	}
	if end := len(b) - 1; l.buildID == nil && end > 0 && b[end] == ')' {
		id := b[bytes.LastIndexByte(b, '(')+1 : end]
		if len(id) >= 32 && len(id)%2 == 0 && scan.IsHex(id) {
			l.named, l.buildID = true, id
		}
	}
	if i := bytes.Index(b, []byte("(offset 0x")); i >= 0 {
		if v, end, ok := scan.Hex(b, i+len("(offset 0x")); ok && end < len(b) && b[end] == ')' {
			l.mapped = v
		}
	}
	open := bytes.LastIndexByte(b, '[')
	if open < 0 {
		return
	}
	group, _, closed := bytes.Cut(b[open+1:], []byte("]"))
	first, last := bytes.IndexByte(group, ':'), bytes.LastIndexByte(group, ':')
	if !closed || first <= 0 || last == first || Arch(string(group[:first])) == "" {
		return
	}
	l.arch = Arch(string(group[:first]))
	if id := group[last+1:]; scan.IsHex(id) {
		l.named, l.buildID = true, id
	}
}
