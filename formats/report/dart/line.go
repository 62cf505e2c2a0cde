package dart

import (
	"bytes"
	"strconv"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// line is what a frame of Dart says, in any of the forms:
//
//	#00 abs 0000007baa845767 virt 0000000000165767 _kDartIsolateSnapshotInstructions+0x9ed27
//	#01 abs 0000007baa845767 unit 2 virt 0000000000165767 <unknown>
//	pc 0x0000007baa845768 fp 0x0000007fd0 sp 0x0000007fc0 _kDartIsolateSnapshotInstructions+0x9ed28
//	_kDartIsolateSnapshotInstructions+0x9ed27
type line struct {
	abs, virt uint64
	hasVirt   bool
	unit      int // 0: not said
	anchor    string
	offset    uint64 // from anchor
}

var (
	absWord    = []byte("abs ")
	pcPrefix   = []byte("pc")
	unitWord   = []byte("unit ")
	virtWord   = []byte("virt ")
	fpWord     = []byte("fp 0x")
	kDartWord  = []byte("kDart")
	unknownDSO = []byte("Unknown symbol")
)

// parse reads "abs HEX [unit N] [virt HEX] REST" at p of a numbered line; tail is where REST begins.
func (d *line) parse(b []byte, p int) (tail int, ok bool) {
	if d.abs, p, ok = dartHex(b, p+len(absWord)); !ok {
		return 0, false
	}
	if bytes.HasPrefix(b[p:], unitWord) {
		n, end, isNumber := scan.Digits(b, p+len(unitWord))
		if !isNumber || end < len(b) && !scan.IsSpace(b[end]) {
			return 0, false
		}
		d.unit, p = n, scan.SkipSpace(b, end)
	}
	if bytes.HasPrefix(b[p:], virtWord) {
		if d.virt, p, ok = dartHex(b, p+len(virtWord)); !ok {
			return 0, false
		}
		d.hasVirt = true
	}
	d.parseSymbol(b[p:])
	return p, true
}

// dartHex reads digits and the space behind them; 0x may stand before.
func dartHex(b []byte, p int) (v uint64, end int, ok bool) {
	if bytes.HasPrefix(b[p:], scan.HexMark) {
		p += 2
	}
	v, end, ok = scan.Hex(b, p)
	return v, scan.SkipSpace(b, end), ok && (end == len(b) || scan.IsSpace(b[end]))
}

// parseSymbol reads "SYMBOL+OFFSET" at the beginning of b, if a snapshot is counted from
// the symbol. The offset is hexadecimal behind 0x,
// else decimal, as debuggers print it.
func (d *line) parseSymbol(b []byte) bool {
	name, rest, found := bytes.Cut(b, []byte("+"))
	if !found || !bytes.Contains(name, kDartWord) {
		return false
	}
	anchor := symbol.DartAnchor(string(bytes.Trim(name, " (")))
	rest = bytes.TrimLeft(rest, " ")
	offset, end, ok := scan.Number(rest, 0)
	if anchor == "" || !ok || end < len(rest) && !scan.IsSpace(rest[end]) && rest[end] != ')' {
		return false
	}
	d.anchor, d.offset = anchor, offset
	return true
}

// findCrash reads "pc 0xHEX fp 0xHEX [sp 0xHEX] REST", which the virtual machine prints when it
// crashes itself. REST is SYMBOL+0xHEX of any library, or PATH+0xHEX. Where it is neither, the header
// may tell.
func (r *lines) findCrash(l *report.Line, f *report.Found) bool {
	b := l.Text
	p := report.Place{Start: scan.SkipSpace(b, l.Prefix())}
	if !p.Counter(b, p.Start) || !bytes.HasPrefix(b[p.Tail:], fpWord) {
		return false
	}
	r.line = line{abs: p.PC}
	_, at, ok := dartHex(b, p.Tail+len("fp "))
	if !ok {
		return false
	}
	if bytes.HasPrefix(b[at:], []byte("sp 0x")) {
		if _, at, ok = dartHex(b, at+len("sp ")); !ok {
			return false
		}
	}
	p.Tail, r.native = at, false
	rest := bytes.TrimRight(b[at:], " \t")
	if plus := bytes.LastIndex(rest, []byte("+0x")); !r.line.parseSymbol(rest) && !bytes.HasPrefix(rest, unknownDSO) && plus > 0 && bytes.IndexByte(rest[:plus], '/') >= 0 {
		if offset, end, ok := scan.Hex(rest, plus+3); ok && end == len(rest) {
			r.native, p.PC, p.Space = true, offset, symbol.Unslid
			p.SetFile(rest[:plus])
		}
	}
	*f = report.Found{Form: dartCrash, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// findPlace reads "[ARTIFACT] SYMBOL+0xHEX", nothing else in the line.
func (r *lines) findPlace(b []byte, f *report.Found) bool {
	if !bytes.Contains(b, kDartWord) {
		return false
	}
	p := report.Place{Start: scan.SkipSpace(b, 0)}
	r.line = line{}
	rest := bytes.TrimRight(b[p.Start:], " \t")
	if i := bytes.LastIndexAny(rest, " \t"); i >= 0 {
		p.Named, p.File = true, bytes.TrimRight(rest[:i], " \t")
		if bytes.ContainsAny(p.File, " \t") || scan.IsLabel(p.File) {
			return false
		}
		rest = rest[i+1:]
	}
	if !r.line.parseSymbol(rest) || rest[len(rest)-1] == ')' {
		return false
	}
	p.PC, p.Tail = r.line.offset, len(b)-len(rest)
	*f = report.Found{Form: dartList, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// findAlone reads an address with nothing else in the line.
func (r *lines) findAlone(b []byte, f *report.Found) bool {
	p := report.Place{Start: scan.SkipSpace(b, 0), Space: symbol.Unslid}
	p.Tail = p.Start + 4
	rest := bytes.TrimRight(b[p.Start:], " \t")
	if !bytes.HasPrefix(rest, scan.HexMark) {
		return false
	}
	v, end, ok := scan.Hex(rest, 2)
	if !ok || end != len(rest) {
		return false
	}
	p.PC = v
	r.line = line{abs: v}
	*f = report.Found{Form: dartList, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// header is what the header of a trace says. Headers of traces write
// "key: value", headers of crashes "key=value".
type header struct {
	system      string
	build       string
	base        uint64 // of the isolate's library; 0: not said
	isolate, vm uint64 // where the instructions begin; 0: not said
	units       map[int]unit
}

// unit is a deferred loading unit, or the root one.
type unit struct {
	build       string
	base, start uint64
}

// maxUnits bounds the loading units of a header.
const maxUnits = 1 << 12

var dartHeaderWords = [][]byte{[]byte("build_id"), []byte("BuildId: "), []byte("dso_base"), []byte("_instructions"), []byte("arch")}

// parse reads a line of a header; arch is the processor's name, in the words of
// symbol.Artifact, where the line says it.
func (h *header) parse(b []byte) (arch string, ok bool) {
	if n, found := dartField(b, "loading_unit"); found {
		id, err := strconv.Atoi(n)
		build, _ := dartField(b, "build_id")
		u := unit{build: build}
		var based bool
		u.base, based = dartAddress(b, "dso_base")
		u.start, ok = dartAddress(b, "instructions")
		if err != nil || !based || !ok || len(h.units) >= maxUnits {
			return "", false
		}
		if h.units == nil {
			h.units = map[int]unit{}
		}
		h.units[id] = u
		return "", true
	}
	if arch, found := dartField(b, "arch"); found {
		system, known := dartField(b, "os")
		if _, comp := dartField(b, "comp"); !known || !comp {
			return "", false
		}
		h.system = system
		return dartArch(arch), true
	}
	for _, key := range []string{"build_id", "BuildId"} {
		if id, found := dartField(b, key); found && scan.IsHex([]byte(id)) {
			h.build = id
			return "", true
		}
	}
	if v, found := dartAddress(b, "isolate_dso_base"); found {
		h.base = v
		return "", true
	}
	isolate, found := dartAddress(b, "isolate_instructions")
	vm, also := dartAddress(b, "vm_instructions")
	if found && also {
		h.isolate, h.vm = isolate, vm
	}
	return "", found && also
}

// dartField is the value of "KEY: VALUE" or "KEY=VALUE" in a line, without
// quotes; what stands before the key ends a word.
func dartField(b []byte, key string) (string, bool) {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(key))
		if i < 0 {
			return "", false
		}
		i += from
		from = i + len(key)
		if i > 0 && b[i-1] != ' ' && b[i-1] != '\t' && b[i-1] != ',' {
			continue
		}
		value := b[from:]
		switch {
		case bytes.HasPrefix(value, []byte("=")):
			value = value[1:]
		case bytes.HasPrefix(value, []byte(": ")):
			value = bytes.TrimLeft(value[2:], " ")
		default:
			continue
		}
		if end := bytes.IndexAny(value, " \t,"); end >= 0 {
			value = value[:end]
		}
		return string(bytes.Trim(value, "'")), true
	}
}

func dartAddress(b []byte, key string) (uint64, bool) {
	text, found := dartField(b, key)
	v, err := strconv.ParseUint(text, 16, 64)
	return v, found && err == nil
}

// dartArch gives the word of symbol.Artifact for what Dart calls an architecture.
func dartArch(word string) string {
	switch word {
	case "x64":
		return "x86_64"
	case "ia32":
		return "x86"
	}
	return report.Arch(word)
}
