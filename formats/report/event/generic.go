package event

import (
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/report/internal/shape"
	"github.com/symlake/symlake/formats/symbol"
)

// Names that several services and programs use.
const (
	lineNames     = "lineno line_num lineNumber line_number line"
	columnNames   = "colno col_num columnNumber column_number column col"
	functionNames = "function method_name methodName functionName function_name"
)

// scriptFrames are frames of scripts in JSON of any program.
var scriptFrames = &shape.Shape{
	Name:  "javascript-json",
	Signs: []string{lineNames, columnNames},
	Kind:  symbol.SourceMap,
	Frame: shape.Names{
		File: "filename file_name fileName url file", Path: "abs_path absPath", Line: lineNames, Column: columnNames, Function: functionNames, DebugID: "debug_id debugId",
	},
	Images: "images",
	Image:  shape.Names{ImageType: "type", DebugID: "debug_id", ImageName: "code_file"},
}

// callFrames are frames as the debugger of Chrome and Hermes prints them. They count from 0.
var callFrames = &shape.Shape{
	Name:  "javascript-json",
	Signs: []string{"scriptId", "lineNumber"},
	Kind:  symbol.SourceMap,
	Zero:  true,
	Needs: "scriptId",
	Frame: shape.Names{File: "url", Line: "lineNumber", Column: "columnNumber", Function: "functionName"},
}

// hermes is crashes of Hermes. Their frames count from functions of bytecode.
var hermes = &shape.Shape{
	Name:  "javascript-json",
	Lines: "JSON with frames of file, line and column, or of Hermes' FunctionID and ByteCodeOffset",
	Signs: []string{"SourceURL", "FunctionID"},
	Kind:  symbol.SourceMap,
	Frame: shape.Names{Bytecode: "FunctionID", File: "SourceURL", Line: "CJSModuleOffset", Column: "ByteCodeOffset"},
	Needs: "FunctionID",
	Whole: writeHermes,
}

// hermesPlaces are frames of Hermes with places. They count from 0.
var hermesPlaces = &shape.Shape{
	Name:  "javascript-json",
	Signs: []string{"SourceURL", lineNames, columnNames},
	Kind:  symbol.SourceMap,
	Zero:  true,
	Frame: shape.Names{File: "SourceURL", Line: lineNames, Column: columnNames, Function: functionNames},
}

// writeHermes writes a frame of a crash of Hermes as metro-symbolicate does. Its own numbers mean nothing any more.
func writeHermes(a *symbol.Frame) []byte {
	orNull := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + json.Quote(s) + `"`
	}
	name := a.Function
	if name == "" {
		name = a.Linkage
	}
	return []byte(`{"source":` + orNull(a.File) + `,"line":` + strconv.FormatUint(uint64(a.Line), 10) +
		`,"column":` + strconv.FormatUint(uint64(a.Column), 10) + `,"name":` + orNull(a.Name) +
		`,"functionName":` + orNull(name) + `,"isIgnored":` + strconv.FormatBool(a.Ignored) + "}")
}
