package event

import (
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// datadog is the errors of Datadog's libraries for Apple's systems: stacks as text in strings, one for the error and
// one a thread, beside "binary_images" (rum-events-format's error schema). Stacks of other systems are text as any.
var datadog = &shape.Shape{
	Name: "datadog", Service: "Datadog", Kinds: "native",
	Lines:   "JSON with binary_images of load_address, and crash reports' frames in strings called stack",
	Signs:   []string{"binary_images", "load_address"},
	Kind:    symbol.MachO,
	Hex:     true,
	Frames:  "none",
	Texts:   "stack",
	Images:  "binary_images",
	Image:   shape.Names{ImageID: "uuid", ImageName: "name", ImageAddr: "load_address", ImageEnd: "max_address", Arch: "arch"},
	Threads: "threads",
	Thread:  shape.Names{Title: "name", Crashed: "crashed"},
}
