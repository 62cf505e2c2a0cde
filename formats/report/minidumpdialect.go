package report

// minidumpDialect reads minidumps, and the output of programs that walk their stacks.
var minidumpDialect = Dialect{
	Name:      "minidump",
	Forms:     []*Form{minidumpFile, walkJSON, walkPlain, walkFields},
	Files:     []File{{Begins: minidumpBegins, Read: readMinidump}},
	Documents: []Document{walkText},
	Objects:   []Object{{Member: "modules", Read: readStackwalk}},
}

var (
	minidumpFile = &Form{Name: "minidump", Frame0: Exact, Lines: "a dump of Breakpad or Crashpad: where each thread stood, and what its frame pointers lead to"}
	walkJSON     = &Form{Name: "stackwalk", Frame0: Stepped, Print: printStackwalk, Lines: "JSON of minidump-stackwalk, with modules, and frames of module_offset"}
	walkPlain    = &Form{Name: "stackwalk-text", Frame0: Exact, Print: printWalk, Lines: "0  libcart.so + 0x228fe of minidump_stackwalk, its frames' registers below; rust-minidump's are stepped"}
	walkFields   = &Form{Name: "stackwalk-machine", Frame0: Exact, Print: printWalkFields, Lines: "0|0|libcart.so||||0x228fe of minidump_stackwalk -m"}
)
