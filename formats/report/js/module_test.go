package js_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

// Frames of WebAssembly say which module is meant and where in it, in the ways of engines. An offset is the call's own.
func TestModules(t *testing.T) {
	t.Parallel()
	const number = 1 << 40
	for _, c := range []struct {
		raw    string
		images string
		at     uint64
		want   string // with the answer f < g at a.cpp:1:8; "": no frame
	}{
		{"    at m.wasm.N::g(int) const (wasm://wasm/m.wasm-0e9e8362:wasm-function[6]:0x265)", "m.wasm", 0x265, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at m.wasm.g (http://h/x/app.wasm?v=1:wasm-function[6]:0x265)", "app.wasm m.wasm", 0x265, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at async g (http://h/app.wasm:wasm-function[6]:0x265)", "app.wasm", 0x265, "    at f (a.cpp:1:8)\n    at async g (a.cpp:1:8)"},
		{"    at wasm://wasm/c60c8d76:wasm-function[6]:0x265", "", 0x265, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at http://h/app.wasm:wasm-function[6]:0x265", "app.wasm", 0x265, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at g (http://h/app.wasm:0x1a2b)", "app.wasm", 0x1a2b, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"m.wasm.N::g(int) const@http://h/app.wasm:wasm-function[6]:0x265", "app.wasm m.wasm", 0x265, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"@http://h/app.wasm:wasm-function[6]:0x265", "app.wasm", 0x265, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"m.wasm.g@http://h/a.js line 7 > WebAssembly.instantiate:wasm-function[6]:0x265", "m.wasm", 0x265, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"g@http://h/a.js line 7 > WebAssembly.Module:wasm-function[6]:0x265", "", 0x265, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"N::g(int) const@m.wasm:wasm-function[6]", "m.wasm", number | 6, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"6@<?>:wasm-function[6]", "", number | 6, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"<?>.wasm-function[6]@[wasm code]", "", number | 6, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"m.wasm.wasm-function[6]@[wasm code]", "m.wasm", number | 6, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"wasm-function[6]@[wasm code]", "", number | 6, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"wasm-function[6]:0x265", "", 0x265, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"app.wasm:0x1a2b", "app.wasm", 0x1a2b, "f@a.cpp:1:8\ng@a.cpp:1:8"},
		{"    at g (m[6]:0x265)", "m", 0x265, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at <unnamed> (<module>[6]:0xffffffff)", "", number | 6, "    at f (a.cpp:1:8)\n    at g (a.cpp:1:8)"},
		{"    at g (m[6]:12)", "", 0, ""},
		{"wasm-stub@[wasm code]", "", 0, ""},
		{"g@http://h/app.wasm:wasm-function[6", "", 0, ""},
		{"g@http://h/app.wasm:wasm-function[4294967296]:0x1", "", 0, ""},
		{"g@http://h/app.wasm:wasm-function[1]:0x11111111111111111", "", 0, ""},
		{"loaded app.wasm at 0x10:0x20", "", 0, ""},
		{"app.wasm: 0x10", "", 0, ""},
	} {
		var images []string
		var frames []report.Frame
		var out bytes.Buffer
		err := report.Split(t.Context(), strings.NewReader("Error: a\n"+c.raw+"\n"), all.Dialects, report.Options{}, func(r *report.Report) error {
			var answers [][]symbol.Answer
			for _, thread := range r.Threads {
				frames = append(frames, thread.Frames...)
				answers = append(answers, []symbol.Answer{{Status: symbol.Found, Frames: []symbol.Frame{
					{Linkage: "f", File: "a.cpp", Line: 1, Column: 8}, {Linkage: "g", File: "a.cpp", Line: 1, Column: 8}}}})
			}
			return report.Print(&out, r, answers)
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if len(frames) > 0 {
				t.Errorf("%s: %+v", c.raw, frames)
			}
			continue
		}
		if len(frames) != 1 {
			t.Errorf("%s: %d frames", c.raw, len(frames))
			continue
		}
		f := frames[0]
		images = f.Image
		if got := out.String(); got != "Error: a\n"+c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.raw, got, c.want)
		}
		if strings.Join(images, " ") != c.images || f.At != (symbol.Where{Space: symbol.Position, Value: c.at}) || f.Kind != symbol.Wasm || f.Script != nil {
			t.Errorf("%s: %q %+v %s", c.raw, images, f.At, f.Kind)
		}
	}
}

// A module without lines keeps the place that the engine printed, and a column that is not known is left out.
func TestModulesWithoutLines(t *testing.T) {
	t.Parallel()
	const raw = "    at http://h/app.wasm:wasm-function[6]:0x265"
	for _, c := range []struct {
		frame symbol.Frame
		want  string
	}{
		{symbol.Frame{Linkage: "g"}, "    at g (http://h/app.wasm:wasm-function[6]:0x265)"},
		{symbol.Frame{Linkage: "g", File: "a.cpp"}, "    at g (a.cpp)"},
		{symbol.Frame{Linkage: "g", File: "a.cpp", Line: 3}, "    at g (a.cpp:3)"},
		{symbol.Frame{File: "a.cpp", Line: 3}, "    at a.cpp:3"},
	} {
		var out bytes.Buffer
		err := report.Split(t.Context(), strings.NewReader("Error: a\n"+raw+"\n"), all.Dialects, report.Options{}, func(r *report.Report) error {
			return report.Print(&out, r, [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{c.frame}}}})
		})
		if want := fmt.Sprintf("Error: a\n%s\n", c.want); err != nil || out.String() != want {
			t.Errorf("%+v:\n got %s\nwant %s\n%v", c.frame, out.String(), want, err)
		}
	}
}
