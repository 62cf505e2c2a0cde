package js

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// wasmPlace is the place of a line in a module of WebAssembly.
type wasmPlace struct {
	url      []byte // of the module; nil: the line does not say it
	module   []byte // what the module is called; nil: the line does not say it
	offset   uint64 // in the module, of the instruction itself: engines print no return addresses
	index    uint32 // of the function
	isOffset bool
	isIndex  bool
}

var (
	wasmWord     = []byte("wasm")
	wasmFunction = []byte("wasm-function[")
	wasmCode     = []byte("[wasm code]")
	wasmFile     = []byte(".wasm")
	hexPlace     = []byte(":0x")
	wasmerPlace  = []byte("]:0x")
)

// parseWasm reads one frame of code of WebAssembly, without its line end:
//
//	at NAME (URL:wasm-function[N]:0xOFFSET)   at URL:wasm-function[N]:0xOFFSET   V8
//	NAME@URL:wasm-function[N]:0xOFFSET                                           Firefox
//	NAME@MODULE:wasm-function[N]              MODULE.wasm-function[N]@[wasm code] Safari
//	at NAME (MODULE[N]:0xOFFSET)                                                 Wasmer
//	URL:0xOFFSET in any of these places, if the URL is a module's
func parseWasm(b []byte) (l line, ok bool) {
	if !bytes.Contains(b, wasmWord) && !bytes.Contains(b, wasmerPlace) {
		return l, false
	}
	l.text, l.start = b, scan.SkipSpace(b, scan.LogPrefix(b))
	l.end = len(bytes.TrimRight(b, " \t"))
	if l.start >= l.end {
		return l, false
	}
	l.wasm = &wasmPlace{}
	rest := b[l.start:l.end]
	if bytes.HasPrefix(rest, []byte("at ")) {
		return l, l.wasmAt(l.start + len("at "))
	}
	sign := signIndex(rest)
	if sign < 0 {
		l.form, l.name = jsOnly, [2]int{l.start, l.start}
		return l, bytes.IndexByte(rest, ' ') < 0 && l.wasmPlace(l.start, l.end)
	}
	l.form, l.name = jsSign, [2]int{l.start, l.start + sign}
	if bytes.Equal(rest[sign+1:], wasmCode) {
		l.place = [2]int{l.start + sign + 1, l.end}
		ok = l.wasm.function(rest[:sign])
		l.wasm.settle(rest[:sign])
		return l, ok
	}
	return l, l.wasmPlace(l.start+sign+1, l.end)
}

// wasmAt reads NAME (PLACE) or PLACE from p on.
func (l *line) wasmAt(p int) bool {
	p += len(leading(l.text[p:l.end]))
	if l.text[l.end-1] != ')' {
		l.form, l.name = jsBare, [2]int{p, p}
		return l.wasmPlace(p, l.end)
	}
	open := bytes.LastIndex(l.text[p:l.end], []byte(" ("))
	if open < 0 {
		return false
	}
	l.form, l.name = jsAt, [2]int{p, p + open}
	return l.wasmPlace(p+open+len(" ("), l.end-1)
}

// wasmPlace reads the place between two offsets of the line.
func (l *line) wasmPlace(from, to int) bool {
	w, text := l.wasm, l.text[from:to]
	l.place = [2]int{from, to}
	if at := bytes.LastIndex(text, hexPlace); at >= 0 {
		v, end, ok := scan.Hex(text, at+len(hexPlace))
		if !ok || end != len(text) {
			return false
		}
		w.offset, w.isOffset, text = v, true, text[:at]
	}
	if !w.function(text) && !(l.form == jsAt && w.isOffset && w.numbered(text)) {
		if w.url = text; !w.isOffset || !bytes.HasSuffix([]byte(script.Path(string(text))), wasmFile) && !bytes.HasPrefix(text, []byte("wasm://")) {
			return false
		}
	}
	w.settle(l.text[l.name[0]:l.name[1]])
	return true
}

// function reads URL:wasm-function[N] or MODULE.wasm-function[N].
func (w *wasmPlace) function(text []byte) bool {
	at := bytes.LastIndex(text, wasmFunction)
	if at < 0 || text[len(text)-1] != ']' {
		return false
	}
	n, end, ok := scan.Uint32(text, at+len(wasmFunction))
	if !ok || end != len(text)-1 {
		return false
	}
	w.index, w.isIndex = uint32(n), true
	if at > 0 {
		w.url = text[:at-1]
	}
	return true
}

// numbered reads MODULE[N].
func (w *wasmPlace) numbered(text []byte) bool {
	at := bytes.LastIndexByte(text, '[')
	if at <= 0 || text[len(text)-1] != ']' || bytes.ContainsAny(text[:at], " :/") {
		return false
	}
	n, end, ok := scan.Uint32(text, at+1)
	if !ok || end != len(text)-1 {
		return false
	}
	w.index, w.isIndex, w.module = uint32(n), true, text[:at]
	if text[0] == '<' { // <module>
		w.module = nil
	}
	const unknown = 1<<32 - 1
	w.isOffset = w.offset != unknown
	return true
}

// settle finds out what the module is called: by its URL, and by the name before the function.
func (w *wasmPlace) settle(function []byte) {
	if at := bytes.Index(function, []byte(".wasm.")); at > 0 {
		w.module = function[:at+len(wasmFile)]
	}
	switch name, made := bytes.CutPrefix(w.url, []byte("wasm://wasm/")); {
	case made:
		// V8 has no URL: the module's name and a hash of it, or the hash alone.
		w.url = nil
		if n := len(name) - len("-01234567"); n > 0 && name[n] == '-' && scan.IsHex(name[n+1:]) {
			w.module = name[:n]
		}
	case bytes.Contains(w.url, []byte(" > WebAssembly.")), bytes.HasPrefix(w.url, []byte("<")):
		w.url = nil // Firefox names the script that compiled the module; Safari's <?> is nothing
	}
}

// frame sets what the place says of a frame.
func (w *wasmPlace) frame(f *report.Frame, intern func([]byte) string) {
	f.Kind = symbol.Wasm
	f.File = script.Path(intern(w.url))
	if f.File == "" {
		f.File = intern(w.module)
	}
	if name := string(scan.Base([]byte(f.File))); name != "" {
		f.Image = append(f.Image, intern([]byte(name)))
		if w.url != nil && w.module != nil && name != string(w.module) {
			f.Image = append(f.Image, intern(w.module))
		}
	}
	f.At, f.Raw = symbol.Where{Space: symbol.Position, Value: w.offset}, w.offset
	if !w.isOffset {
		f.At.Value, f.Raw = symbol.WasmFunction(w.index), uint64(w.index)
	}
}
