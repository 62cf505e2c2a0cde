package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// hostileValues are values as JSONTestSuite classes them: numbers, strings and structures that JSON has, leaves open or
// does not have. Some hold what no line may: a raw line end.
var hostileValues = []string{
	// JSON
	`-0`, `0e1`, `1E+2`, `123.456e78`, `-1E-2`, `1E22`, `20e1`, `""`, `"\u0060\u012a\u12AB"`, `"\uD801\udc37"`, `"\"\\\/\b\f\n\r\t"`, `"asd "`, `"\u0000"`, `"\uFFFF"`,
	`"/**/"`, `"\u0821"`, "\"\u2028\"", "\"\x7f\"", `"𝄞"`, `[[]   ]`, `{"":0}`, `{"a":"b","a":"c"}`, `{"title":"\u041f"}`, `[1,null,null,null,2]`, `{"min": -1.0e+28}`,
	// open
	`123123e100000`, `0.4e00669999999999999999999999999999999999`, `-123123e100000`, `-237462374673276894279832749832423479823246327846`, `100000000000000000000`,
	`18446744073709551616`, `"\uDADA"`, `"\uD888\u1234"`, `"\uD800\n"`, `"\uDd1ea"`, `"\ud800abc"`, `"\uDFAA"`, "\"\xe9\"", "\"\xff\"", "\"\xe0\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
	"\"\xf4\xbf\xbf\xbf\"", "\"\x81\"", `"日ш\u00fa"`,
	// no JSON
	`1 true`, `a\u00e5`, `,1`, `1,,2`, `1,`, `"x", truth`, `["x"`, `3[4]`, `1:2`, `-`, `+1`, `++1234`, `+Inf`, `-01`, `-1.0.`, `-2.`, `.-1`, `.2e-3`, `0.1.2`, `0.3e+`, `0e`,
	`1.0e-`, `1 000.0`, `1eE2`, `2.e+3`, `9.e+`, `Inf`, `NaN`, `nan`, "\uff11", `1+2`, `0x1`, `0x42`, `Infinity`, `0e+-1`, `-123.123foo`, `-Infinity`, `-foo`, `- 1`, `-012`, `-1x`,
	`1ea`, `1.8011670033376514H-308`, `1.2a-3`, `012`, `["x", truth]`, `{"x", null}`, `{"x"::"b"}`, `{🇨🇭}`, `{"a":"a" 123}`, `{key: 'value'}`, `{"a" b}`, `{:"b"}`, `{"a" "b"}`, `{"a":`,
	`{"a"`, `{1:1}`, `{9999E9999:1}`, `{null:null,null:null}`, `{"id":0,,,,,}`, `{'a':0}`, `{"id":0,}`, `{"a":"b"}/**/`, `{"a":"b"}//`, `{"a":/*comment*/"b"}`, `{"a":"b",,"c":"d"}`, `{"a":"b"}#`,
	`"\uD800\"`, `"\u00A"`, `"\uD834\uDd"`, `"\ud800\u1x"`, "\u00e9", `"\x00"`, `"\\\"`, `"\	"`, `"\🌀"`, `"\`, `"\a"`, `"\uqqqq"`, "\"\xe5", `\u0020"asd"`, `\n`, `'single quote'`, `abc`,
	"\"a\x00a\"", "\"new\nline\"", "\"\t\"", `"\UA66D"`, "\u2060", `<.>`, `[<null>]`, `aå`, `[True]`, `1]`, `{"x": true,`, `[][]`, `]`, `{]`, `{"a": true} "x"`, `['`, `["a`, `[{`, `{,`, `{"a`, `{'a'`,
	`["\{["\{["\{["\{`, "\x0c", "\u00a0", `*`, `{"a":"b"}#{}`, `"\u005C\u005C\u0022`, `1}`, `[\u000A""]`, `[1`, `["asd]`, `[nul`, `[tru`, `"` + "\ufeff", `tru`, `"\"`, `--1`, `{"é":"NFC","é":"NFD"}`,
}

// TestHostileJSON puts each value into an event beside a frame. Every text comes out unchanged. The frame before the value
// is read; the one behind it, if the value does not end the text.
func TestHostileJSON(t *testing.T) {
	t.Parallel()
	frame := func(n int) string {
		return fmt.Sprintf(`{"function":"f","filename":"https://h.example/app.min.js","lineno":1,"colno":%d}`, n)
	}
	for _, v := range hostileValues {
		for form, text := range map[string]string{
			"alone":     v,
			"list":      "[" + v + "]",
			"member":    `{"a":` + v + `}`,
			"last":      `{"frames":[` + frame(7) + `],"a":` + v + `}`,
			"last, cut": `{"frames":[` + frame(7) + `],"a":` + v,
			"first":     `{"a":` + v + `,"frames":[` + frame(7) + `]}`,
			"element":   `[` + frame(7) + `,` + v + `,` + frame(8) + `]`,
			"lines":     "{\n\"frames\": [\n" + frame(7) + "\n],\n\"a\": " + v + "\n}\n",
			"before":    v + "\n" + `{"frames":[` + frame(7) + `]}` + "\n",
			"mark":      "\ufeff[" + v + "]",
		} {
			frames := 0
			out := splitSame(t, text, &frames)
			if out != text && out != strings.TrimPrefix(text, "\ufeff") {
				t.Errorf("%s: %q became %q", form, text, out)
			}
			valid := json.Valid([]byte("[" + v + "]"))
			switch {
			case form == "last" && frames != 1 && !strings.Contains(v, "\n"):
				t.Errorf("%s of %q: %d frames, want 1: %s", form, v, frames, text)
			case valid && (form == "first" && frames != 1 || form == "element" && frames != 2 || form == "lines" && frames != 1):
				t.Errorf("%s of %q: %d frames: %s", form, v, frames, text)
			}
		}
	}
}

// splitSame splits a text and returns the texts of its reports.
func splitSame(t *testing.T, text string, frames *int) string {
	t.Helper()
	var out bytes.Buffer
	err := report.Split(t.Context(), strings.NewReader(text), Dialects, report.Options{}, func(r *report.Report) error {
		*frames += r.Frames()
		return report.Print(&out, r, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCutJSON cuts an event behind each of its bytes. Each part comes out unchanged, and frames that are whole are read.
func TestCutJSON(t *testing.T) {
	t.Parallel()
	text := `{"n":-1.5e3,"frames":[{"function":"f","filename":"https://h.example/a.js","lineno":1,"colno":7},{"function":"\u0067","filename":"https://h.example/a.js","lineno":2,"colno":8}],"stack":"Error: x\n    at f (https://h.example/a.js:1:44)\n    at g (https://h.example/a.js:1:99)\n","end":true}`
	most := 0
	for n := range len(text) {
		frames := 0
		if out := splitSame(t, text[:n], &frames); out != text[:n] {
			t.Fatalf("%q became %q", text[:n], out)
		}
		if frames < min(most, 2) {
			t.Errorf("%d frames, %d with a byte less: %s", frames, most, text[:n])
		}
		most = max(most, frames)
		if n > strings.Index(text, `44)\n`)+8 && frames < 3 {
			t.Errorf("%d frames, want 3: %s", frames, text[:n])
		}
	}
}

// TestDeepJSON nests events deep, at a cost that grows as the text does.
func TestDeepJSON(t *testing.T) {
	const depth = 100_000
	frame := `{"function":"f","filename":"https://h.example/app.min.js","lineno":1,"colno":7}`
	for name, text := range map[string]string{
		"lists":         `{"deep":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"frames":[` + frame + `]}`,
		"objects":       `{"frames":[` + frame + `],"deep":` + strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) + `}`,
		"cut":           `{"frames":[` + frame + `],"deep":` + strings.Repeat(`[{"a":`, depth),
		"cut, in lines": "{\"frames\":[\n" + frame + "\n],\"deep\":\n" + strings.Repeat("[{\"a\":\n", depth),
		"strings":       `{"frames":[` + frame + `],"deep":` + strings.Repeat(`["x\n at `, depth) + `"]}`,
	} {
		frames := 0
		if splitSame(t, text, &frames) != text || frames != 1 && name != "strings" {
			t.Errorf("%s: %d frames, or the text changed", name, frames)
		}
	}
}
