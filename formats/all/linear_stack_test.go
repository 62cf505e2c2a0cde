package all_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// text makes a shape of a raw stack.
func text(name string, n int, make func(n int) string) formattest.Shape {
	s := of("stack/"+name, "stack.txt", n, make)
	s.Kind = "stack"
	return s
}

const tombstoneHead = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: 2, name: x  >>> y <<<\n"

var stackShapes = []formattest.Shape{
	text("plain lines", 20000, func(n int) string { return each(n, "\n", "line %d") + "\n#00 pc 0010 a.so\n" }),
	text("long line", 1<<20, func(n int) string { return "#00 pc 0010 a.so\n" + strings.Repeat("x", n) + "\n" }),
	text("spaces", 1<<19, func(n int) string { return "#00 pc 0010 a.so\n" + strings.Repeat(" ", n) + "\n" }),
	text("tombstone frames", 5000, func(n int) string {
		return tombstoneHead + "backtrace:\n" + each(n, "\n", "  #%02d pc 0010 /d/b.apk!l.so (offset 0x1) (BuildId: ab)") + "\n"
	}),
	text("tombstone threads", 2000, func(n int) string {
		return tombstoneHead + each(n, "\n", "--- --- ---\npid: 1, tid: %d, name: x  >>> y <<<\n  #00 pc 0010 /d/b.so") + "\n"
	}),
	text("tombstones", 2000, func(n int) string { return each(n, "\n", tombstoneHead+"  #00 pc 0010 /d/b.so") + "\n" }),
	text("tombstone maps", 5000, func(n int) string {
		return tombstoneHead + "  #00 pc 0010 /d/b.so\n\nmemory map:\n" + each(n, "\n", "    %08x000-%08[1]x800 r-x 0 1000 /d/b%[1]d.so (BuildId: ab%[1]d)") + "\n"
	}),
	text("Java frames", 5000, func(n int) string { return "java.lang.Error: x\n" + each(n, "\n", "\tat a.b(SourceFile:%d)") + "\n" }),
	text("Java causes", 3000, func(n int) string {
		return "java.lang.Error: x\n" + each(n, "\n", "Caused by: a.E%d: x\n\tat a.b(SourceFile:1)\n\t... 1 more") + "\n"
	}),
	text("Java suppressed", 500, func(n int) string {
		return "java.lang.Error: x\n" + each(n, "\n", "\tSuppressed: a.E%d: x\n\t\tat a.b(SourceFile:1)") + "\n"
	}),
	text("Java message lines", 10000, func(n int) string {
		return "java.lang.Error: x\n" + each(n, "\n", "more %d") + "\n\tat a.b(SourceFile:1)\n"
	}),
	text("Java name", 15000, func(n int) string { return "java.lang.Error: x\n\tat " + strings.Repeat("a.", n) + "b(SourceFile:1)\n" }),
	text("JavaScript frames", 5000, func(n int) string { return "Error: a\n" + each(n, "\n", "    at f%d (http://h/a.js?b:1:35)") + "\n" }),
	text("JavaScript eval", 3000, func(n int) string {
		return "Error: a\n    at " + strings.Repeat("eval (", n) + "http://h/a.js:1:2" + strings.Repeat(")", n) + "\n    at f (http://h/a.js:1:2)\n"
	}),
	text("Firefox frames", 5000, func(n int) string { return each(n, "\n", "async*f%d@http://h/a.js:1:2") + "\n" }),
	text("Go frames", 5000, func(n int) string {
		return "goroutine 1 [running]:\n" + each(n, "\n", "main.f%d(0x1)\n\t/src/a.go:20 +0x1d") + "\n"
	}),
	text("goroutines", 3000, func(n int) string {
		return each(n, "\n", "goroutine %d [running]:\nmain.f(0x1)\n\t/src/a.go:20 +0x1d\n") + "\n"
	}),
	text("Dart frames", 5000, func(n int) string {
		return "*** *** *** *** ***\npid: 1, tid: 2, name x\nos: android arch: arm64 comp: yes sim: no\nbuild_id: 'abcdef0123456789'\nisolate_dso_base: 7f0000, vm_dso_base: 7f0000\nisolate_instructions: 7f1000, vm_instructions: 7f0010\n" +
			each(n, "\n", "    #%02d abs 00007f%06[1]x virt 000031ba6f _kDartIsolateSnapshotInstructions+0x14") + "\n"
	}),
	text("sanitizer frames", 5000, func(n int) string { return each(n, "\n", "    #%d 0x10 in f(int) (a.so+0x2) (BuildId: ab)") + "\n" }),
	text("glibc frames", 5000, func(n int) string { return each(n, "\n", "/a/b%d.so(+0x1f3a) [0x7f5c]") + "\n" }),
	text("kernel frames", 5000, func(n int) string { return "Call Trace:\n" + each(n, "\n", " f%d+0x10/0x20 [m]") + "\n" }),
	text("logcat", 5000, func(n int) string {
		return each(n, "\n", "02-03 10:11:12.313  4300  4300 F DEBUG   :       #%02d pc 0010  /a/b.so (f+1)") + "\n"
	}),
	text("logcat of many processes", 3000, func(n int) string {
		return each(n, "\n", "02-03 10:11:12.313  %d  4300 F DEBUG   :       #00 pc 0010  /a/b.so (f+1)") + "\n"
	}),
	text("addresses", 10000, func(n int) string { return each(n, "\n", "0x%x") + "\n" }),
	text("images", 3000, func(n int) string {
		return "Incident Identifier: 1\nCode Type: ARM-64\nThread 0 Crashed:\n" + each(n, "\n", "%d g%[1]d 0x104a3004c 0x104a2c000 + 16460") + "\n\nBinary Images:\n" +
			each(n, "\n", "0x%x00000 - 0x%[1]xfffff g%[1]d arm64 <4c4c44d855553144a18c9d79e6bf39ea> /g") + "\n"
	}),
	text("images of one name", 3000, func(n int) string {
		return "Incident Identifier: 1\nCode Type: ARM-64\nThread 0 Crashed:\n" + each(n, "\n", "%d g 0x104a3004c 0x104a2c000 + 16460") + "\n\nBinary Images:\n" +
			each(n, "\n", "0x%x00000 - 0x%[1]xfffff g arm64 <4c4c44d855553144a18c9d79e6bf39ea> /g") + "\n"
	}),
	text("Apple threads", 2000, func(n int) string {
		return "Incident Identifier: 1\nCode Type: ARM-64\n" + each(n, "\n\n", "Thread %d:\n0 g 0x104a3004c 0x104a2c000 + 16460") + "\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff g arm64 /g\n"
	}),
	text("Apple last exception", 2000, func(n int) string {
		return "Incident Identifier: 1\nLast Exception Backtrace:\n(" + each(n, " ", "0x104a3%04x") + ")\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff g arm64 /g\n"
	}),
	text("ips frames", 3000, func(n int) string {
		return `{"cpuType":"ARM-64","threads":[{"frames":[` + each(n, ",", `{"imageOffset":%d,"imageIndex":0}`) + `]}],"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","name":"g"}]}` + "\n"
	}),
	text("ips images", 3000, func(n int) string {
		return `{"cpuType":"ARM-64","threads":[{"frames":[` + each(n, ",", `{"imageOffset":16,"imageIndex":%d}`) + `]}],"usedImages":[` + each(n, ",", `{"base":%d000,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","name":"g%[1]d"}`) + `]}` + "\n"
	}),
	text("Sentry frames", 3000, func(n int) string {
		return `{"exception":{"values":[{"stacktrace":{"frames":[` + each(n, ",", `{"filename":"a.js","abs_path":"http://h/a.js","lineno":1,"colno":%d,"function":"f"}`) + `]}}]}}` + "\n"
	}),
	text("Sentry images", 3000, func(n int) string {
		return `{"exception":{"values":[{"stacktrace":{"frames":[` + each(n, ",", `{"instruction_addr":"0x%x000","platform":"native"}`) + `]}}]},"debug_meta":{"images":[` + each(n, ",", `{"type":"elf","image_addr":"0x%x000","image_size":4096,"debug_id":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","code_file":"a%[1]d.so"}`) + `]}}` + "\n"
	}),
	text("stacks in strings", 2000, func(n int) string {
		return `[` + each(n, ",", `{"stack":"Error: a\n    at f (http://h/a.js:1:%d)"}`) + `]` + "\n"
	}),
	text("stack in a string", 5000, func(n int) string {
		return `{"stack":"Error: a` + each(n, "", `\n    at f (http://h/a.js:1:%d)`) + `"}` + "\n"
	}),
	text("nested JSON", 20000, func(n int) string {
		return strings.Repeat(`{"a":[`, n) + strings.Repeat("]}", n) + "\n#00 pc 0010 a.so\n"
	}),
	text("JSON lines", 3000, func(n int) string {
		return each(n, "\n", `{"frames":[{"filename":"a.js","lineno":1,"colno":%d,"function":"f"}]}`) + "\n"
	}),
	text("open JSON lines", 5000, func(n int) string { return each(n, "\n", `{"frames":[`) + "\n#00 pc 0010 a.so\n" }),
	text("JSON of quoted JSON", 1000, func(n int) string {
		return `[` + each(n, ",", `"{\"frames\":[{\"filename\":\"a.js\",\"lineno\":1,\"colno\":%d,\"function\":\"f\"}]}"`) + `]` + "\n#00 pc 0010 a.so\n"
	}),
	text("Swift backtrace", 3000, func(n int) string {
		return "Thread 0 \"x\" crashed:\n\n" + each(n, "\n", "%d 0x0000000104a3004c f() + 4 in game at /a/b.swift:3:4") + "\n\nImages (1 omitted):\n\n0x0000000104a2c000–0x0000000104a3bfff 4c4c44d855553144a18c9d79e6bf39ea game /g\n"
	}),
	text("lldb frames", 5000, func(n int) string {
		return "[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /g\n(lldb) bt\n* thread #1\n  * frame #0: 0x0000000104a3004c g`f + 4\n" + each(n, "\n", "    frame #%d: 0x0000000104a3004c g`f + 4") + "\n"
	}),
	text("stackwalk", 3000, func(n int) string {
		return "Thread 0 (crashed)\n" + each(n, "\n", "%2d  g + 0x%[1]x") + "\n\nLoaded modules:\n" + each(n, "\n", "0x%x0000 - 0x%[1]xffff  g%[1]d  ???") + "\n"
	}),
	text("hotspot", 3000, func(n int) string {
		return "# A fatal error\nNative frames:\n" + each(n, "\n", "C  [libx%d.so+0x10]  f+0x1") + "\n"
	}),
}

// retraced makes a shape of a raw stack and its mapping.
func retraced(name string, n int, make func(n int) (mapping, stack string)) formattest.Shape {
	return formattest.Shape{Name: "retrace/" + name, Kind: "retrace", N: n, Make: func(n int) []formattest.File {
		mapping, stack := make(n)
		return []formattest.File{{Name: "stack.txt", Bytes: []byte(stack)}, {Name: "mapping.txt", Bytes: []byte(r8Head + mapping)}}
	}}
}

const thrown = "java.lang.Error: x\n"

var retraceShapes = []formattest.Shape{
	retraced("frames", 2000, func(n int) (string, string) {
		return "a.A -> b:\n    1:9:void m():7:15 -> c\n", thrown + each(n, "\n", "\tat b.c(SourceFile:2)") + "\n"
	}),
	retraced("classes", 2000, func(n int) (string, string) {
		return each(n, "\n", "a.A%d -> b%[1]d:\n    1:9:void m():7:15 -> c") + "\n", thrown + each(n, "\n", "\tat b%d.c(SourceFile:2)") + "\n"
	}),
	retraced("lines of one method", 1000, func(n int) (string, string) {
		return "a.A -> b:\n" + each(n, "\n", "    %d:%[1]d:void m():%[1]d:%[1]d -> c") + "\n", thrown + each(n, "\n", "\tat b.c(SourceFile:%d)") + "\n"
	}),
	// A line has as many answers as methods may be meant, up to retrace.MaxAlternatives.
	retraced("methods of one name", 5000, func(n int) (string, string) {
		return "a.A -> b:\n" + each(n, "\n", "    void m%d() -> c") + "\n", thrown + each(10, "\n", "\tat b.c(SourceFile)") + "\n"
	}),
	retraced("methods of one line", 5000, func(n int) (string, string) {
		return "a.A -> b:\n" + each(n, "\n", "    1:1:void m%d():7:7 -> c") + "\n", thrown + each(10, "\n", "\tat b.c(SourceFile:1)") + "\n"
	}),
	retraced("unknown lines", 1000, func(n int) (string, string) {
		return "a.A -> b:\n" + each(n, "\n", "    %d:%[1]d:void m():%[1]d:%[1]d -> c") + "\n", thrown + each(n, "\n", "\tat b.c(SourceFile:9%06d)") + "\n"
	}),
	retraced("methods of a class", 1000, func(n int) (string, string) {
		return "a.A -> b:\n" + each(n, "\n", "    1:1:void m%d():7:7 -> c%[1]d") + "\n", thrown + each(n, "\n", "\tat b.c%d(SourceFile:1)") + "\n"
	}),
}

// named makes a shape of a mangled name.
func named(name string, n int, make func(n int) string) formattest.Shape {
	s := of("name/"+name, "name", n, make)
	s.Kind = "name"
	return s
}

var nameShapes = []formattest.Shape{
	named("pointers", 100, func(n int) string { return "_Z1f" + strings.Repeat("P", n) + "i" }),
	named("parameters", 5000, func(n int) string { return "_Z1f" + strings.Repeat("i", n) }),
	named("templates", 1000, func(n int) string { return "_Z1fI" + strings.Repeat("1aI", n) + "i" + strings.Repeat("E", n) + "Evv" }),
	named("scopes", 2000, func(n int) string { return "_ZN" + strings.Repeat("1a", n) + "1bEv" }),
	named("substitutions", 2000, func(n int) string { return "_ZN1a1bE" + strings.Repeat("S_", n) }),
	named("doubling substitutions", 50, func(n int) string {
		return "_Z1fI1aE" + each(n, "", "IS%d_S%[1]d_E")
	}),
	named("locals", 100, func(n int) string { return "_Z" + strings.Repeat("Z1fvE", n) + "1g" }),
	named("expressions", 300, func(n int) string { return "_Z1fIXtl" + strings.Repeat("plLi1E", n) + "Li1EEEvv" }),
	named("conversions", 300, func(n int) string { return "_ZN1acv" + strings.Repeat("N1acv", n) + "iEv" }),
	named("function types", 150, func(n int) string { return "_Z1f" + strings.Repeat("PF", n) + "v" + strings.Repeat("vE", n) }),
	named("packs", 300, func(n int) string { return "_Z1fI" + strings.Repeat("J", n) + "i" + strings.Repeat("E", n) + "Evv" }),
	named("long identifier", 15000, func(n int) string {
		return fmt.Sprintf("_Z%d%sv", n, strings.Repeat("x", n))
	}),
	named("Rust paths", 1000, func(n int) string { return "_RNvC1a" + strings.Repeat("1b", n) }),
	named("Rust nested paths", 200, func(n int) string { return "_R" + strings.Repeat("Nv", n) + "C1a" + strings.Repeat("1b", n) }),
	named("Rust generics", 120, func(n int) string { return "_RINvC1a1b" + strings.Repeat("T", n) + "l" + strings.Repeat("E", n) + "E" }),
	named("Rust back references", 200, func(n int) string { return "_RINvC1a1bTlE" + strings.Repeat("B8_", n) + "E" }),
	named("old Rust", 2000, func(n int) string { return "_ZN" + strings.Repeat("1a", n) + "17h0123456789abcdefE" }),
	named("Microsoft scopes", 2000, func(n int) string { return "?f@" + strings.Repeat("ab@", n) + "@YAXXZ" }),
	named("Microsoft parameters", 2000, func(n int) string { return "?f@@YAX" + strings.Repeat("PEAH", n) + "@Z" }),
	named("Microsoft arguments", 2000, func(n int) string { return "??$f@" + strings.Repeat("VA@@", n) + "@@YAXXZ" }),
	named("Microsoft pointers", 80, func(n int) string { return "?f@@YAX" + strings.Repeat("PEA", n) + "H@Z" }),
	named("Microsoft templates", 80, func(n int) string {
		return "?f@@YAX" + strings.Repeat("V?$A@", n) + "H" + strings.Repeat("@@", n) + "@Z"
	}),
	named("Microsoft back references", 2000, func(n int) string { return "?f@@YAXPEAVA@@" + strings.Repeat("0", n) + "@Z" }),
	named("Microsoft question marks", 10000, func(n int) string { return strings.Repeat("?", n) }),
	named("Microsoft begun scopes", 2000, func(n int) string { return "?f@" + strings.Repeat("?BAAAA@", n) }),
	named("Swift scopes", 1000, func(n int) string { return "$s4main" + strings.Repeat("1aV", n) + "1byyF" }),
	named("Swift tuples", 300, func(n int) string { return "$s4main1ayy" + strings.Repeat("Si_", n) + "tF" }),
	named("Swift generics", 300, func(n int) string {
		return "$s4main1ayy" + strings.Repeat("Sa", n) + "Siy" + strings.Repeat("G", n) + "F"
	}),
	named("Swift optionals", 300, func(n int) string { return "$s4main1ayySi" + strings.Repeat("Sg", n) + "F" }),
	named("Swift functions", 300, func(n int) string { return "$s4main1ayy" + strings.Repeat("yyc", n) + "F" }),
	named("Swift substitutions", 500, func(n int) string { return "$s4main1aV1byA" + strings.Repeat("a", n) + "C_tF" }),
	named("Swift words", 500, func(n int) string { return "$s4main" + strings.Repeat("0A0", n) + "1ayyF" }),
	named("Swift old functions", 200, func(n int) string { return "_TF4main1a" + strings.Repeat("FT_", n) + "T_" }),
	named("Swift old generics", 200, func(n int) string {
		return "_TF4main1a" + strings.Repeat("GSa", n) + "Si" + strings.Repeat("_", n) + "T_"
	}),
}
