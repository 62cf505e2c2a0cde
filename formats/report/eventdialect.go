package report

import "github.com/symlake/symlake/formats/symbol"

// eventDialect reads the JSON events that services for errors take.
var eventDialect = Dialect{
	Name:    "event",
	Forms:   []*Form{bugsnagEvent, sentryEvent, datadogError},
	Objects: []Object{{Member: "binary_images", Read: readDatadog}},
	Values:  []Reader{readBugsnag, readSentry},
}

var (
	bugsnagEvent = &Form{Name: "bugsnag", Frame0: Exact, Kind: symbol.MachO, Print: printJSON(bugsnagKeys), Lines: "JSON with frames of frameAddress, machoLoadAddress and machoUUID; the first is exact where it says isPC"}
	sentryEvent  = &Form{Name: "sentry", Frame0: Exact, Print: printSentry, Lines: "JSON with debug_meta.images, and frames of instruction_addr, the oldest first; instruction_addr_adjustment counts"}
	datadogError = &Form{Name: "datadog", Frame0: Exact, Kind: symbol.MachO, Print: printDatadog, Lines: "JSON with binary_images of load_address, and crash reports' frames in strings called stack"}
)
