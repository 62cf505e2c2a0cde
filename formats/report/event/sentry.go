package event

import "github.com/symlake/symlake/formats/report/internal/shape"

// sentry is Sentry's event payload: its stack trace, exception, thread and debug meta interfaces.
var sentry = &shape.Shape{
	Name: "sentry", Service: "Sentry", Kinds: "native, .NET, JavaScript, Java, Dart",
	Lines: "JSON with debug_meta.images, and frames of instruction_addr, of filename, lineno and colno, or of module and function, the oldest first; instruction_addr_adjustment counts",
	// An event without lists of frames may have stacks in strings, whose scripts debug_meta names.
	Signs:   []string{"frames debug_meta", "instruction_addr instructionAddr lineno lineNo module function debug_id uuid"},
	Frames:  "frames",
	Oldest:  true,
	Columns: shape.FromOne, // of React Native too: its library adds 1
	Frame: shape.Names{
		Address: "instruction_addr instructionAddr", Mode: "addr_mode addrMode", ImageAddr: "image_addr", ImageName: "package", Inline: "inline",
		File: "filename", Path: "abs_path absPath", Line: "lineno lineNo", Column: "colno colNo", Function: "function", Class: "module",
		Platform: "platform", DebugID: "debug_id", Token: "function_id",
	},
	Add:  "function filename abs_path lineno colno",
	Gone: "raw_function symbol",

	Images: "debug_meta.images images",
	Image: shape.Names{
		ImageType: "type", ImageID: "code_id", DebugID: "debug_id uuid id", ImageAddr: "image_addr", ImageSize: "image_size",
		ImageName: "code_file name", Arch: "arch cpu_name",
	},
	Threads:    "stacktrace raw_stacktrace rawStacktrace threads threads.values exception exception.values values",
	Thread:     shape.Names{ID: "id thread_id", Title: "name", Crashed: "crashed", Mode: "instruction_addr_adjustment"},
	Exceptions: "exception exception.values exceptions",
	Exception:  shape.Names{Class: "type", Module: "module"},
}
