package event

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// bugsnagNative is native frames of Bugsnag's libraries for Android, Flutter and Unity. Their unwinder steps addresses back.
var bugsnagNative = &shape.Shape{
	Name: "bugsnag", Service: "Bugsnag", Kinds: "native",
	Signs:  []string{"frameAddress"},
	Frame0: report.Stepped,
	Needs:  "frameAddress",
	Frame: shape.Names{
		Address: "frameAddress", ImageAddr: "loadAddress", ImageID: "codeIdentifier", Inline: "inline",
		Function: "method", File: "file", Line: "lineNumber", Column: "columnNumber",
	},
	Imaged:     true,
	Device:     shape.Names{Arch: "cpuAbi"},
	Threads:    "threads exceptions",
	Thread:     shape.Names{ID: "id", Title: "name"},
	Exceptions: "exceptions",
	Exception:  shape.Names{Class: "errorClass"},
}

// bugsnagNamed is frames of Bugsnag with names: of Java, JavaScript and React Native.
var bugsnagNamed = &shape.Shape{
	Name: "bugsnag", Service: "Bugsnag", Kinds: "JavaScript, Java",
	Signs:      []string{"stacktrace nativeStack", "lineNumber", "method file"},
	Frames:     "stacktrace nativeStack",
	Frame:      shape.Names{Function: "method", File: "file", Line: "lineNumber", Column: "columnNumber"},
	Qualified:  true,
	Threads:    "threads",
	Thread:     shape.Names{ID: "id", Title: "name", Crashed: "errorReportingThread"},
	Exceptions: "exceptions",
	Exception:  shape.Names{Class: "errorClass"},
}

// crashlytics is rows of Crashlytics' export to BigQuery, and events of its interface. A frame has no id of its image.
var crashlytics = &shape.Shape{
	Name: "crashlytics", Service: "Firebase Crashlytics", Kinds: "Java, native",
	Lines:      "JSON with exceptions.frames and threads.frames, of symbol, file and line, or of library and offset",
	Signs:      []string{"symbol", "owner blamed"},
	Frames:     "frames blame_frame blameFrame",
	Frame:      shape.Names{Address: "address", Offset: "offset", ImageName: "library", Inline: "inline", Function: "symbol", File: "file", Line: "line"},
	Qualified:  true,
	Frame0:     report.Exact,
	Threads:    "threads",
	Thread:     shape.Names{ID: "thread_id threadId", Title: "thread_name threadName", Crashed: "crashed"},
	Exceptions: "exceptions",
	Exception:  shape.Names{Class: "type"},
}

// crashlyticsManaged is frames of Java in what Crashlytics' library for Android sends: offset is the line.
var crashlyticsManaged = &shape.Shape{
	Name: "crashlytics", Service: "Firebase Crashlytics", Kinds: "Java",
	Signs:      []string{"pc", "symbol", "importance"},
	Frames:     "frames",
	Frame:      shape.Names{Function: "symbol", File: "file", Line: "offset"},
	Needs:      "symbol importance",
	Qualified:  true,
	Threads:    "threads",
	Thread:     shape.Names{Title: "name"},
	Exceptions: "exception causedBy",
	Exception:  shape.Names{Class: "type"},
}

// crashlyticsNative is native frames in what Crashlytics' library for Android sends.
var crashlyticsNative = &shape.Shape{
	Name: "crashlytics", Service: "Firebase Crashlytics", Kinds: "native",
	Signs:   []string{"pc", "binaries", "baseAddress"},
	Frames:  "frames",
	Frame:   shape.Names{Address: "pc", Inline: "inline", Function: "symbol", File: "file", Line: "line"},
	Add:     "symbol file line",
	Imaged:  true,
	Needs:   "pc importance",
	Images:  "binaries",
	Image:   shape.Names{ImageAddr: "baseAddress", ImageSize: "size", ImageName: "name", ImageID: "uuid"},
	Threads: "threads",
	Thread:  shape.Names{Title: "name"},
}

// appCenter is crashes of App Center's library for Apple's systems. Crashes of Java are frames as of any Java program.
var appCenter = &shape.Shape{
	Name: "appcenter", Service: "App Center", Kinds: "native",
	Lines:   "JSON with threads.frames of address, and binaries of startAddress and endAddress",
	Signs:   []string{"binaries", "startAddress", "address"},
	Kind:    symbol.MachO,
	Frames:  "frames",
	Frame:   shape.Names{Address: "address", Inline: "inline", Function: "methodName", File: "fileName", Line: "lineNumber"},
	Images:  "binaries",
	Image:   shape.Names{ImageID: "id", ImageAddr: "startAddress", ImageEnd: "endAddress", ImageName: "path name"},
	Threads: "threads",
	Thread:  shape.Names{ID: "id", Title: "name"},
}

// ksCrash is frames of KSCrash's reports, in reports of others and in reports without a list of images.
var ksCrash = &shape.Shape{
	Name:    "kscrash-json",
	Lines:   "JSON with backtrace.contents of instruction_addr, object_addr and object_name",
	Signs:   []string{"contents", "instruction_addr"},
	Kind:    symbol.MachO,
	Frames:  "backtrace.contents",
	Frame:   shape.Names{Address: "instruction_addr", ImageAddr: "object_addr", ImageName: "object_name", Inline: "inline", Function: "symbol_name", File: "source_file", Line: "source_line"},
	Gone:    "symbol_addr",
	Images:  "binary_images",
	Image:   shape.Names{ImageID: "uuid", ImageAddr: "image_addr", ImageSize: "image_size", ImageName: "name"},
	Threads: "threads crashed_thread",
	Thread:  shape.Names{ID: "index", Title: "name", Crashed: "crashed"},
}

// raygunApple is crashes of Raygun's library for Apple's systems.
var raygunApple = &shape.Shape{
	Name: "raygun", Service: "Raygun", Kinds: "native",
	Lines:   "JSON with stackFrames of programCounter, and binaryImages",
	Signs:   []string{"stackFrames", "programCounter", "binaryImages"},
	Kind:    symbol.MachO,
	Frames:  "stackFrames",
	Frame:   shape.Names{Address: "programCounter", Inline: "inline", Function: "methodName", File: "fileName", Line: "lineNumber"},
	Images:  "binaryImages",
	Image:   shape.Names{ImageID: "uuid", ImageAddr: "baseAddress", ImageSize: "size", ImageName: "name"},
	Threads: "threads",
	Thread:  shape.Names{ID: "threadNumber", Title: "name", Crashed: "crashed"},
}
