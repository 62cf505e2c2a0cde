package retrace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
)

// mapping reads the classes of a mapping's text.
func mapping(t testing.TB, text string) func(string) *retrace.Class {
	t.Helper()
	made := map[string]*retrace.Class{}
	for name, c := range formattest.Classes(t, &r8.Format, formattest.InputOf("mapping.txt", []byte(text), formats.Limits{})) {
		made[name] = retrace.NewClass(c)
	}
	return func(name string) *retrace.Class {
		if name == "" {
			return nil
		}
		return made[name]
	}
}

// print retraces a text as the command does for one whose mapping is known.
func print(t testing.TB, class func(string) *retrace.Class, o stack.ManagedOptions, text string) string {
	t.Helper()
	o.All = true
	var out bytes.Buffer
	err := stack.Split(context.Background(), strings.NewReader(text), stack.Options{Managed: o}, func(s *stack.Stack) error {
		answers := make([][]symbol.Answer, len(s.Threads))
		for i := range s.Threads {
			answers[i] = make([]symbol.Answer, len(s.Threads[i].Frames))
			retrace.Retrace(&s.Threads[i], class, retrace.Options{School: o.School, Verbose: o.Verbose}, answers[i])
		}
		return stack.Print(&out, s, answers)
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
var schools = []stack.School{stack.R8, stack.Own}

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
			same(t, c.Name+" "+school.String(), lines(c.Retraced), print(t, class, stack.ManagedOptions{School: school}, lines(text)))
			same(t, c.Name+" verbose "+school.String(), lines(c.RetracedVerbose), print(t, class, stack.ManagedOptions{School: school, Verbose: true}, lines(text)))
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
		e, err := stack.ParseExpression(c.Regex)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		class := mapping(t, c.Mapping)
		for _, school := range schools {
			same(t, c.Name, lines(c.Retraced), print(t, class, stack.ManagedOptions{School: school, Line: e}, lines(c.Obfuscated)))
			same(t, c.Name+" verbose", lines(c.RetracedVerbose), print(t, class, stack.ManagedOptions{School: school, Line: e, Verbose: true}, lines(c.Obfuscated)))
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
			same(t, what, lines(c.Retraced), print(t, class, stack.ManagedOptions{School: stack.R8}, lines(c.Obfuscated)))
			if c.RetracedVerbose != nil {
				same(t, what+" verbose", lines(c.RetracedVerbose), print(t, class, stack.ManagedOptions{School: stack.R8, Verbose: true}, lines(c.Obfuscated)))
			}
		}
	}
	if n != 103 {
		t.Fatalf("%d stacks", n)
	}
}
