package simpleperf

import (
	"path"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// file is a file that call chains refer to.
type file struct {
	path    string
	symbols []string
	mangled []string // as the program has them, in the order of symbols; other lengths say nothing
}

// isDex reports whether a file holds code of Java or Kotlin.
func (f *file) isDex() bool {
	if f.path == "[JIT app cache]" || strings.HasPrefix(f.path, "/memfd:jit-cache") {
		return true
	}
	inner := f.path[strings.LastIndexByte(f.path, '!')+1:]
	for _, end := range []string{".apk", ".dex", ".jar", ".vdex", ".odex", ".oat", ".art"} {
		if strings.HasSuffix(inner, end) {
			return true
		}
	}
	return false
}

// isSystem reports whether a file is a part of Android, which no application's mapping renames.
func (f *file) isSystem() bool {
	for _, begin := range []string{"/apex/", "/system/", "/system_ext/", "/vendor/", "/product/", "/odm/"} {
		if strings.HasPrefix(f.path, begin) {
			return true
		}
	}
	return false
}

// isImage reports whether a file is a library or a program that can have symbols.
func (f *file) isImage() bool {
	name := path.Base(f.path)
	return f.path != "" && name != "." && name != "/" && name[0] != '[' && f.path[0] != '[' && f.path[0] != '<' && f.path != "unknown" && !strings.HasPrefix(f.path, "//anon") &&
		!strings.HasPrefix(f.path, "/dev/") && !f.isDex()
}

// native returns the question for an address of the file.
func (f *file) native(address uint64) report.Frame {
	q := report.Frame{Kind: symbol.ELF, File: f.path, Raw: address, At: symbol.Where{Space: symbol.Unslid, Value: address}}
	if i := strings.IndexByte(f.path, '!'); i > 0 && i < len(f.path)-1 {
		q.Container, q.File = f.path[:i], f.path[i+1:]
	}
	q.Image = []string{path.Base(q.File)}
	return q
}

// managed returns the question for a method of Java, and where its name stands in symbol. ok is false if symbol names none:
//
//	com.example.a.b
//	void com.example.a.b(int, java.lang.String)
func managed(name string) (q report.Frame, from, to int, ok bool) {
	to = len(name)
	if i := strings.IndexByte(name, '('); i >= 0 {
		to = i
	}
	from = strings.LastIndexByte(name[:to], ' ') + 1
	dot := strings.LastIndexByte(name[from:to], '.')
	if dot <= 0 || dot == to-from-1 || strings.ContainsAny(name[from:to], "/:[]+*") {
		return q, 0, 0, false
	}
	m := &report.Managed{Class: name[from : from+dot], Method: name[from+dot+1 : to], Line: -1}
	return report.Frame{Kind: symbol.R8, Managed: m}, from, to, true
}

// isPlace reports whether a symbol is no name but says the address, as simpleperf does on request: "libcart.so[+1f3a]",
// "*libcart.so[+1f3a]".
func isPlace(name string) bool {
	i := strings.LastIndex(name, "[+")
	return i >= 0 && strings.HasSuffix(name, "]") && len(name) > i+3 && strings.Trim(name[i+2:len(name)-1], "0123456789abcdef") == ""
}
