package jobs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/wire"
)

// scriptStore ingests files, decompressed, and gives the store.
func scriptStore(t *testing.T, files ...string) string {
	t.Helper()
	store, dir := filepath.Join(t.TempDir(), "store"), t.TempDir()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, ".gz") {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(filepath.Base(f), ".gz")), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0}, "--store", store, "ingest", dir)
	return store
}

// answers symbolicates text and gives all frames in order.
func scriptAnswers(t *testing.T, store, artifact, text string) (all []wire.Answer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stack.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", "--artifact", artifact, file)
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var s wire.Stack
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err, line)
		}
		for _, th := range s.Threads {
			all = append(all, th.Frames...)
		}
	}
	return all
}

type liveFrame struct {
	Line     string
	Expected *struct {
		Source, Name *string
		Line, Column uint32
	}
	Function *string
}

// 64 failures on Hermes, V8, JavaScriptCore and SpiderMonkey, 63 in browsers: every frame has the place, the
// name and the function that two source map libraries and metro-symbolicate give it.
func TestLiveFailures(t *testing.T) {
	for _, c := range []struct{ file, artifact string }{
		{"rn-live/hermes.json", "app.composed.map"}, {"rn-live/v8.json", "app.map"}, {"rn-live/jsc.json", "app.map"}, {"rn-live/sm.json", "app.map"},
		{"web-live/chrome.json", "app.min.js.map"}, {"web-live/firefox.json", "app.min.js.map"}, {"web-live/jsc.json", "app.min.js.map"},
	} {
		t.Run(strings.ReplaceAll(c.file, "/", "-"), func(t *testing.T) {
			path := formattest.Fixture(t, c.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var all struct {
				Cases []struct {
					Name, Stack string
					Frames      []liveFrame
				}
			}
			if err := json.Unmarshal(text, &all); err != nil {
				t.Fatal(err)
			}
			m := filepath.Join(filepath.Dir(path), c.artifact)
			if _, err := os.Stat(m); err != nil {
				m += ".gz"
			}
			store := scriptStore(t, m)
			var stacks strings.Builder
			for _, one := range all.Cases {
				stacks.WriteString(one.Stack + "\n\n")
			}
			got := scriptAnswers(t, store, c.artifact, stacks.String())
			count := 0
			for _, one := range all.Cases {
				for _, want := range one.Frames {
					for len(got) > 0 && got[0].Raw != strings.TrimSpace(want.Line) {
						got = got[1:]
					}
					if len(got) == 0 {
						t.Fatalf("%s: %q has no answer", one.Name, want.Line)
					}
					if why := want.differs(got[0]); why != "" {
						t.Errorf("%s: %q: %s", one.Name, want.Line, why)
					}
					got = got[1:]
					count++
				}
			}
			t.Log(count, "frames")
		})
	}
}

func (want *liveFrame) differs(a wire.Answer) string {
	if want.Expected == nil {
		if len(a.Frames) > 0 {
			return fmt.Sprintf("%+v, want a hole", a.Frames)
		}
		return ""
	}
	if len(a.Frames) != 1 {
		return fmt.Sprintf("%s, want %s:%d:%d", a.Reason, *want.Expected.Source, want.Expected.Line, want.Expected.Column)
	}
	f, name := a.Frames[0], ""
	if want.Expected.Name != nil {
		name = *want.Expected.Name
	}
	if f.File != *want.Expected.Source || f.Line != want.Expected.Line || f.Column != want.Expected.Column || f.Name != name {
		return fmt.Sprintf("%+v, want %s:%d:%d %s", f, *want.Expected.Source, want.Expected.Line, want.Expected.Column, name)
	}
	if want.Function != nil && f.Function != *want.Function {
		return fmt.Sprintf("function %q, want %q", f.Function, *want.Function)
	}
	return ""
}

// The three events of a React Native app on Hermes: as text and as JSON.
func TestHermesEvents(t *testing.T) {
	dir := formattest.Fixture(t, "sourcemaps/measure-rn")
	store := scriptStore(t, filepath.Join(dir, "main.jsbundle.map"))
	for _, n := range []string{"4", "5", "6"} {
		event, err := os.ReadFile(filepath.Join(dir, "event-"+n+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Exceptions []struct {
				Frames []struct {
					Expected map[string]struct {
						Source       string
						Line, Column uint32
						FunctionName string `json:"function_name"`
					}
				}
			}
		}
		if err := json.Unmarshal(event, &all); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "event-"+n+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for how, in := range map[string][]byte{"json": event, "text": text} {
			got := scriptAnswers(t, store, "main.jsbundle.map", string(in))
			i := 0
			for _, e := range all.Exceptions {
				for _, f := range e.Frames {
					want := f.Expected["column_as_0_based"]
					if i >= len(got) || len(got[i].Frames) != 1 {
						t.Fatalf("event %s, %s: frame %d of %d has no answer", n, how, i, len(got))
					}
					a := got[i].Frames[0]
					if a.File != want.Source || a.Line != want.Line || a.Column != want.Column || a.Function != want.FunctionName {
						t.Errorf("event %s, %s: frame %d: %+v, want %+v", n, how, i, a, want)
					}
					i++
				}
			}
			if i == 0 || i != len(got) {
				t.Errorf("event %s, %s: %d answers to %d frames", n, how, len(got), i)
			}
		}
	}
}

// metroCase is a call of metro-symbolicate, with what it printed.
type metroCase struct {
	Name, Map string
	Args      []string
	StdinFile *string `json:"stdin_file"`
	Stdout    string
}

// metro-symbolicate's own cases, byte for byte: its forms of output around our answers.
func TestMetroSymbolicate(t *testing.T) {
	dir := formattest.Fixture(t, "sourcemaps/metro-symbolicate")
	text, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []metroCase
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 14 {
		t.Fatal(len(cases), err)
	}
	store := scriptStore(t, filepath.Join(dir, "hermes.js.hbc.map"), filepath.Join(dir, "testfile.js.map"), filepath.Join(dir, "with-function-map.js.map"))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m := metro{t: t, store: store, c: &c}
			if c.StdinFile != nil {
				b, err := os.ReadFile(filepath.Join(dir, *c.StdinFile))
				if err != nil {
					t.Fatal(err)
				}
				m.in = string(b)
			}
			if got := m.run(); got != c.Stdout {
				t.Errorf("got  %s\nwant %s", got, c.Stdout)
			}
		})
	}
}

// metro prints answers as metro-symbolicate does.
type metro struct {
	t           *testing.T
	store, in   string
	c           *metroCase
	lineIn      int
	columnIn    int
	lineOut     int
	columnOut   int
	noFunctions bool
	attribution bool
	positions   []string
}

func (m *metro) run() string {
	m.lineIn, m.lineOut = 1, 1
	for i := 0; i < len(m.c.Args); i++ {
		value := func() int {
			i++
			n, err := strconv.Atoi(m.c.Args[i])
			if err != nil {
				m.t.Fatal(err)
			}
			return n
		}
		switch a := m.c.Args[i]; a {
		case "--hermes-crash", "--hermes-coverage":
			return m.frames()
		case "--attribution":
			m.attribution = true
		case "--no-function-names":
			m.noFunctions = true
		case "--input-line-start":
			m.lineIn = value()
		case "--input-column-start":
			m.columnIn = value()
		case "--output-line-start":
			m.lineOut = value()
		case "--output-column-start":
			m.columnOut = value()
		default:
			m.positions = append(m.positions, a)
		}
	}
	switch {
	case m.attribution:
		return regexp.MustCompile(`\{"virtualOffset":(\d+)\}`).ReplaceAllStringFunc(m.in, func(s string) string {
			f := m.at(strconv.Itoa(m.lineIn), regexp.MustCompile(`\d+`).FindString(s))
			return fmt.Sprintf(`{"file":%q,"line":%d,"column":%d}`, f.File, int(f.Line)+m.lineOut-1, int(f.Column)+m.columnOut)
		})
	case len(m.positions) == 2:
		return m.place(m.positions[0], m.positions[1]) + "\n"
	}
	frame := regexp.MustCompile(`(?:([^@: \n(]+)(@|:))?(?:(?:([^@: \n(]+):)?(\d+):(\d+)|\[native code\])`)
	return frame.ReplaceAllStringFunc(m.in, func(s string) string {
		p := frame.FindStringSubmatch(s)
		return m.place(p[4], p[5])
	})
}

func (m *metro) place(line, column string) string {
	if line == "" {
		return "null:null:null"
	}
	f := m.at(line, column)
	if f.Line == 0 {
		return "null:null:null"
	}
	name := f.Function
	if name == "" || m.noFunctions {
		name = f.Name
	}
	return fmt.Sprintf("%s:%d:%s", f.File, int(f.Line)+m.lineOut-1, orNull(name))
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return s
}

// at looks up one position, given as metro-symbolicate counts it.
func (m *metro) at(line, column string) wire.Frame {
	m.t.Helper()
	l, err1 := strconv.Atoi(line)
	c, err2 := strconv.Atoi(column)
	if err1 != nil || err2 != nil {
		m.t.Fatal(err1, err2)
	}
	out, _ := mustRun(m.t, []int{0}, "--store", m.store, "--json", "lookup", m.c.Map, fmt.Sprintf("%d:%d", l-m.lineIn+1, c-m.columnIn))
	var a wire.Answer
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		m.t.Fatal(err)
	}
	if len(a.Frames) == 0 {
		return wire.Frame{}
	}
	return a.Frames[0]
}

// frames prints the frames of a crash, or the functions of a coverage report.
func (m *metro) frames() string {
	quoted := func(s string) string {
		if s == "" {
			return "null"
		}
		return strconv.Quote(s)
	}
	var out []string
	for _, a := range scriptAnswers(m.t, m.store, m.c.Map, m.in) {
		if len(a.Frames) == 0 {
			out = append(out, `{"line":null,"column":null,"source":null,"functionName":null,"name":null,"isIgnored":false}`)
			continue
		}
		f := a.Frames[0]
		out = append(out, fmt.Sprintf(`{"source":%s,"line":%d,"column":%d,"name":%s,"functionName":%s,"isIgnored":%v}`, quoted(f.File), f.Line, f.Column, quoted(f.Name), quoted(f.Function), f.Ignored))
	}
	if strings.Contains(m.in, "NativeCode") {
		out = append(out, `{"NativeCode":true}`)
	}
	return "[" + strings.Join(out, ",") + "]"
}

// A bundler may write a map into the script and into a file beside it. Both are one artifact, and the map that says more
// answers: by the script's name and by the debug id, which may stand in the script alone or in both maps. It does not
// matter in which order they come, or whether in one run.
func TestTwoMapsOfOneScript(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	for _, inMaps := range []bool{false, true} {
		head, comment := `{"version":3,`, "//# debugId="+id+"\n"
		if inMaps {
			head, comment = `{"debugId":"`+id+`",`+head[1:], ""
		}
		poor := head + `"sources":["poor.js"],"names":[],"mappings":"AAAA"}`
		rich := head + `"sources":["rich.js"],"names":["n"],"mappings":"AAAA,IAAIA"}`
		script := func(text string) string {
			return "var a=1;\n" + comment + "//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(text)) + "\n"
		}
		for what, files := range map[string]map[string]string{
			"rich file":   {"app.js": script(poor), "app.js.map": rich},
			"rich script": {"app.js": script(rich), "app.js.map": poor},
		} {
			for _, order := range [][]string{{"app.js app.js.map"}, {"app.js", "app.js.map"}, {"app.js.map", "app.js"}} {
				store, dir := filepath.Join(t.TempDir(), "store"), t.TempDir()
				for _, run := range order {
					for _, name := range strings.Fields(run) {
						if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					mustRun(t, []int{0}, "--store", store, "--lake", "off", "ingest", dir)
				}
				for _, name := range []string{"app.js", id} {
					if out, _ := mustRun(t, []int{0}, "--store", store, "lookup", name, "1:5"); !strings.Contains(out, "rich.js:1:4") {
						t.Errorf("ids in the maps %t, %s, %s: %s answers %q", inMaps, what, order, name, out)
					}
				}
			}
		}
	}
}

// A name that the engine printed stays where the map knows none, in text, in JSON and in events.
func TestNamesOfEngines(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app.js":     "var a={};a.b=(function(){c()});x(function(){d()})\n",
		"app.js.map": `{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA,kCAAkC,oBAAoB"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stack := filepath.Join(t.TempDir(), "stack.txt")
	symbolicate := func(text string, flags ...string) string {
		t.Helper()
		if err := os.WriteFile(stack, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := mustRun(t, []int{0}, append(flags, "symbolicate", "--symbols", dir, stack)...)
		return out
	}
	for raw, want := range map[string]string{
		"at Object.parse (https://h/app.js:1:44)":                                                 "at Object.parse (a.ts:1:35)",
		"at Object.parse [as read] (https://h/app.js:1:44)":                                       "at Object.parse [as read] (a.ts:1:35)",
		"at r (https://h/app.js:1:44)":                                                            "at <anonymous> (a.ts:1:35)",
		"parse/<@https://h/app.js:1:44":                                                           "parse/<@a.ts:1:35",
		"at Object.parse (https://h/app.js:1:26)":                                                 "at a.b (a.ts:1:1)",
		`{"frames":[{"filename":"https://h/app.js","function":"t.parse","lineno":1,"colno":44}]}`: `{"frames":[{"filename":"a.ts","function":"t.parse","lineno":1,"colno":35}]}`,
	} {
		if got := symbolicate(raw); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	out := symbolicate("Error: x\n    at Object.parse (https://h/app.js:1:44)", "--json")
	if !strings.Contains(out, `"function":"Object.parse"`) {
		t.Error(out)
	}
}
