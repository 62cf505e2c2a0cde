package event

import (
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// raygun is errors of Raygun's libraries for JavaScript and Java. The first write names with a small letter, or with a big one.
var raygun = &shape.Shape{
	Name: "raygun", Service: "Raygun", Kinds: "JavaScript, Java",
	Signs:  []string{"stackTrace StackTrace", "methodName MethodName", "fileName FileName", "occurredOn OccurredOn"},
	Frames: "stackTrace StackTrace",
	Frame: shape.Names{
		Class: "className ClassName", Function: "methodName MethodName", File: "fileName FileName", Line: "lineNumber LineNumber", Column: "columnNumber ColumnNumber",
	},
	Exceptions: "error Error innerError InnerError",
	Exception:  shape.Names{Class: "className ClassName"},
}

// rollbarNode is errors of Rollbar's library for Node. Its columns count from 0.
var rollbarNode = &shape.Shape{
	Name: "rollbar", Service: "Rollbar", Kinds: "JavaScript, Java",
	Lines:   "JSON with trace.frames or trace_chain.frames, of method, filename and lineno",
	Signs:   []string{"trace trace_chain", "frames", "node-js"},
	Frames:  "trace.frames trace_chain.frames",
	Oldest:  true,
	Columns: shape.FromZero,
	Frame:   shape.Names{Function: "method", File: "filename", Line: "lineno", Column: "colno"},
}

// rollbar is errors of Rollbar's libraries, the oldest frame first.
var rollbar = &shape.Shape{
	Name: "rollbar", Service: "Rollbar", Kinds: "JavaScript, Java",
	Signs:     []string{"trace trace_chain", "frames", "lineno"},
	Frames:    "trace.frames trace_chain.frames",
	Oldest:    true,
	Frame:     shape.Names{Class: "class_name", Function: "method", File: "filename", Line: "lineno", Column: "colno"},
	Beside:    "trace.exception trace_chain.exception",
	Exception: shape.Names{Class: "class"},
}

// postHog is errors of PostHog, the oldest frame first.
var postHog = &shape.Shape{
	Name: "posthog", Service: "PostHog", Kinds: "native, JavaScript, Java",
	Lines:  "JSON with $exception_list, and frames of filename, lineno and colno, or of instruction_addr beside $debug_images",
	Signs:  []string{"$exception_list", "frames"},
	Frames: "$exception_list.stacktrace.frames",
	Oldest: true,
	Frame: shape.Names{
		Address: "instruction_addr", ImageAddr: "image_addr", ImageName: "package", Inline: "inline",
		File: "filename", Path: "abs_path", Line: "lineno", Column: "colno", Function: "function", Class: "module", Platform: "platform",
	},
	Images:     "$debug_images",
	Image:      shape.Names{ImageType: "type", ImageID: "code_id", DebugID: "debug_id", ImageAddr: "image_addr", ImageSize: "image_size", ImageName: "code_file", Arch: "arch"},
	Threads:    "stacktrace $exception_list",
	Thread:     shape.Names{ID: "thread_id"},
	Exceptions: "$exception_list",
	Exception:  shape.Names{Class: "type", Module: "module"},
}

// faro is errors of Grafana Faro, the innermost frame first.
var faro = &shape.Shape{
	Name: "faro", Service: "Grafana Faro", Kinds: "JavaScript",
	Lines:  "JSON with exceptions.stacktrace.frames of filename, lineno and colno",
	Signs:  []string{"exceptions", "stacktrace", "frames", "colno"},
	Kind:   symbol.SourceMap,
	Frames: "exceptions.stacktrace.frames",
	Frame:  shape.Names{File: "filename", Line: "lineno", Column: "colno", Function: "function"},
}

// elastic is errors of Elastic's agents.
var elastic = &shape.Shape{
	Name: "elastic", Service: "Elastic APM", Kinds: "JavaScript, Java",
	Lines:      "JSON with stacktrace of filename and lineno, and of colno or classname",
	Signs:      []string{"stacktrace", "lineno line"},
	Frames:     "stacktrace",
	Frame:      shape.Names{Class: "classname", Function: "function", File: "filename", Path: "abs_path", Line: "lineno", Column: "colno", Module: "module"},
	Exceptions: "exception cause",
	Exception:  shape.Names{Class: "type", Module: "module"},
}

// elasticShort is errors of Elastic's agent for browsers, with short names.
var elasticShort = &shape.Shape{
	Name: "elastic", Service: "Elastic APM", Kinds: "JavaScript",
	Signs:  []string{"st", "li", "co"},
	Kind:   symbol.SourceMap,
	Frames: "st",
	Frame:  shape.Names{Function: "fn", File: "f", Path: "ap", Line: "li", Column: "co"},
}

// honeybadger is errors of Honeybadger's libraries.
var honeybadger = &shape.Shape{
	Name: "honeybadger", Service: "Honeybadger", Kinds: "JavaScript, Java",
	Lines:      "JSON with backtrace of file, method and number",
	Signs:      []string{"backtrace", "number", "method"},
	Frames:     "backtrace",
	Frame:      shape.Names{Function: "method", File: "file", Line: "number", Column: "column"},
	Qualified:  true,
	Exceptions: "error causes",
	Exception:  shape.Names{Class: "class"},
}

// airbrake is errors of Airbrake's libraries. That for Java says the class by the file that holds it.
var airbrake = &shape.Shape{
	Name: "airbrake", Service: "Airbrake", Kinds: "JavaScript, Java",
	Lines:      "JSON with errors.backtrace of function, file and line",
	Signs:      []string{"errors", "backtrace", "line"},
	Frames:     "backtrace",
	Frame:      shape.Names{Function: "function", File: "file", Line: "line", Column: "column"},
	InFile:     true,
	Exceptions: "errors",
	Exception:  shape.Names{Class: "type"},
}
