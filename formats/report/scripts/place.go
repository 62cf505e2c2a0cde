// Package scripts makes the questions for places of scripts that other inputs than stacks have: profiles.
package scripts

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// Place returns the frame that asks for a place of a script. function is the engine's name for it, line counts from 1 and
// column from 0. ok is false for code that is none of a script's: the engine's own, or an extension's.
func Place(function, url string, line, column uint64) (f report.Frame, ok bool) {
	if line == 0 || !script.Is([]byte(url), true) {
		return f, false
	}
	f = report.Frame{Kind: symbol.SourceMap, Script: &report.Script{}, Raw: line<<32 | column}
	if name := script.Name([]byte(function)); name != nil {
		f.Script.Function = string(name)
	}
	script.Set(&f, url, line, column)
	return f, true
}
