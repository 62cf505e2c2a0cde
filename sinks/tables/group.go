package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// A group is "1:" and 16 hex digits: the first 8 bytes of SHA-256 over the names of the top functions of the application,
// at most five, inlined ones too, innermost first, each with a newline behind it. If none is the application's own, all
// functions count. Names are linkage names without what a compiler appends for its own use, so that a
// function has one name in every build: see bare. It is NULL unless every frame that was used is final: every one of the
// application up to the last that counts, so that symbols that come later never change a group. Durable: a change of any of
// this needs a new number.
const (
	groupVersion   = "1:"
	groupFunctions = 5
)

// groupOf is the group of functions, the top one first; "" of none.
func groupOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	h := sha256.New()
	for _, n := range names[:min(len(names), groupFunctions)] {
		h.Write([]byte(bare(n)))
		h.Write([]byte{'\n'})
	}
	return groupVersion + hex.EncodeToString(h.Sum(nil)[:8])
}

// suffixes are what compilers append to the names of parts and copies of a function.
var suffixes = []string{".cold", ".isra.", ".part.", ".constprop.", ".llvm.", ".lto_priv.", ".localalias", ".resume", ".destroy", ".cleanup", ".__uniq."}

// bare is a linkage name without what differs between builds of one source: suffixes of copies and parts, and the hash
// that ends a Rust name.
func bare(name string) string {
	for _, s := range suffixes {
		if i := strings.Index(name, s); i > 0 {
			name = name[:i]
		}
	}
	if n := len(name) - 20; n > 4 && strings.HasPrefix(name, "_ZN") && strings.HasPrefix(name[n:], "17h") && name[len(name)-1] == 'E' && isHex(name[n+3:len(name)-1]) {
		name = name[:n] + "E"
	}
	return name
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// final reports whether symbols that come later cannot change an answer.
func final(s symbol.Status) bool {
	return s == symbol.Found || s == symbol.Hole || s == symbol.Outside || s == invalid
}

// system are the beginnings of paths of images, and of names of classes, that no application brings.
var (
	systemPaths   = []string{"/system/", "/apex/", "/vendor/", "/product/", "/system_ext/", "/usr/lib/", "/System/", "/lib/", "/lib64/", "[vdso", "/data/dalvik-cache/", "/memfd:", "/Library/Apple/"}
	systemClasses = []string{"java.", "javax.", "sun.", "jdk.", "kotlin.", "kotlinx.", "android.", "androidx.", "com.android.", "dalvik.", "libcore."}
)

// ofSystem reports whether a frame lies outside the application, as far as its text says, and line, a function of its answer
// (nil: it has none).
func ofSystem(f *report.Frame, line *symbol.Frame) bool {
	list, name := systemPaths, f.File
	if f.Managed != nil {
		list, name = systemClasses, f.Managed.Class
		if line != nil {
			name = line.Function
		}
	}
	for _, p := range list {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return line != nil && (line.Ignored || f.Script != nil && strings.Contains(line.File, "/node_modules/"))
}
