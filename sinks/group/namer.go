package group

import (
	"path"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Namer gives functions the names that groups are made of. It keeps the names it has given. Not safe for concurrent use.
type Namer struct{ known map[asked]given }

// asked is all that a name depends on.
type asked struct {
	function, linkage, file string
	managed, script         bool
}

type given struct {
	name string
	own  bool
}

// mostKnown names are kept, in some 8 MB. The rows of some libraries ask for 100,000, in any order.
const mostKnown = 1 << 16

// Name returns the name of a function of an answer; "" if a compiler made it, so that it never counts. own reports
// whether it is the application's: it lies outside of the system's images and packages, of libraries that come with a
// language, and of the ignore lists of maps. f is the frame that was answered, nil if it came without text.
func (n *Namer) Name(f *report.Frame, line *symbol.Frame) (name string, own bool) {
	key := asked{function: line.Function, linkage: line.Linkage, file: line.File}
	if f != nil {
		key.managed, key.script = f.Managed != nil, f.Script != nil
	}
	g, known := n.known[key]
	if !known {
		g.name, g.own = nameOf(&key)
		if n.known == nil {
			n.known = map[asked]given{}
		}
		if len(n.known) >= mostKnown {
			clear(n.known)
		}
		n.known[key] = g
	}
	own = g.own && !line.Ignored
	if f != nil && f.Managed == nil {
		own = own && !ofSystem(f)
	}
	return g.name, own
}

// class returns the name of a method that stands in a stack as in the source.
func (n *Namer) class(m *report.Managed) (name string, own bool) {
	if m.Method == "" {
		return "", false
	}
	return managedName(m.Class + "." + m.Method), !ofPlatform(m.Class)
}

// nameOf chooses the rules by the language.
func nameOf(a *asked) (name string, own bool) {
	readable := a.function
	if readable == "" {
		readable = a.linkage
	}
	switch {
	case a.managed:
		name = a.linkage
		if name == "" {
			name = readable
		}
		name, _, _ = strings.Cut(name, "(")
		return managedName(name), !ofPlatform(name)
	case a.script || isScript(a.file):
		if a.linkage != "" {
			readable = a.linkage // a name of the engine's own is another in each build
		}
		return scriptName(readable, a.file), !ofBundler(a.file)
	}
	if isSwift(a.linkage) && readable != a.linkage {
		name = swiftName(readable)
		return name, !hasAnyPrefix(strings.TrimPrefix(name, "{closure} in "), swiftLibraries)
	}
	switch path.Ext(a.file) {
	case ".go":
		return goName(readable), !hasAnyPrefix(readable, goLibraries)
	case ".dart":
		return strings.TrimPrefix(readable, "new "), !hasAnyPrefix(a.file, dartLibraries)
	}
	known := false
	if isMicrosoft(a.linkage) {
		name, known = microsoftName(a.linkage)
	}
	if !known {
		name = nativeName(readable)
	}
	own = !hasAnyPrefix(name, cxxLibraries) && !cFunctions[name]
	if isRust(a.linkage) {
		own = !hasAnyPrefix(strings.TrimLeft(name, "<"), rustLibraries)
	}
	return lastScopes(name), own
}

// Names of the libraries that come with a language begin so.
var (
	cxxLibraries   = []string{"std::", "__gnu_cxx::", "__cxxabiv1::", "_Unwind_", "__cxa_", "__gxx_", "__libc_", "__rust_", "rust_", "_swift_", "swift_"}
	rustLibraries  = []string{"std::", "core::", "alloc::", "__rust_", "rust_", "_Unwind_"}
	swiftLibraries = []string{"Swift.", "_Concurrency.", "Foundation."}
	goLibraries    = []string{"runtime.", "runtime/", "internal/runtime/"}
	dartLibraries  = []string{"dart:", "org-dartlang-sdk:", "package:flutter/"}
)

// cFunctions are functions of C's library that an executable may hold itself.
var cFunctions = map[string]bool{"abort": true, "raise": true, "__assert_fail": true, "__assert_rtn": true, "__assert": true, "__stack_chk_fail": true,
	"__fortify_fail": true, "__chk_fail": true, "_start": true, "__pthread_kill": true, "pthread_kill": true, "tgkill": true}
