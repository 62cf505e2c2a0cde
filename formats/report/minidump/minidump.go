// Package minidump reads minidumps of Breakpad, Crashpad and Windows, and the output of their stackwalkers.
//
// A dump has the registers of each thread and the memory of its stack. The package makes a process of it, which package
// formats/unwind walks: by frame pointers and scans alone, or with the rules of a store (see report.Walk).
package minidump

import "github.com/symlake/symlake/formats/report"

// Dialect reads minidumps, and the output of programs that walk their stacks.
var Dialect = report.Dialect{
	Name:      "minidump",
	Forms:     []*report.Form{minidumpFile, walkJSON, walkPlain, walkFields},
	Files:     []report.File{{Begins: minidumpBegins, Read: readMinidump, Long: readLong}},
	Documents: []report.Document{walkText},
	Objects:   []report.Object{{Member: "modules", Read: readStackwalk}},
}

var (
	minidumpFile = &report.Form{Name: "minidump", Frame0: report.Exact, Lines: "a dump of Breakpad, Crashpad or Windows: where each thread stood, and its callers, each with how it was found"}
	walkJSON     = &report.Form{Name: "stackwalk", Frame0: report.Stepped, Print: printStackwalk, Lines: "JSON of minidump-stackwalk, with modules, and frames of module_offset"}
	walkPlain    = &report.Form{Name: "stackwalk-text", Frame0: report.Exact, Print: printWalk, Lines: "0  libcart.so + 0x228fe of minidump_stackwalk, its frames' registers below; rust-minidump's are stepped"}
	walkFields   = &report.Form{Name: "stackwalk-machine", Frame0: report.Exact, Print: printWalkFields, Lines: "0|0|libcart.so||||0x228fe of minidump_stackwalk -m"}
)
