package js_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report/js"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, js.Dialect,
		reporttest.Fixture{Name: "components", Frames: 3, Text: "\n    in View (at index.android.bundle:1:15)\n    in App (created by Root)\n    at r (https://h/a.js:1:9)\n    in Button (at App.js:12)\n    at div\n    in q (at address at index.android.bundle:1:7)\n"},
		reporttest.Fixture{Name: "datadog", Frames: 3, Text: "Error: a\n  at f @ http://h/a.js:1:35\n  at <anonymous> @ http://h/a.js:1:7\n  at Array.map @ <anonymous>\n  at g(1, 2) @ http://h/b.js:1:2\n"},
		reporttest.Fixture{Name: "v8", Frames: 3, Text: "Error: a\n    at f (http://h/a.js:1:35)\n    at async g (address at index.android.bundle:1:9)\n    at h/b.js:1:2\n"},
		reporttest.Fixture{Name: "safari", Frames: 2, Text: "f@http://h/a.js:1:2\n@http://h/a.js:1:2\n"},
		reporttest.Fixture{Name: "wasm", Frames: 7, Text: "RuntimeError: unreachable\n    at m.wasm.N::f(int) const (http://h/m.wasm:wasm-function[6]:0x265)\n    at wasm://wasm/c60c8d76:wasm-function[1]:0xc5\n    at go (http://h/a.js:1:35)\nm.wasm.f(int)@http://h/a.js line 7 > WebAssembly.instantiate:wasm-function[2]:0x196\n6@<?>:wasm-function[6]\n<?>.wasm-function[3]@[wasm code]\napp.wasm:0x1a2b\n"},
		reporttest.Fixture{Name: "wasm in json", Frames: 2, Text: "{\"stack\":\"E\\n    at f (http:\\/\\/h\\/m.wasm:wasm-function[6]:0x265)\\n    at g (http:\\/\\/h\\/a.js:1:35)\\n\",\n\"x\":1}\n"},
		reporttest.Fixture{Name: "json", Frames: 1, Text: "{\"stack\":\"E\\n    at f (http:\\/\\/h\\/a.js:1:35)\\n\",\n\"x\":1}\n"},
	)
}
