// Package apple reads reports of Apple's systems.
package apple

import (
	"bufio"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads the reports of Apple's systems, and of libraries that report crashes there.
var Dialect = report.Dialect{
	Name:      "apple",
	Forms:     []*report.Form{appleCrash, plcrash, appleSample, appleIPS, appleMetric, kscrash, appleList},
	Documents: []report.Document{appleText, appleLines},
	Objects:   []report.Object{{Member: "usedImages", Read: readAppleJSON}, {Member: "binary_images", Read: readAppleJSON}},
	Values:    []report.Reader{readMetricKit},
}

// Backtraces of exceptions inside these reports are return addresses throughout.
var (
	appleCrash  = &report.Form{Name: "apple-crash", Frame0: report.Exact, Kind: symbol.MachO, Print: printApple, Lines: "0   game  0x0000000104a30000 0x104a2c000 + 16384 below Thread 0 Crashed: of a .crash report, with its Binary Images"}
	plcrash     = &report.Form{Name: "plcrashreporter", Frame0: report.Exact, Kind: symbol.MachO, Print: printApple, Lines: "the same as PLCrashReporter prints it"}
	appleSample = &report.Form{Name: "apple-sample", Frame0: report.Exact, Kind: symbol.MachO, Print: printApple, Lines: "18  ??? (game + 16460) [0x104a3004c] below Heaviest stack for the target process: and in the trees of spindump and reports on hangs and resources; + 18 ???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c] of sample"}
	appleIPS    = &report.Form{Name: "ips", Frame0: report.Exact, Kind: symbol.MachO, Print: crash.PrintKeys(ipsKeys), Lines: "JSON with usedImages, and frames of imageOffset and imageIndex"}
	appleMetric = &report.Form{Name: "metrickit", Frame0: report.Exact, Kind: symbol.MachO, Print: printMetricKit, Lines: "JSON with callStackRootFrames, and frames of binaryUUID and offsetIntoBinaryTextSegment within frames"}
	kscrash     = &report.Form{Name: "kscrash", Frame0: report.Exact, Kind: symbol.MachO, Print: crash.PrintKeys(kscrashKeys), Lines: "JSON with binary_images, and a crash of threads with backtraces"}
	appleList   = &report.Form{Name: "apple-backtrace", Frame0: report.Return, Kind: symbol.MachO, Print: printApple, Lines: "0x0000000104a30000 game 0x104a2c000 + 16384 [UUID]; 0   game  0x0000000104a30000 main + 24; 0 0x104ccc074 beside [  0] UUID 0x104a2c000 /path"}
)

// printApple writes answers in the manner of `atos -i`: what stands behind a
// frame's address is replaced by "FUNCTION (in IMAGE) (FILE:LINE)", and each
// function that the innermost one is inlined into has a line of its own.
func printApple(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	crash.PrintBehind(out, s, answers, crash.WriteAtos)
}
