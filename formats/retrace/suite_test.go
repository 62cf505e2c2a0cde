package retrace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
)

// mapping reads the classes of a mapping's text.
func mapping(t testing.TB, text string) func(string) *retrace.Class {
	t.Helper()
	made := map[string]*retrace.Class{}
	for name, c := range formattest.Classes(t, &r8.Format, formattest.InputOf("mapping.txt", []byte(text), formats.Limits{})) {
		made[name] = retrace.NewClass(c, c)
	}
	return func(name string) *retrace.Class {
		if name == "" {
			return nil
		}
		return made[name]
	}
}

// print retraces a text as the command does with a known mapping.
func print(t testing.TB, class func(string) *retrace.Class, o report.ManagedOptions, text string) string {
	t.Helper()
	o.All = true
	var out bytes.Buffer
	err := report.Split(context.Background(), strings.NewReader(text), all.Dialects, report.Options{Managed: o}, func(s *report.Report) error {
		answers := make([][]symbol.Answer, len(s.Threads))
		for i := range s.Threads {
			answers[i] = make([]symbol.Answer, len(s.Threads[i].Frames))
			retrace.Retrace(&s.Threads[i], class, retrace.Options{School: o.School, Verbose: o.Verbose}, answers[i])
		}
		return report.Print(&out, s, answers)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// readJSON reads a fixture.
func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(formattest.Fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// readGzip reads a compressed fixture.
func readGzip(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(formattest.Fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func lines(all []string) string { return strings.Join(all, "\n") + "\n" }

// same reports a difference.
func same(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// schools are those in which R8's text is wanted.
var schools = []report.School{report.R8, report.Own}

// R8's own suite of stack traces, plain and verbose.
func TestR8StackTraces(t *testing.T) {
	var cases []struct {
		Name, Mapping   string
		Obfuscated      []*string
		Retraced        []string
		RetracedVerbose []string `json:"retraced_verbose"`
	}
	readJSON(t, "proguard/r8-retrace-stacktraces.json", &cases)
	if len(cases) != 35 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		if c.Name == "NullStackTrace" { // a line that is Java's null: no text has one
			continue
		}
		var text []string
		for _, line := range c.Obfuscated {
			text = append(text, *line)
		}
		class := mapping(t, c.Mapping)
		for _, school := range schools {
			same(t, c.Name+" "+school.String(), lines(c.Retraced), print(t, class, report.ManagedOptions{School: school}, lines(text)))
			same(t, c.Name+" verbose "+school.String(), lines(c.RetracedVerbose), print(t, class, report.ManagedOptions{School: school, Verbose: true}, lines(text)))
		}
	}
}

// R8's own suite of line expressions.
func TestR8Expressions(t *testing.T) {
	var cases []struct {
		Name, Regex, Mapping string
		Obfuscated, Retraced []string
		RetracedVerbose      []string `json:"retraced_verbose"`
	}
	readJSON(t, "proguard/r8-retrace-regex.json", &cases)
	if len(cases) != 14 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		e, err := report.ParseExpression(c.Regex)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		class := mapping(t, c.Mapping)
		for _, school := range schools {
			same(t, c.Name, lines(c.Retraced), print(t, class, report.ManagedOptions{School: school, Line: e}, lines(c.Obfuscated)))
			same(t, c.Name+" verbose", lines(c.RetracedVerbose), print(t, class, report.ManagedOptions{School: school, Line: e, Verbose: true}, lines(c.Obfuscated)))
		}
	}
}

// Stacks of real programs that R8 and ProGuard shrank, with R8's answers.
func TestLiveStacks(t *testing.T) {
	n := 0
	for _, folder := range []string{"r8-9.5-cf", "r8-9.5-dex26", "proguard-7.7"} {
		var file struct {
			Cases []struct {
				Name                 string
				Obfuscated, Retraced []string
				RetracedVerbose      []string `json:"retraced_verbose"`
				RetracedR8           []string `json:"retraced_r8"`
			}
		}
		readJSON(t, "proguard-live/"+folder+"/cases.json", &file)
		class := mapping(t, readGzip(t, "proguard-live/"+folder+"/mapping.txt.gz"))
		for _, c := range file.Cases {
			n++
			if c.Retraced == nil {
				c.Retraced = c.RetracedR8
			}
			what := folder + " " + c.Name
			same(t, what, lines(c.Retraced), print(t, class, report.ManagedOptions{School: report.R8}, lines(c.Obfuscated)))
			if c.RetracedVerbose != nil {
				same(t, what+" verbose", lines(c.RetracedVerbose), print(t, class, report.ManagedOptions{School: report.R8, Verbose: true}, lines(c.Obfuscated)))
			}
		}
	}
	if n != 103 {
		t.Fatalf("%d stacks", n)
	}
}

// Our school prints R8's text but for the lines that R8 is known to miss: lines of
// exceptions with a message or label that brings a second ": ". There it is
// right where an independent run of the program, not shrunk, tells.
func TestOwnSchool(t *testing.T) {
	better, told := 0, 0
	for _, folder := range []string{"r8-9.5-cf", "r8-9.5-dex26", "proguard-7.7"} {
		var file struct {
			Cases []struct {
				Name                 string
				Obfuscated, Retraced []string
				RetracedR8           []string `json:"retraced_r8"`
				Truth                []string `json:"unobfuscated_run"`
			}
		}
		readJSON(t, "proguard-live/"+folder+"/cases.json", &file)
		class := mapping(t, readGzip(t, "proguard-live/"+folder+"/mapping.txt.gz"))
		for _, c := range file.Cases {
			want := c.Retraced
			if want == nil {
				want = c.RetracedR8
			}
			got := strings.Split(strings.TrimSuffix(print(t, class, report.ManagedOptions{}, lines(c.Obfuscated)), "\n"), "\n")
			if len(got) != len(want) {
				same(t, folder+" "+c.Name, lines(want), lines(got))
				continue
			}
			for i := range want {
				if got[i] == want[i] {
					continue
				}
				if strings.Count(want[i], ": ") < 2 && !strings.Contains(want[i], "Exception in thread") || strings.HasPrefix(strings.TrimSpace(want[i]), "at ") {
					t.Errorf("%s %s: R8 has %q, we have %q", folder, c.Name, want[i], got[i])
				}
				better++
				if slices.Contains(c.Truth, want[i]) {
					t.Errorf("%s %s: R8 is right with %q, we have %q", folder, c.Name, want[i], got[i])
				}
				if slices.Contains(c.Truth, got[i]) {
					told++
				}
			}
		}
	}
	if better != 19 || told != 1 {
		t.Errorf("%d lines differ from R8's, %d of them as the program itself printed", better, told)
	}
}

// misread are cases that the fixture took the input of a later one for: the
// suite's own input is here.
var misread = map[int]string{
	43: "    at obfuscated.main(Foo.java:8)",
	44: "    at com.exmaple.app.MainActivity.buttonClicked(MainActivity.java:2)",
}

// The suite of rust-proguard, in the school it belongs to. It prints frames
// with an indent of its own, not the text's: indents are left out.
func TestListSchool(t *testing.T) {
	type frame struct {
		Class, Method, File *string
		Line                *int
	}
	var cases []struct {
		Test, Kind, Mapping string
		MappingFile         string `json:"mapping_file"`
		CRLF                bool
		Obfuscated          string
		Input, Expected     json.RawMessage
	}
	readJSON(t, "proguard/rust-proguard-cases.json", &cases)
	if len(cases) != 47 {
		t.Fatalf("%d cases", len(cases))
	}
	for i, c := range cases {
		what := fmt.Sprintf("%d %s", i, c.Test)
		if input, ok := misread[i]; ok {
			c.Obfuscated = input
		}
		if c.MappingFile != "" {
			b, err := os.ReadFile(formattest.Fixture(t, "proguard/mappings/"+c.MappingFile))
			if err != nil {
				t.Fatal(err)
			}
			c.Mapping = string(b)
			if c.CRLF {
				c.Mapping = strings.ReplaceAll(strings.ReplaceAll(c.Mapping, "\r\n", "\n"), "\n", "\r\n")
			}
		}
		class := mapping(t, c.Mapping)
		list := report.ManagedOptions{School: report.List}
		switch c.Kind {
		case "class":
			var name, want string
			unmarshal(t, c.Input, &name)
			unmarshal(t, c.Expected, &want)
			same(t, what, want+"\n", print(t, class, list, name+"\n"))
		case "stacktrace":
			var want string
			unmarshal(t, c.Expected, &want)
			same(t, what, unindented(want), unindented(print(t, class, list, c.Obfuscated)))
		case "frame":
			var in frame
			var want []frame
			unmarshal(t, c.Input, &in)
			unmarshal(t, c.Expected, &want)
			got := strings.Split(unindented(print(t, class, list, fmt.Sprintf("at %s.%s(SourceFile:%d)\n", *in.Class, *in.Method, *in.Line))), "\n")
			if len(got) != max(len(want), 1) {
				t.Errorf("%s: %q", what, got)
				continue
			}
			for k, w := range want {
				g := regexp.MustCompile(`^at (.*)\.([^.]*)\((.*):(\d+)\)$`).FindStringSubmatch(got[k])
				if g == nil || w.Class != nil && g[1] != *w.Class || w.Method != nil && g[2] != *w.Method || w.File != nil && g[3] != *w.File || w.Line != nil && g[4] != strconv.Itoa(*w.Line) {
					t.Errorf("%s: %q, want %s", what, got[k], c.Expected)
				}
			}
		default:
			t.Errorf("%s: kind %q", what, c.Kind)
		}
	}
}

func unmarshal(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// unindented leaves out indents, and empty lines around the text.
func unindented(text string) string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		all = append(all, strings.TrimSpace(line))
	}
	return strings.Join(all, "\n")
}
