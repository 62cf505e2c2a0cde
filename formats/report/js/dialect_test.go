package js_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/js"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, js.Dialect,
		reporttest.Fixture{Name: "v8", Frames: 3, Text: "Error: a\n    at f (http://h/a.js:1:35)\n    at async g (address at index.android.bundle:1:9)\n    at h/b.js:1:2\n"},
		reporttest.Fixture{Name: "safari", Frames: 2, Text: "f@http://h/a.js:1:2\n@http://h/a.js:1:2\n"},
		reporttest.Fixture{Name: "json", Frames: 2, Text: "{\"stack\":\"E\\n    at f (http:\\/\\/h\\/a.js:1:35)\\n\",\n\"frames\":[{\"filename\":\"a.js\",\"lineno\":1,\"colno\":\"2\",\"function\":\"f\"}]}\n"},
	)
}
