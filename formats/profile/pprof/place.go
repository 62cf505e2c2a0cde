package pprof

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// place names the place of a field in messages.
func place(at int64) string { return "field at 0x" + strconv.FormatUint(uint64(at), 16) }

// space is how addresses of a mapping are to be read.
type space uint8

const (
	unasked  space = iota // there is no file
	inFile                // through the mapping's part of the file
	unslid                // addresses of the file
	loaded                // from the beginning of the mapping, where the image begins
	anchored              // from the beginning of the mapping, where a symbol or a section lies
)

// image is a mapping as its places are asked for.
type image struct {
	*mapping
	space  space
	ask    report.Frame // without its place
	of     int32        // number of the code
	anchor string
	mapped *symbol.Mapping
	dex    bool // code of Java or Kotlin on Android
}

// span is the lowest and the highest address of locations.
type span struct{ lowest, highest uint64 }

// imageOf returns a mapping of a file with a build-id; s is nil if no location asks for it.
func imageOf(m *mapping, file, build string, s *span) image {
	im := image{mapping: m, dex: isDex(file)}
	file = strings.TrimSuffix(file, " (deleted)")
	f := &im.ask
	f.File = file
	if i := strings.LastIndexByte(file, '!'); i > 0 && i < len(file)-1 {
		f.Container, f.File = file[:i], strings.TrimPrefix(file[i+1:], "/")
	}
	is := kindOf(file, baseOf(f.File), m.start)
	f.Image = namesOf(is, baseOf(f.File), build)
	if file == "" && build == "" || im.dex && build == "" && f.Container == "" {
		return im
	}
	whole := m.limit == 0 || m.limit == ^uint64(0)
	switch {
	case m.start == 0 && m.offset == 0, s != nil && !whole && (s.highest < m.start || s.lowest >= m.limit):
		im.space = unslid
	case is == kernel && strings.HasSuffix(file, "_stext"):
		im.space, im.anchor = anchored, "_stext"
	case is == kernel, isWindows(file):
		im.space = loaded
	case is == module:
		im.space, im.anchor = anchored, ".text"
	default:
		im.space = inFile
		im.mapped = &symbol.Mapping{Offset: m.offset, Within: isArchive(baseOf(f.Container)) || is == archive}
		if !whole && m.limit > m.start {
			im.mapped.Size = m.limit - m.start
		}
	}
	return im
}

// kind is the family of a mapping's file.
type kind uint8

const (
	nameless kind = iota // no file: "[vdso]", memory
	library              // or a program
	archive              // it holds libraries at offsets of their own
	kernel
	module // of the kernel
)

// kindOf returns the kind of a file by its path and name, and where it is mapped.
func kindOf(file, name string, start uint64) kind {
	switch {
	case strings.HasPrefix(file, "[kernel"), strings.HasPrefix(file, "[guest.kernel"), name == "vmlinux":
		return kernel
	case strings.HasSuffix(name, ".ko"), len(name) > 2 && name[0] == '[' && name[len(name)-1] == ']' && start>>63 != 0:
		return module
	case name == "", name[0] == '[', name[0] == '<', strings.HasPrefix(file, "//anon"):
		return nameless
	case isArchive(name):
		return archive
	}
	return library
}

// namesOf returns the names to ask for, best first.
func namesOf(is kind, name, build string) (names []string) {
	if build != "" {
		names = append(names, strings.ToLower(build))
	}
	switch {
	case is == kernel:
		return append(names, "vmlinux")
	case is == module && name[0] == '[':
		return append(names, name[1:len(name)-1]+".ko")
	case is == library, is == module:
		return append(names, name)
	}
	return names
}

// holds reports whether the mapping may have an address.
func (im *image) holds(address uint64) bool {
	return im.space == unslid || address >= im.start && (address < im.limit || im.limit == 0)
}

// within returns the place of an address that the mapping holds: in the file, or from where the mapping begins.
func (im *image) within(address uint64) uint64 {
	switch im.space {
	case unslid:
		return address
	case inFile:
		return address - im.start + im.offset
	}
	return address - im.start
}

// key returns what questions say of the image.
func (im *image) key() string {
	k := fmt.Sprintf("%d\x00%s\x00%s", im.space, im.anchor, keyOf(&im.ask))
	if im.mapped != nil {
		k += fmt.Sprintf("\x00%d %d %v", im.mapped.Offset, im.mapped.Size, im.mapped.Within)
	}
	return k
}

// keyOf returns what a question says of the code.
func keyOf(q *report.Frame) string {
	k := strings.Join(q.Image, "\x01") + "\x00" + q.File
	if q.Managed != nil {
		k += "\x00" + q.Managed.Class + "." + q.Managed.Method + "\x00" + q.Managed.File
	}
	return k
}

// question returns the question for a place that within gave.
func (im *image) question(at uint64) report.Frame {
	q := im.ask
	q.Raw = at
	switch im.space {
	case unslid:
		q.At = symbol.Where{Space: symbol.Unslid, Value: at}
	case loaded:
		q.At = symbol.Where{Space: symbol.Loaded, Value: at}
	case anchored:
		q.At = symbol.Where{Space: symbol.Anchored, Value: at, Anchor: im.anchor}
	default:
		q.At = symbol.Where{Space: symbol.FileOffset, Value: at, Mapped: im.mapped}
		if im.offset == 0 && !im.mapped.Within {
			q.Or = []symbol.Where{{Space: symbol.Loaded, Value: at}}
		}
	}
	return q
}

// baseOf returns the name of a file, of Windows too.
func baseOf(file string) string {
	file = file[strings.LastIndexByte(file, '/')+1:]
	return file[strings.LastIndexByte(file, '\\')+1:]
}

// isArchive reports whether a file holds libraries at offsets of their own.
func isArchive(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".apk", ".zip", ".jar", ".hap", ".apex", ".aab":
		return true
	}
	return false
}

// isWindows reports whether a file is an image of Windows, which is mapped as one.
func isWindows(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".exe", ".dll", ".sys", ".pyd":
		return true
	}
	return false
}

// isDex reports whether a file holds code of Java or Kotlin for Android, and may be an application's.
func isDex(file string) bool {
	for _, begin := range []string{"/apex/", "/system/", "/system_ext/", "/vendor/", "/product/", "/odm/"} {
		if strings.HasPrefix(file, begin) {
			return false
		}
	}
	if strings.HasPrefix(file, "[JIT app cache]") || strings.HasPrefix(file, "/memfd:jit-cache") || strings.Contains(file, "dalvik-jit") {
		return true
	}
	switch path.Ext(file) {
	case ".apk", ".dex", ".vdex", ".odex", ".oat", ".art":
		return true
	}
	return false
}

// scripted returns the question for a line, above a column from 0, of a script; ok is false for other code.
func scripted(file string, at uint64) (q report.Frame, ok bool) {
	file, _, _ = strings.Cut(file, "?")
	file, _, _ = strings.Cut(file, "#")
	if !isScript(file) {
		return q, false
	}
	return scripts.Place("", file, at>>32, at&math.MaxUint32)
}

// isScript reports whether a file is a script that a bundler may have made.
func isScript(file string) bool {
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs", ".bundle", ".jsbundle", ".hbc":
		return !strings.HasPrefix(file, "node:")
	}
	return false
}

// managed returns the question for a method of Java, and where its name stands in the function's. Line 0 is not known. ok
// is false if the name is none of a method:
//
//	com.example.a.b
//	void com.example.a.b(int, java.lang.String)
func managed(name, file string, line uint64) (q report.Frame, from, to int, ok bool) {
	to = len(name)
	if i := strings.IndexByte(name, '('); i >= 0 {
		to = i
	}
	from = strings.LastIndexByte(name[:to], ' ') + 1
	dot := strings.LastIndexByte(name[from:to], '.')
	if dot <= 0 || dot == to-from-1 || strings.ContainsAny(name[from:to], "/:[]+*{}&~#,;@\"'") {
		return q, 0, 0, false
	}
	m := &report.Managed{Class: name[from : from+dot], Method: name[from+dot+1 : to], Line: -1}
	if file != "" {
		m.File, m.Filed = file, true
	}
	if line > 0 {
		m.Line, m.Lined = int(line), true
	}
	q = report.Frame{Kind: symbol.R8, Managed: m}
	if id, found := strings.CutPrefix(file, mapID); found {
		q.Image = []string{id}
	}
	return q, from, to, true
}

// isMapID reports whether the file of a function names the mapping.
func isMapID(file string) bool { return strings.HasPrefix(file, mapID) }

// isManagedFile reports whether the file of a function is as Java's and Kotlin's are, or a minifier's mark.
func isManagedFile(file string) bool {
	return isMapID(file) || file == "SourceFile" || file == "Unknown Source" || strings.HasSuffix(file, ".java") || strings.HasSuffix(file, ".kt")
}

// mapID begins the name of a source file that names the mapping.
const mapID = "r8-map-id-"
