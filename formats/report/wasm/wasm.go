// Package wasm reads backtraces of runtimes of WebAssembly outside of browsers: Wasmtime's and wasm3's.
//
// Wasmtime prints the offset of an instruction in the module: of a frame that called another, the call's own. Offsets of
// wasm3, which it fills up with zeros, lie behind the instruction, in the innermost frame too.
package wasm

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads backtraces of runtimes of WebAssembly.
var Dialect = report.Dialect{
	Name:  "wasm",
	Forms: []*report.Form{wasmtime},
	Lines: func(b *report.Builder) report.Lines { return report.Lines{Find: find} },
}

var wasmtime = &report.Form{Name: "wasmtime", Frame0: report.Stepped, Kind: symbol.Wasm, Gap: report.GapEndsReport,
	Lines: "0: 0x1a2b - app.wasm!run, also wasm3's"}

// find reads "0:    0x1a2b - MODULE!FUNCTION".
func find(l *report.Line, f *report.Found) bool {
	b := l.Text
	start := scan.SkipSpace(b, 0)
	number, p, ok := scan.Number(b, start)
	if !ok || p >= len(b) || b[p] != ':' {
		return false
	}
	p = scan.SkipSpace(b, p+1)
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return false
	}
	digits := p + len(scan.HexMark)
	offset, end, ok := scan.Hex(b, digits)
	between := []byte(" - ")
	if !ok || offset >= symbol.WasmFunction(0) || !bytes.HasPrefix(b[end:], between) {
		return false
	}
	tail := end + len(between)
	module, function, ok := bytes.Cut(b[tail:], []byte{'!'})
	if !ok || len(module) == 0 || len(function) == 0 || bytes.ContainsAny(module, " \t:(,") {
		return false
	}
	if b[digits] == '0' && offset > 0 { // behind the instruction
		offset--
	}
	place := report.Place{Start: start, Tail: tail, PC: offset, Space: symbol.Position}
	if module[0] != '<' && module[0] != '.' { // <unknown>, .unnamed
		place.SetFile(module)
	}
	*f = report.Found{Form: wasmtime, Number: int(min(number, 1<<20)), Place: place}
	return true
}
