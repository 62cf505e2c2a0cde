// Package swift reads crash reports of Swift's runtime.
package swift

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// Dialect reads the reports of the crash handler of Swift's runtime. Swift says of each frame whether it is a
// return address.
var Dialect = report.Dialect{
	Name:      "swift",
	Forms:     []*report.Form{swiftCrash, swiftEvent},
	Documents: []report.Document{swiftText},
	Objects:   []report.Object{{Member: "faultAddress", Read: readSwiftJSON}},
}

var (
	swiftCrash = &report.Form{Name: "swift", Frame0: report.Exact, Print: printSwift, Lines: "1 [ra] 0x000055e8f4561e85 f(_:) + 12 in shop at /src/main.swift:12:11 below Thread 0 crashed: of Swift's own handler, with its Images"}
	swiftEvent = &report.Form{Name: "swift-json", Frame0: report.Exact, Print: crash.PrintObjects("inlined", swiftGone, writeSwiftMembers), Lines: "the same as JSON: crashReport with images, and frames of kind and address"}
)
