// Package script is what dialects share that read frames of JavaScript: which files are scripts, and what a file, a
// line and a column say.
package script

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// ends are the endings of files that hold scripts or their bytecode.
var ends = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".bundle", ".jsbundle", ".hbc", ".html", ".htm", ".vue", ".php"}

// own begins the names of code that is the engine's, or an extension's.
var own = []string{"node:", "internal/", "native ", "eval code", "wasm://", "webpack-internal:", "chrome-extension:", "moz-extension:", "safari-extension:", "about:"}

// Is tells a script from the engine's own code and from what only looks like a place. Unless sure, the URL must
// have a scheme or end as scripts do: compilers and linters print FILE:LINE:COLUMN too.
func Is(url []byte, sure bool) bool {
	if len(url) == 0 || url[0] == '<' || url[0] == '[' || bytes.Contains(url, []byte(" > ")) {
		return false
	}
	s := string(url)
	for _, begin := range own {
		if strings.HasPrefix(s, begin) {
			return false
		}
	}
	file := Path(s)
	if strings.HasSuffix(file, "/InternalBytecode.js") {
		return false
	}
	if sure || strings.Contains(s, "://") || strings.HasPrefix(s, "blob:") {
		return true
	}
	file = strings.ToLower(file)
	for _, end := range ends {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return false
}

// IsBytecode reports whether a file is called as React Native calls its bundle. These days it is bytecode
// of Hermes, and its columns count from 0.
func IsBytecode(url string) bool {
	file := Path(url)
	for _, end := range []string{".bundle", ".jsbundle", ".hbc"} {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return false
}

// Path is a URL without what changes from request to request.
func Path(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	return url
}

// Set fills in what a URL, a line from 1 and a column from 0 say.
func Set(f *report.Frame, url string, line, column uint64) {
	f.File = Path(url)
	name := f.File[strings.LastIndexAny(f.File, `/\`)+1:]
	if name != "" {
		f.Image = append(f.Image, name)
	}
	f.Script.Module = moduleOf(name)
	segment := uint32(0)
	if m := f.Script.Module; m != nil {
		segment = m.Segment
	}
	pos, ok := symbol.ScriptPosition(segment, uint32(min(line-1, symbol.MaxLine)), uint32(column))
	if !ok {
		pos = symbol.TablesEnd
	}
	f.At = symbol.Where{Space: symbol.Position, Value: pos}
}

// moduleOf reads the names that React Native gives modules and segments: 33.js, seg-1.js, seg-1_33.js.
func moduleOf(file string) *report.Module {
	stem, ok := strings.CutSuffix(file, ".js")
	if !ok {
		return nil
	}
	segment, number := "0", stem
	if rest, ok := strings.CutPrefix(stem, "seg-"); ok {
		segment, number, _ = strings.Cut(rest, "_")
	}
	n, end, ok := scan.Uint32([]byte(segment), 0)
	if !ok || end != len(segment) || n >= symbol.MaxSegments {
		return nil
	}
	m := &report.Module{Segment: uint32(n)}
	if number == "" {
		return m
	}
	v, end, ok := scan.Uint32([]byte(number), 0)
	if !ok || end != len(number) {
		return nil
	}
	m.Table, m.Number = report.Modules, uint32(v)
	return m
}
