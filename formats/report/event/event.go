// Package event reads events of services for errors.
package event

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads the JSON events that services for errors take.
var Dialect = report.Dialect{
	Name:    "event",
	Forms:   []*report.Form{bugsnagEvent, sentryEvent, datadogError},
	Objects: []report.Object{{Member: "binary_images", Read: readDatadog}},
	Values:  []report.Reader{readBugsnag, readSentry},
}

var (
	bugsnagEvent = &report.Form{Name: "bugsnag", Frame0: report.Exact, Kind: symbol.MachO, Print: crash.PrintKeys(bugsnagKeys), Lines: "JSON with frames of frameAddress, machoLoadAddress and machoUUID; the first is exact where it says isPC"}
	sentryEvent  = &report.Form{Name: "sentry", Frame0: report.Exact, Print: printSentry, Lines: "JSON with debug_meta.images, and frames of instruction_addr, the oldest first; instruction_addr_adjustment counts"}
	datadogError = &report.Form{Name: "datadog", Frame0: report.Exact, Kind: symbol.MachO, Print: printDatadog, Lines: "JSON with binary_images of load_address, and crash reports' frames in strings called stack"}
)
