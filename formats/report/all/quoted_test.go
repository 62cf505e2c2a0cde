package all

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// printed splits a text and prints it with answers: a function f1, f2, … for each frame, in a file f.kt.
func printed(t testing.TB, text string, chain int) (out string, frames int) {
	t.Helper()
	var b bytes.Buffer
	for _, s := range split(t, text, report.Options{}) {
		var answers [][]symbol.Answer
		for _, th := range s.Threads {
			list := make([]symbol.Answer, len(th.Frames))
			for i := range list {
				frames++
				all := []symbol.Frame{{Function: "x.F.f" + string(rune('0'+frames)), File: "/src/f.kt", Line: 7, Column: 3}}
				for range chain - 1 {
					all = append(all, symbol.Frame{Function: "x.G.outer", File: "/src/g.kt", Line: 9, Column: 1})
				}
				list[i] = symbol.Answer{Status: symbol.Found, Frames: all[:max(chain, 0)]}
			}
			answers = append(answers, list)
		}
		if err := report.Print(&b, s, answers); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), frames
}

// Text of any dialect in any string of any JSON is read, answered and escaped as the string was.
func TestStringsOfJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"java":     {`{"x":{"stack":"a.b: \u00e9 no\n\tat a.b.c(SourceFile:3)\n"},"y":1e400}`, `{"x":{"stack":"x.F.f1: \u00e9 no\n\tat x.F.f2(/src/f.kt:7)\n"},"y":1e400}`},
		"slashes":  {`{"stack":"E: <\/a>\n    at f (http:\/\/h\/a.js:1:35)"}`, `{"stack":"E: <\/a>\n    at x.F.f1 (\/src\/f.kt:7:4)"}`},
		"odd":      {`{"stack":"E: \/ / \ud800\n    at f (http://h/a.js:1:35)\n  \ud800 / \/"}`, `{"stack":"E: \/ / \ud800\n    at x.F.f1 (\/src\/f.kt:7:4)\n  \ud800 / \/"}`},
		"escaped":  {`{"payload":"{\"stack\":\"E: x\\n    at f (http://h/a.js:1:35)\"}"}`, `{"payload":"{\"stack\":\"E: x\\n    at x.F.f1 (/src/f.kt:7:4)\"}"}`},
		"twice":    {`{"stack":"E: x\\n    at f (http://h/a.js:1:35)\\n"}`, `{"stack":"E: x\\n    at x.F.f1 (/src/f.kt:7:4)\\n"}`},
		"one line": {`{"log":"    at f (http://h/a.js:1:35)"}`, `{"log":"    at x.F.f1 (/src/f.kt:7:4)"}`},
		"json":     {`{"payload":"{\"frames\":[{\"filename\":\"http://h/a.js\",\"lineno\":1,\"colno\":2}]}"}`, `{"payload":"{\"frames\":[{\"filename\":\"/src/f.kt\",\"lineno\":7,\"colno\":4,\"function\":\"x.F.f1\"}]}"}`},
		"crlf":     {`{"stack":"E: x\r\n    at f (http://h/a.js:1:35)\r\nend"}`, `{"stack":"E: x\r\n    at x.F.f1 (/src/f.kt:7:4)\r\nend"}`},
		"key":      {`{"E: x\n    at f (http://h/a.js:1:35)":1,"z":"E: x\n    at f (http://h/a.js:1:35)"}`, `{"E: x\n    at f (http://h/a.js:1:35)":1,"z":"E: x\n    at x.F.f1 (/src/f.kt:7:4)"}`},
		"js lines": {`["E: x","    at f (http:\/\/h\/a.js:1:35)","    at g (http:\/\/h\/a.js:1:36)"]`, `["E: x","    at x.F.f1 (\/src\/f.kt:7:4)","    at x.F.f2 (\/src\/f.kt:7:4)"]`},
		"lines":    {`{"a":["x","y"],"stack":[ "a.b: no", "\tat a.b.c(SourceFile:3)", "... 1 more" ]}`, `{"a":["x","y"],"stack":[ "x.F.f1: no", "\tat x.F.f2(/src/f.kt:7)", "... 1 more" ]}`},
		"pretty":   {"{\"s\": [\n  \"a.b: no\",\n  \"\\tat a.b.c(SourceFile:3)\"\n]}", "{\"s\": [\n  \"x.F.f1: no\",\n  \"\\tat x.F.f2(/src/f.kt:7)\"\n]}"},
		"beside":   {`{"frames":[{"filename":"http://h/a.js","lineno":1,"colno":2,"function":"q"}],"stack":"E: x\n    at f (http://h/a.js:1:35)"}`, `{"frames":[{"filename":"/src/f.kt","lineno":7,"colno":4,"function":"x.F.f1"}],"stack":"E: x\n    at x.F.f2 (/src/f.kt:7:4)"}`},
	} {
		got, _ := printed(t, c.text, 1)
		if diff := cmp.Diff(c.want, got); diff != "" || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Answers of events keep the order, the spaces and the spelling of everything else.
func TestEventsInPlace(t *testing.T) {
	for name, c := range map[string]struct {
		chain      int
		text, want string
	}{
		"missing, pretty": {1, "{\"frames\": [\n  {\n    \"filename\" : \"http://h/a.js\",\n    \"lineno\" : \"1\",\n    \"colno\" : 2\n  }\n]}\n", "{\"frames\": [\n  {\n    \"filename\" : \"/src/f.kt\",\n    \"lineno\" : \"7\",\n    \"colno\" : 4,\n    \"function\" : \"x.F.f1\"\n  }\n]}\n"},
		"null":            {1, `{"frames":[{"function":null,"abs_path":"http://h/a.js","filename":null,"lineno":1,"colno":2}]}`, `{"frames":[{"function":"x.F.f1","abs_path":"/src/f.kt","filename":"/src/f.kt","lineno":7,"colno":4}]}`},
		"twice":           {1, `{"frames":[{"lineno":9,"filename":"http://h/a.js","lineno":1,"colno":2,"function":"q"}]}`, `{"frames":[{"lineno":9,"filename":"/src/f.kt","lineno":7,"colno":4,"function":"x.F.f1"}]}`},
		"java, inlined":   {2, `{"frames":[{"module":"a.b","function":"c","lineno":3,"filename":"SourceFile","in_app":true}],"platform":"java"}`, `{"frames":[{"module":"x.G","function":"outer","lineno":9,"filename":"/src/g.kt","in_app":true},{"module":"x.F","function":"f1","lineno":7,"filename":"/src/f.kt","in_app":true}],"platform":"java"}`},
		"java, spaces":    {2, `{"f": [{"declaringClass": "a.b", "methodName": "c", "fileName": "D.java", "lineNumber": 3}, {"x": 1}]}`, `{"f": [{"declaringClass": "x.F", "methodName": "f1", "fileName": "/src/f.kt", "lineNumber": 7}, {"declaringClass": "x.G", "methodName": "outer", "fileName": "/src/g.kt", "lineNumber": 9}, {"x": 1}]}`},
		"java, removed":   {0, `{"f": [{"y":1}, {"declaringClass": "a.b", "methodName": "c", "lineNumber": 3}, {"declaringClass": "a.b", "methodName": "d", "lineNumber": 3}]}`, `{"f": [{"y":1}]}`},
		"java, first":     {0, `{"f": [{"declaringClass": "a.b", "methodName": "c", "lineNumber": 3}, {"y":1}]}`, `{"f": [{"y":1}]}`},
	} {
		got, _ := printed(t, c.text, c.chain)
		if diff := cmp.Diff(c.want, got); diff != "" || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Images of one event place no frame of another, an image without a base places none, and an address in no image has none.
func TestImagesOfEvents(t *testing.T) {
	const frame = `{"exception":{"values":[{"stacktrace":{"frames":[{"instruction_addr":"0x1010"}]}}]}`
	const image = `,"debug_meta":{"images":[{"type":"elf","code_id":"0a900536e7746c31ae5bd3d3916d09002c8dbf1b","image_addr":"0x1000","image_size":256}]}}`
	for text, want := range map[string]int{
		frame + image:                                           1,
		"[" + frame + "}," + frame + image + "]":                1,
		`{"events":[` + frame + "}," + frame + image + "]}":     1,
		strings.Replace(frame+image, `0x1000`, `0x0`, 1):        0,
		strings.Replace(frame+image, `"0x1000"`, `null`, 1):     0,
		strings.Replace(frame+image, `"0x1010"`, `"0x1200"`, 1): 0,
		`{"usedImages":[{"name":"game","uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea"}],"threads":[{"frames":[{"imageOffset":16}]}]}`:                                                                                                      0,
		`{"binary_images":[{"start_addr":"1000","end_addr":"2000","name":"game","uuid":"4c4c44d855553144a18c9d79e6bf39ea"}],"threads":[{"frames":[{"binary_name":"game","binary_address":"1000","offset":16,"symbol_address":"1010"}]}]}`: 1,
	} {
		placed := 0
		for _, s := range split(t, text, report.Options{}) {
			for _, th := range s.Threads {
				for _, f := range th.Frames {
					if len(f.Image) > 0 {
						placed++
					}
				}
			}
		}
		if placed != want {
			t.Errorf("%s: %d frames have an image, want %d", text, placed, want)
		}
	}
}

// A script's debug id is found by any name of the script, and counts more than the name.
func TestDebugIDs(t *testing.T) {
	const id = "85314830-023f-4cf1-a267-535f4e37bb17"
	images := func(url string) string {
		return `"debug_meta":{"images":[{"type":"sourcemap","code_file":"` + url + `","debug_id":"` + strings.ToUpper(id) + `"}]}`
	}
	for _, c := range []struct {
		file, path, url string
		want            bool
	}{
		{"/static/app.js", "https://h/static/app.js", "https://h/static/app.js", true},
		{"app.js", "https://h/static/app.js?v=3", "https://h/static/app.js", true},
		{"~/static/app.js", "~/static/app.js", "https://h/static/app.js", true},
		{"app:///index.android.bundle", "app:///index.android.bundle", "app:///index.android.bundle", true},
		{"https://h/static/other.js", "https://h/static/other.js", "https://h/static/app.js", false},
	} {
		text := `{"exception":{"values":[{"stacktrace":{"frames":[{"filename":"` + c.file + `","abs_path":"` + c.path + `","lineno":1,"colno":2}]}}]},` + images(c.url) + "}"
		s := one(t, text, report.Options{})
		f := &s.Threads[0].Frames[0]
		if got := f.Image[0] == id; got != c.want {
			t.Errorf("%+v: %q", c, f.Image)
		}
	}
}

// Frames of languages without symbols are named, lists that look like frames are told, and other objects are neither.
func TestUnreadShapes(t *testing.T) {
	for text, want := range map[string]string{
		`{"errors":[{"calls":[{"fn":"a","src":"b.q","ln":3},{"fn":"a","src":"b.q","ln":4}]}]}`:          ".errors[0].calls: " + report.WhyShape,
		`{"stack_info":[{"pc":"0x1234","lib":"x"},{"pc":"0x1238","symbol":"y"}]}`:                       ".stack_info: " + report.WhyShape,
		`{"platform":"python","frames":[{"module":"a.b","function":"c","filename":"b.py","lineno":3}]}`: ".frames: " + report.WhyNamed,
		`{"routes":[{"method":"GET","path":"/a"},{"method":"PUT","path":"/b"}]}`:                        "",
		`{"people":[{"address":"1 Main St","line1":"x"},{"address":"2 Main St","line1":"y"}]}`:          "",
		`{"lint":[{"file":"a.c","line":3,"message":"m"},{"file":"a.c","line":4,"message":"m"}]}`:        "",
	} {
		got := ""
		for _, s := range split(t, text, report.Options{}) {
			for _, u := range s.Unread {
				got += u.Path + ": " + u.Why
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Strings take ids from the images of the innermost event around them, with or without frames beside them.
func TestDebugIDsOfStrings(t *testing.T) {
	event := func(id string) string {
		return `{"error":{"stack":"Error: x\n    at f (https://h/static/app.js:1:13)"},"debug_meta":{"images":[{"type":"sourcemap","code_file":"https://h/static/app.js","debug_id":"` + id + `"}]}}`
	}
	const one, two, three = "85314830-023f-4cf1-a267-535f4e37bb17", "95314830-023f-4cf1-a267-535f4e37bb17", "a89f3476"
	ids := func(text string) (ids []string) {
		for _, s := range split(t, text, report.Options{}) {
			for _, th := range s.Threads {
				for i := range th.Frames {
					ids = append(ids, th.Frames[i].Image[0])
				}
			}
		}
		return ids
	}
	bare := `{"stack":"Error: x\n    at f (https://h/static/app.js:1:13)"}`
	java := `{"error":{"stack":"a.b: x\n\tat a.c.d(SourceFile:1)"},"debug_meta":{"images":[{"type":"proguard","uuid":"` + three + `"}]}}`
	for text, want := range map[string][]string{
		event(one): {one},
		"[" + event(one) + "," + event(two) + "]": {one, two},
		"[" + event(one) + "," + bare + "]":       {one, "app.js"},
		java:                                      {three, three},
	} {
		if got := ids(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
