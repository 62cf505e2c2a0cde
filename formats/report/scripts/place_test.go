package scripts_test

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// A place is what a frame's line would say.
func TestPlace(t *testing.T) {
	t.Parallel()
	f, ok := scripts.Place("Object.parse", "https://h/app.min.js?v=1", 3, 7)
	pos, _ := symbol.ScriptPosition(0, 2, 7)
	if !ok || f.File != "https://h/app.min.js" || !slices.Equal(f.Image, []string{"app.min.js"}) || f.Kind != symbol.SourceMap || f.At != (symbol.Where{Space: symbol.Position, Value: pos}) || f.Script.Function != "Object.parse" {
		t.Errorf("%v: %+v %+v", ok, f, f.Script)
	}
	if f, ok := scripts.Place("r", "33.js", 1, 531); !ok || f.Script.Module == nil || f.Script.Function != "" {
		t.Errorf("%v: %+v", ok, f)
	}
	for _, url := range []string{"node:internal/fs", "", "chrome-extension://a/b.js", "<anonymous>"} {
		if _, ok := scripts.Place("f", url, 1, 0); ok {
			t.Errorf("%q is a script", url)
		}
	}
	if _, ok := scripts.Place("f", "a.js", 0, 0); ok {
		t.Error("line 0 is a place")
	}
}
