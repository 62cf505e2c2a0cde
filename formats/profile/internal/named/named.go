// Package named reads places that profilers write into the names of frames, and asks for them.
//
//	libcart.so+0x1f3a   [libcart.so+0x1f3a]   libcart.so!0x1f3a   libcart.so`0x1f3a   0x1f3a (libcart.so)   native code
//	total (https://shop.test/app.js:1:123)   total app.js:1:123   LazyCompile:*total app.js:1:123          scripts
//	a.b.c   a/b/c.d_[j]   a.b.c.d:12                                                                       Java, if a mapping is known
package named

import (
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// Kind is what a name says.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota
	Native       // an address in a file
	Script       // a line and a column in a script
	Java         // a method, and maybe a line
)

// Place is a name that says a place. Its text is Before, the place, and Behind.
type Place struct {
	Kind     Kind
	Frame    report.Frame // of native code and scripts
	Before   string       // of the text: it stays
	Function string       // of scripts
	Behind   string       // of the text: it stays
	Wrapped  bool         // the place of a script stands in parentheses
	Class    string       // of Java, with dots
	Method   string
	Slashed  bool // the class has slashes in the text
	Line     int  // of Java; 0: not said
}

// Parse reads the name of a frame. caller says that an address is where a call returns to.
func Parse(text string, caller bool) (p Place) {
	if len(text) < 3 || len(text) > 4096 {
		return p
	}
	body, behind := Suffix(text)
	switch {
	case p.script(body):
	case strings.Contains(body, "0x") && p.native(body, caller):
	case p.java(body, behind):
	}
	p.Behind = behind
	return p
}

// Suffix cuts the mark off that profilers append to names: _[j] of compiled Java, _[i] of inlined, _[k] of the kernel's,
// _[0] and _[1] of interpreted and of compiled functions.
func Suffix(text string) (name, mark string) {
	n := len(text)
	if n > 4 && text[n-1] == ']' && text[n-4:n-2] == "_[" {
		return text[:n-4], text[n-4:]
	}
	return text, ""
}

// native reads an address in a file.
func (p *Place) native(text string, caller bool) bool {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		text = inner[:len(inner)-1]
	}
	var file, digits string
	space := symbol.Position
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		var found bool
		if digits, file, found = strings.Cut(rest, " ("); !found || !strings.HasSuffix(file, ")") {
			return false
		}
		file = file[:len(file)-1]
		space = symbol.Unslid
	} else {
		at := strings.LastIndex(text, "0x")
		digits, file = text[at+2:], text[:at]
		cut := false
		for _, mark := range []string{"!+", "+", "!", "`"} {
			if file, cut = strings.CutSuffix(file, mark); cut {
				break
			}
		}
		if !cut {
			return false
		}
		if inner, ok := strings.CutPrefix(file, "["); ok { // [libcart.so]+0x1f3a
			file = strings.TrimSuffix(inner, "]")
		}
	}
	base := path.Base(file)
	address, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || file == "" || strings.ContainsAny(base, "()<>{}:[],;*&'\"") || !isFile(base) || space == symbol.Unslid && address >= 1<<40 {
		return false // functions have offsets, too, and addresses of the process are in no file
	}
	at := address
	if caller {
		at = report.Step("", address)
	}
	p.Kind = Native
	p.Frame = report.Frame{File: file, Image: []string{base}, Raw: address, At: symbol.Where{Space: space, Value: at}}
	return true
}

// isFile: the name is a file's, not a function's.
func isFile(base string) bool {
	for _, ending := range []string{".so", ".dll", ".exe", ".dylib", ".node", ".apk", ".oat", ".odex", ".debug", ".bin", ".out", ".elf"} {
		if strings.HasSuffix(base, ending) || strings.Contains(base, ending+".") {
			return true
		}
	}
	// Programs have no ending. A name with a sign of C++, or of a path of modules, is none.
	return base != "" && base != "unknown" && !strings.Contains(base, "::") && !strings.HasPrefix(base, "0x")
}

// script reads a line and a column in a script.
func (p *Place) script(text string) bool {
	body, wrapped := strings.CutSuffix(text, ")")
	colon := strings.LastIndexByte(body, ':')
	if colon < 0 {
		return false
	}
	column, err := strconv.ParseUint(body[colon+1:], 10, 31)
	if err != nil || column == 0 {
		return false
	}
	rest := body[:colon]
	if colon = strings.LastIndexByte(rest, ':'); colon < 0 {
		return false
	}
	line, err := strconv.ParseUint(rest[colon+1:], 10, 31)
	if err != nil {
		return false
	}
	rest = rest[:colon]
	open := strings.LastIndex(rest, " (")
	if wrapped != (open >= 0) {
		return false
	}
	name, url := "", rest
	if wrapped {
		name, url = rest[:open], rest[open+2:]
	} else if open = strings.LastIndexByte(rest, ' '); open >= 0 {
		name, url = rest[:open], rest[open+1:]
	}
	before := ""
	if i := strings.IndexByte(name, ':'); i >= 0 && isTag(name[:i]) {
		before, name = name[:i+1], name[i+1:]
	}
	if trimmed := strings.TrimLeft(name, "*~^+"); len(trimmed) < len(name) {
		before, name = before+name[:len(name)-len(trimmed)], trimmed
	}
	f, ok := scripts.Place("", url, line, column)
	if !ok {
		return false
	}
	p.Kind, p.Frame, p.Before, p.Function, p.Wrapped = Script, f, before, name, wrapped
	return true
}

// isTag: V8 begins names in the maps of perf with the kind of code.
func isTag(word string) bool {
	switch word {
	case "LazyCompile", "Function", "Script", "Eval", "JS":
		return true
	}
	return false
}

// java reads a method of Java.
func (p *Place) java(text, mark string) bool {
	if strings.ContainsAny(text, " ()[]<>{}:*&'\"`!@#%+=~|\\") && !javaSigns(text) {
		return false
	}
	name := text
	if at := strings.LastIndexByte(text, ':'); at > 0 {
		line, err := strconv.ParseUint(text[at+1:], 10, 31)
		if err != nil {
			return false
		}
		p.Line, name = int(line), text[:at]
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || dot == len(name)-1 {
		return false
	}
	class, method := name[:dot], name[dot+1:]
	p.Slashed = strings.IndexByte(class, '/') >= 0
	if strings.HasPrefix(class, "/") || p.Slashed && strings.IndexByte(class, '.') >= 0 || strings.Contains(class, "..") || mark == "_[k]" {
		return false
	}
	p.Kind, p.Class, p.Method = Java, strings.ReplaceAll(class, "/", "."), method
	return true
}

// javaSigns: the only signs are those of constructors and of a line.
func javaSigns(text string) bool {
	text = strings.Replace(strings.Replace(text, ".<init>", "", 1), ".<clinit>", "", 1)
	if at := strings.LastIndexByte(text, ':'); at > 0 {
		text = text[:at] + text[at+1:]
	}
	return !strings.ContainsAny(text, " ()[]<>{}:*&'\"`!@#%+=~|\\")
}
