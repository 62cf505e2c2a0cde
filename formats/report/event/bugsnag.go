package event

import (
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// bugsnag is the events of Bugsnag's library for Apple's systems (BugsnagStackframe.m). A frame with isPC is
// where the thread stood; without it the first one, too, is a return address.
var bugsnag = &shape.Shape{
	Name: "bugsnag", Service: "Bugsnag", Kinds: "native",
	Lines: "JSON with frames of frameAddress, machoLoadAddress and machoUUID; the first is exact where it says isPC",
	Signs: []string{"machoUUID", "frameAddress"},
	Kind:  symbol.MachO,
	Needs: "machoUUID",
	Frame: shape.Names{
		Address: "frameAddress", ImageAddr: "machoLoadAddress", ImageID: "machoUUID", ImageName: "machoFile", Exact: "isPC", Inline: "inline",
		Function: "method", File: "file", Line: "lineNumber", Column: "columnNumber",
	},
	Device:  shape.Names{Arch: "cpuAbi"},
	Threads: "threads exceptions",
	Thread:  shape.Names{ID: "id", Title: "name"},
}
