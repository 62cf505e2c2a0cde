package report

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
)

// Frame0 says what the values of a stack are.
type Frame0 uint8

// The kinds of values.
const (
	AsFormat Frame0 = iota // as the table of formats says
	Exact                  // frame 0 is where the thread stood, the others are return addresses
	Return                 // every frame is a return address, frame 0 too
	Stepped                // every frame lies in its instruction: look up as printed
)

// ParseFrame0 reads a flag's value: exact, return or stepped; "" is AsFormat.
func ParseFrame0(s string) (Frame0, error) {
	if i := slices.Index(frame0Names[:], s); i >= 0 {
		return Frame0(i), nil
	}
	return 0, fmt.Errorf("frame 0 %q: want exact, return or stepped", s)
}

// String is what ParseFrame0 reads.
func (f Frame0) String() string { return frame0Names[f] }

var frame0Names = [...]string{AsFormat: "", Exact: "exact", Return: "return", Stepped: "stepped"}

// Format is a way in which stacks are printed.
type Format struct {
	Name   string
	Frame0 Frame0
	Lines  string // what it looks like

	kind  symbol.Kind // of the artifacts that its frames name; "": any
	print printer     // how answers are written; nil: below the frames' lines, as ndk-stack does
}

// printer writes a stack with its answers, [thread][frame]; those may be short.
// Without answers it writes s.Text as it is.
type printer func(out *bufio.Writer, s *Report, answers [][]symbol.Answer)

type family uint8

const (
	text family = iota
	tombstone
	logcat
	backtrace
	sanitizer
	llvm
	coredump
	monitor
	plain
	java
	appleCrash
	plcrash
	appleSample
	appleIPS
	appleMetric
	kscrash
	appleList
	swiftCrash
	swiftEvent
	javascript
	bugsnagEvent
	sentryEvent
	datadogError
	scriptJSON
	minidumpFile
	walkJSON
	walkPlain
	walkFields
	symbols
	perf
	golang
	hotspot
	kernel
	dartTrace
	dartCrash
	dartList
)

// formats is the one table of what values mean. Android's unwinder prints
// addresses that it has stepped back already, in every place that prints
// "#NN pc"; sanitizers step before they print.
var formats = [...]Format{
	text:      {},
	tombstone: {Name: "tombstone", Frame0: Stepped, kind: symbol.ELF, Lines: "#04 pc 0001f3a8  /data/app/…/libcart.so (BuildId: …) below a header of debuggerd"},
	logcat:    {Name: "logcat", Frame0: Stepped, kind: symbol.ELF, Lines: "the same behind a log's prefix"},
	backtrace: {Name: "backtrace", Frame0: Stepped, kind: symbol.ELF, Lines: "the same without a header: consoles, crash services, ANR traces"},
	sanitizer: {Name: "sanitizer", Frame0: Stepped, kind: symbol.ELF, Lines: "#0 0x55a4bce  (/system/lib64/libcart.so+0x25bce), #1 f(int) cart.cc:8 (libcart.so+0x25bce)"},
	llvm:      {Name: "llvm", Frame0: Return, Lines: "#0 0x00007f5c5d5f5f3a f(int) (/usr/lib/libcart.so+0x1f3a) of LLVM's own handler, addresses of 16 digits"},
	coredump:  {Name: "coredump", Frame0: Exact, kind: symbol.ELF, Lines: "#0  0x00007f5c5d5f5f3a f (libcart.so + 0x1f3a) of systemd-coredump, below Stack trace of thread 12"},
	monitor:   {Name: "monitor", Frame0: Return, kind: symbol.ELF, Lines: "pc 0x0000000000022074 libc.so [arm64-v8a::77e6…], without numbers"},
	java:      {Name: "java", Frame0: Exact, kind: symbol.R8, Lines: "at a.b.c(SourceFile:12) of Java and Kotlin below the exception's line; in other dumps too"},

	// Backtraces of exceptions inside these reports are return addresses throughout.
	appleCrash:  {Name: "apple-crash", Frame0: Exact, kind: symbol.MachO, print: printApple, Lines: "0   game  0x0000000104a30000 0x104a2c000 + 16384 below Thread 0 Crashed: of a .crash report, with its Binary Images"},
	plcrash:     {Name: "plcrashreporter", Frame0: Exact, kind: symbol.MachO, print: printApple, Lines: "the same as PLCrashReporter prints it"},
	appleSample: {Name: "apple-sample", Frame0: Exact, kind: symbol.MachO, print: printApple, Lines: "18  ??? (game + 16460) [0x104a3004c] below Heaviest stack for the target process: and in the trees of spindump and reports on hangs and resources; + 18 ???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c] of sample"},
	appleIPS:    {Name: "ips", Frame0: Exact, kind: symbol.MachO, print: printJSON(ipsKeys), Lines: "JSON with usedImages, and frames of imageOffset and imageIndex"},
	appleMetric: {Name: "metrickit", Frame0: Exact, kind: symbol.MachO, print: printMetricKit, Lines: "JSON with callStackRootFrames, and frames of binaryUUID and offsetIntoBinaryTextSegment within frames"},
	kscrash:     {Name: "kscrash", Frame0: Exact, kind: symbol.MachO, print: printJSON(kscrashKeys), Lines: "JSON with binary_images, and a crash of threads with backtraces"},
	appleList:   {Name: "apple-backtrace", Frame0: Return, kind: symbol.MachO, print: printApple, Lines: "0x0000000104a30000 game 0x104a2c000 + 16384 [UUID]; 0   game  0x0000000104a30000 main + 24; 0 0x104ccc074 beside [  0] UUID 0x104a2c000 /path"},
	// Swift says of each frame whether it is a return address.
	swiftCrash:   {Name: "swift", Frame0: Exact, print: printSwift, Lines: "1 [ra] 0x000055e8f4561e85 f(_:) + 12 in shop at /src/main.swift:12:11 below Thread 0 crashed: of Swift's own handler, with its Images"},
	swiftEvent:   {Name: "swift-json", Frame0: Exact, print: printObjects("inlined", swiftGone, writeSwiftMembers), Lines: "the same as JSON: crashReport with images, and frames of kind and address"},
	bugsnagEvent: {Name: "bugsnag", Frame0: Exact, kind: symbol.MachO, print: printJSON(bugsnagKeys), Lines: "JSON with frames of frameAddress, machoLoadAddress and machoUUID; the first is exact where it says isPC"},
	sentryEvent:  {Name: "sentry", Frame0: Exact, print: printSentry, Lines: "JSON with debug_meta.images, and frames of instruction_addr, the oldest first; instruction_addr_adjustment counts"},
	datadogError: {Name: "datadog", Frame0: Exact, kind: symbol.MachO, print: printDatadog, Lines: "JSON with binary_images of load_address, and crash reports' frames in strings called stack"},
	scriptJSON:   {Name: "javascript-json", Frame0: Exact, kind: symbol.SourceMap, print: printScriptJSON, Lines: "JSON with error.stack in strings, or frames of file, line and column"},
	javascript: {Name: "javascript", Frame0: Exact, kind: symbol.SourceMap, print: printScripts,
		Lines: "at f (https://host/app.js:1:421), f@https://host/app.js:1:421, at f (address at index.android.bundle:1:20152)"},
	symbols: {Name: "backtrace-symbols", Frame0: Return, kind: symbol.ELF, Lines: "/usr/lib/libcart.so(+0x1f3a) [0x7f5c5d5f5f3a], ./shop(checkout+0x1d) [0x401136] of glibc"},
	perf:    {Name: "perf", Frame0: Exact, kind: symbol.ELF, Lines: "55d0c1a2b13d main+0x1d (/home/u/shop) of perf script, below a sample's line"},
	hotspot: {Name: "hotspot", Frame0: Exact, Lines: "C  [libcart.so+0x1f3a]  cart_add+0x1a below Native frames: of a Java virtual machine's hs_err log"},
	kernel:  {Name: "kernel", Frame0: Return, kind: symbol.ELF, Lines: "nvme_scan_work+0x2c0/0x340 [nvme_core] of Linux's kernel; where the processor stood (RIP, pc) is exact"},
	golang:  {Name: "go", Frame0: Return, Lines: "main.main() above /src/main.go:20 +0x1d of a Go traceback, where Options names the program; exact is the first below [signal …], the runtime's own frames are not printed"},

	minidumpFile: {Name: "minidump", Frame0: Exact, Lines: "a dump of Breakpad or Crashpad: where each thread stood, and what its frame pointers lead to"},
	walkJSON:     {Name: "stackwalk", Frame0: Stepped, print: printStackwalk, Lines: "JSON of minidump-stackwalk, with modules, and frames of module_offset"},

	walkPlain:  {Name: "stackwalk-text", Frame0: Exact, print: printWalk, Lines: "0  libcart.so + 0x228fe of minidump_stackwalk, its frames' registers below; rust-minidump's are stepped"},
	walkFields: {Name: "stackwalk-machine", Frame0: Exact, print: printWalkFields, Lines: "0|0|libcart.so||||0x228fe of minidump_stackwalk -m"},

	// Dart steps back before it prints; its crash handler does not.
	dartTrace: {Name: "dart", Frame0: Stepped, print: printDart, Lines: "#00 abs 0000007baa845767 virt 0000000000165767 _kDartIsolateSnapshotInstructions+0x9ed27, also with unit 2, behind a log's prefix, below a header with build_id"},
	dartCrash: {Name: "dart-crash", Frame0: Exact, Lines: "pc 0x0000007baa845768 fp 0x0000007fd0 sp 0x0000007fc0 _kDartIsolateSnapshotInstructions+0x9ed28 of the virtual machine's own crash"},
	dartList:  {Name: "dart-list", Frame0: Return, print: printDart, Lines: "[ARTIFACT] _kDartIsolateSnapshotInstructions+0x9ed27, nothing else in the line; or ADDRESS alone where Options says where the instructions begin"},

	plain: {Name: "plain", Frame0: Return, Lines: "ARTIFACT ADDRESS, nothing else in the line; or ADDRESS alone where Options names artifacts"},
}

// Formats lists the formats that Split knows.
func Formats() []Format { return slices.Clone(formats[1:]) }
