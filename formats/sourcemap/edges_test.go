package sourcemap

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// textMap reads the text of a map.
func textMap(t *testing.T, text string) (*exploded, error) {
	t.Helper()
	return explodeAll(formattest.InputOf("app.js.map", []byte(text), formats.Limits{}))
}

// places checks answers: "LINE:COLUMN" of the script, both from 0, and "FILE:LINE:COLUMN" of the source; "": a hole.
func (x *exploded) places(t *testing.T, want map[string]string) {
	t.Helper()
	for at, place := range want {
		var line, column uint32
		fmt.Sscanf(at, "%d:%d", &line, &column)
		got := ""
		if f := x.place(line, column); len(f) > 0 {
			got = fmt.Sprintf("%s:%d:%d", f[0].File, f[0].Line, f[0].Column)
		}
		if got != place {
			t.Errorf("%s: %q, want %q", at, got, place)
		}
	}
}

// A linear segment answers up to the next segment, over the ends of lines: below its first line, columns are the
// script's. Both countings of segments are read.
func TestRangesOverLines(t *testing.T) {
	for _, c := range []struct {
		name, mappings, ranges string
		want                   map[string]string
	}{
		{"up to a segment in the next line", "CAAA;GACG", "B;", map[string]string{
			"0:0": "", "0:1": "a.js:1:0", "0:7": "a.js:1:6", "1:0": "a.js:2:0", "1:2": "a.js:2:2", "1:3": "a.js:2:3", "1:9": "a.js:2:3"}},
		{"up to the end of the script", "EACE", "A", map[string]string{
			"0:1": "", "0:2": "a.js:2:2", "0:5": "a.js:2:5", "1:0": "a.js:3:0", "7:4": "a.js:9:4", "16777215:1": "a.js:16777217:1"}},
		{"over lines without segments", "AAAA;;;EAIA", "A", map[string]string{
			"0:3": "a.js:1:3", "1:9": "a.js:2:9", "2:0": "a.js:3:0", "3:1": "a.js:4:1", "3:2": "a.js:5:0", "4:0": ""}},
		{"up to a segment without a source", "AAAA;E", "B", map[string]string{"0:3": "a.js:1:3", "1:1": "a.js:2:1", "1:2": "", "2:0": ""}},
		{"the last of two in a line", "AAAA,IAAI;;AAEA", "C", map[string]string{"0:2": "a.js:1:0", "0:4": "a.js:1:4", "1:7": "a.js:2:7", "2:1": "a.js:3:4"}},
		{"both of two in a line", "AAAA,IAAI;;AAEA", "AB", map[string]string{"0:2": "a.js:1:2", "0:6": "a.js:1:6", "1:7": "a.js:2:7"}},
		{"not the last of its line", "AAAA,IACA;AACA", "B", map[string]string{"0:2": "a.js:1:2", "0:9": "a.js:2:0", "1:5": "a.js:3:0"}},
		{"two in one column", "AAAA,AACA;AACA", "C;", map[string]string{"0:0": "a.js:1:0", "0:1": "a.js:2:0", "0:2": "a.js:2:1", "1:5": "a.js:3:0"}},
	} {
		x, err := textMap(t, `{"version":3,"sources":["a.js"],"names":[],"mappings":"`+c.mappings+`","rangeMappings":"`+c.ranges+`"}`)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Run(c.name, func(t *testing.T) { x.places(t, c.want) })
	}
	// In a section it answers up to the next section, and in a segment's script.
	x, err := textMap(t, `{"version":3,"sections":[
		{"offset":{"line":1,"column":4},"map":{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA","rangeMappings":"A"}},
		{"offset":{"line":3,"column":2},"map":{"version":3,"sources":["b.js"],"names":[],"mappings":"AAAA","rangeMappings":"A"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	x.places(t, map[string]string{"1:3": "", "1:6": "a.js:1:2", "2:6": "a.js:2:6", "3:1": "a.js:3:1", "3:2": "b.js:1:0", "5:1": "b.js:3:1"})
	if x.artifact.End != symbol.MaxLine<<32 {
		t.Errorf("the script ends at %#x", x.artifact.End)
	}
	for _, ranges := range []string{"E", "AA", "BA", "AE", "B;B", "%"} {
		if _, err := textMap(t, `{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA","rangeMappings":"`+ranges+`"}`); err == nil {
			t.Errorf("rangeMappings %q are read", ranges)
		}
	}
}

// Numbers up to 2^31-1 are numbers as any: a segment that has them costs the others nothing.
func TestBoundaryValues(t *testing.T) {
	const most = "+/////D" // 2^31-1
	x, err := textMap(t, `{"version":3,"sources":["a.js"],"names":["n"],"mappings":"AAAAA,EA`+most+`A,EAA`+most+`;AAAA,`+most+`AAA"}`)
	if err != nil {
		t.Fatal(err)
	}
	x.places(t, map[string]string{"0:0": "a.js:1:0", "0:2": "a.js:2147483648:0", "0:4": "a.js:2147483648:2147483647",
		"1:7": "a.js:2147483648:2147483647", "1:2147483647": "a.js:2147483648:2147483647"})
	// Sections far behind all lines that scripts have are left out.
	x, err = textMap(t, `{"version":3,"sections":[{"offset":{"line":0,"column":2147483647},"map":{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA"}},
		{"offset":{"line":16777215,"column":0},"map":{"version":3,"sources":["b.js"],"names":[],"mappings":"AAAA;AACA"}},
		{"offset":{"line":2147483647,"column":2147483647},"map":{"version":3,"sources":["c.js"],"names":[],"mappings":"AAAA"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	x.places(t, map[string]string{"0:5": "", "0:2147483648": "a.js:1:0", "16777215:3": "b.js:1:0"})
	if last := x.ranges[len(x.ranges)-1]; last.End > symbol.MaxLine<<32 {
		t.Errorf("a range ends at %#x", last.End)
	}
	// A number beyond is an error, as the specification has it.
	if _, err := textMap(t, `{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA,EA`+most+`A,EACA"}`); err == nil || !strings.Contains(err.Error(), "2147483647") {
		t.Errorf("%v", err)
	}
}

// inFolder returns an input that finds its companions among files, by name.
func inFolder(name string, files map[string]string) *formats.Input {
	in := formattest.InputOf(name, []byte(files[name]), formats.Limits{})
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		if text, ok := files[want.Name]; ok {
			return formattest.InputOf(want.Name, []byte(text), formats.Limits{}), nil
		}
		return nil, formats.ErrNoCompanion
	}
	return in
}

// inlined is a script that holds a map.
func inlined(code, text string) string {
	return code + "\n//# sourceMappingURL=data:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
}

const (
	poorMap = `{"version":3,"sources":["a.js"],"names":[],"mappings":"AAAA"}`
	richMap = `{"version":3,"sources":["a.js"],"names":["n"],"mappings":"AAAA,IAAIA"}`
	idOne   = "11111111-2222-4333-8444-555555555555"
	idTwo   = "22222222-2222-4333-8444-555555555555"
)

func withID(text, key, id string) string { return `{"` + key + `":"` + id + `",` + text[1:] }

// A script may hold a map while another one lies beside it: the map that says more is the artifact, with the ids of both
// and of the script.
func TestTwoMapsOfOneScript(t *testing.T) {
	const code = "var a=1;"
	index := `{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":` + richMap + `}]}`
	for name, c := range map[string]struct{ script, beside, winner string }{
		"the file says more":            {inlined(code, poorMap), richMap, "app.js.map"},
		"the script says more":          {inlined(code, richMap), poorMap, "app.js"},
		"they are equal":                {inlined(code, poorMap), poorMap, "app.js.map"},
		"the file has texts":            {inlined(code, poorMap), `{"version":3,"sources":["a.js"],"sourcesContent":["x"],"names":[],"mappings":"AAAA"}`, "app.js.map"},
		"an index map is in the script": {inlined(code, index), poorMap, "app.js"},
		"an index map is in the file":   {inlined(code, poorMap), index, "app.js.map"},
		"the file is broken":            {inlined(code, poorMap), `{"version":3,"mappings":"!!"}`, "app.js"},
		"the script's map is broken":    {inlined(code, `{"version":2}`), poorMap, "app.js.map"},
		"the script has none":           {code + "\n//# sourceMappingURL=app.js.map", poorMap, "app.js.map"},
		"there is no file":              {inlined(code, poorMap), "", "app.js"},
		"one has the other's id":        {inlined(code, withID(poorMap, "debugId", idOne)), withID(richMap, "debug_id", idTwo), "app.js.map"},
	} {
		files := map[string]string{"app.js": c.script, "app.js.map": c.beside}
		if c.beside == "" {
			delete(files, "app.js.map")
		}
		found := map[string][]symbol.Name{}
		for file := range files {
			x, err := explodeAll(inFolder(file, files))
			if err == nil && x != nil {
				found[file] = x.artifact.Names
			}
		}
		if len(found) != 1 || found[c.winner] == nil {
			t.Errorf("%s: artifacts of %v, want %s", name, found, c.winner)
		}
		if name != "one has the other's id" {
			continue
		}
		for _, id := range []string{idOne, idTwo} {
			if !slices.Contains(found[c.winner], symbol.Name{Kind: symbol.NameDebugID, Text: id}) {
				t.Errorf("%s is no name: %v", id, found[c.winner])
			}
		}
	}
}

// A script's debug id names the map beside it, and the map in it.
func TestDebugIDOfScript(t *testing.T) {
	for script, known := range map[string]bool{
		"x()\n//# debugId=" + idOne:                                                                                   true,
		"x()\n//# debugId=" + idOne + "\n//# sourceMappingURL=app.js.map\n":                                           true,
		"x()\n//# sourceMappingURL=app.js.map\n//# debugId=" + idOne + "\r\n":                                         true,
		"x()\n//# debug_id=" + idOne:                                                                                  true,
		"x()\n//@ debugId=" + strings.ToUpper(idOne):                                                                  true,
		"x()\n/*# debugId=" + strings.ReplaceAll(idOne, "-", "") + " */":                                              true,
		"!function(){e._sentryDebugIdIdentifier=\"sentry-dbid-" + idOne + "\"}();\nx()\n":                             true,
		"//# debugId=" + idOne + "\n" + strings.Repeat("x();\n", 5000):                                                true,
		inlined("x()\n//# debugId="+idOne, poorMap):                                                                   true,
		inlined("x()", poorMap) + "//# debugId=" + idOne:                                                              true,
		inlined("x()\n//# debugId="+idOne, strings.Replace(poorMap, "AAAA", strings.Repeat("AAAA,", 9000)+"AAAA", 1)): true,
		"x(\"debugId=" + idOne + "\")":                                                                                false,
		"x()\n//# debugId=nothing\n":                                                                                  false,
		"x()\n//# debugId=" + idOne[:35]:                                                                              false,
	} {
		files := map[string]string{"app.js": script}
		file := "app.js"
		if !strings.Contains(script, "base64,") {
			file, files["app.js.map"] = "app.js.map", poorMap
		}
		x, err := explodeAll(inFolder(file, files))
		if err != nil {
			t.Errorf("%.60q: %v", script, err)
			continue
		}
		if got := slices.Contains(x.artifact.Names, symbol.Name{Kind: symbol.NameDebugID, Text: idOne}); got != known {
			t.Errorf("%.60q: %v", script, x.artifact.Names)
		}
	}
}

// Data URLs as tools write them.
func TestDataURLs(t *testing.T) {
	for _, data := range []string{
		"application/json;base64," + base64.StdEncoding.EncodeToString([]byte(poorMap)),
		"application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(poorMap)),
		"application/json;charset=\"utf-8\";BASE64," + base64.StdEncoding.EncodeToString([]byte(poorMap)),
		";base64," + base64.RawStdEncoding.EncodeToString([]byte(poorMap+" ")),
		"application/json;base64," + base64.URLEncoding.EncodeToString([]byte(strings.Replace(poorMap, "a.js", "a>>>???.js", 1))),
		"application/json;charset=utf-8," + url.PathEscape(poorMap),
	} {
		x, err := explodeAll(formattest.InputOf("app.js", []byte("x()\n//# sourceMappingURL=data:"+data+"\n"), formats.Limits{}))
		if err != nil || x == nil || len(x.place(0, 0)) != 1 {
			t.Errorf("%.40s: %v", data, err)
		}
	}
}
