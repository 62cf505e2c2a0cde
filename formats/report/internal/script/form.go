package script

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// JSON is the form of JSON with stacks of JavaScript in its strings.
var JSON = &report.Form{Name: "javascript-json", Frame0: report.Exact, Kind: symbol.SourceMap,
	Lines: `JSON with "stack": "Error: …\n    at f (https://host/app.js:1:421)" in any string`}
