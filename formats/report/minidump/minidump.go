// Package minidump reads minidumps of Breakpad and Crashpad, and the output of their stackwalkers.
package minidump

import "github.com/symlake/symlake/formats/report"

// Dialect reads minidumps, and the output of programs that walk their stacks.
var Dialect = report.Dialect{
	Name:      "minidump",
	Forms:     []*report.Form{minidumpFile, walkJSON, walkPlain, walkFields},
	Files:     []report.File{{Begins: minidumpBegins, Read: readMinidump}},
	Documents: []report.Document{walkText},
	Objects:   []report.Object{{Member: "modules", Read: readStackwalk}},
}

var (
	minidumpFile = &report.Form{Name: "minidump", Frame0: report.Exact, Lines: "a dump of Breakpad or Crashpad: where each thread stood, and what its frame pointers lead to"}
	walkJSON     = &report.Form{Name: "stackwalk", Frame0: report.Stepped, Print: printStackwalk, Lines: "JSON of minidump-stackwalk, with modules, and frames of module_offset"}
	walkPlain    = &report.Form{Name: "stackwalk-text", Frame0: report.Exact, Print: printWalk, Lines: "0  libcart.so + 0x228fe of minidump_stackwalk, its frames' registers below; rust-minidump's are stepped"}
	walkFields   = &report.Form{Name: "stackwalk-machine", Frame0: report.Exact, Print: printWalkFields, Lines: "0|0|libcart.so||||0x228fe of minidump_stackwalk -m"}
)
