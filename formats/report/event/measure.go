package event

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// measure is the events of Measure: exceptions and threads with frames of all systems. Its addresses have no 0x. The
// offset of a frame counts from the image or from a function, so that the address counts.
var measure = &shape.Shape{
	Name: "measure", Service: "Measure", Kinds: "native, Java, JavaScript",
	Lines:  "JSON with exceptions of frames: of binary_address and symbol_address, of class_name and method_name, or of file_name, line_num and col_num",
	Signs:  []string{"frames exception_frames thread_frames", "binary_address class_name line_num"},
	Frames: "frames exception_frames thread_frames",
	Hex:    true,
	Kind:   symbol.MachO,
	Frame: shape.Names{
		Address: "symbol_address", Offset: "offset", ImageAddr: "binary_address", ImageName: "binary_name", Inline: "inline",
		Class: "class_name", Function: "method_name", File: "file_name", Line: "line_num", Column: "col_num",
	},
	Images:     "binary_images binary_image",
	Image:      shape.Names{ImageID: "uuid", ImageName: "path name", ImageAddr: "start_addr base_addr baseAddr", ImageEnd: "end_addr", Arch: "arch"},
	Threads:    "exceptions threads",
	Thread:     shape.Names{ID: "sequence thread_sequence", Title: "name thread_name"},
	Exceptions: "exceptions",
	Exception:  shape.Names{Class: "type"},
}

// measureDart is the events of Measure's library for Flutter. Dart steps its addresses back.
var measureDart = &shape.Shape{
	Name: "measure", Service: "Measure", Kinds: "Dart",
	Signs:  []string{"frames", "instruction_address"},
	Frames: "frames",
	Hex:    true,
	Dart:   true,
	Frame0: report.Stepped,
	Needs:  "instruction_address",
	Frame: shape.Names{
		Address: "instruction_address", Inline: "inline", Function: "method_name", File: "file_name", Line: "line_num", Column: "col_num", Class: "class_name",
	},
	Add:        "method_name file_name line_num col_num",
	Images:     measure.Images,
	Image:      measure.Image,
	Threads:    measure.Threads,
	Thread:     measure.Thread,
	Exceptions: measure.Exceptions,
	Exception:  measure.Exception,
}
