package retrace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/r8"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
)

// FuzzRetrace retraces any text by any mapping, in each school: the answer is bounded and prints, and the
// same question has the same answer again.
func FuzzRetrace(f *testing.F) {
	f.Add("a.A -> a:\n    1:3:void b.C.d(int):5:7 -> e\n    1:3:void f():9:9 -> e\n    int g -> h\n", "java.lang.Error: a\n\tat a.e(SourceFile:2)\n\tat a.h(Unknown Source)\n")
	f.Add("# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\na.O -> o:\n    1:2:int m(int):0:0 -> a\n      # {\"id\":\"com.android.tools.r8.outline\"}\n"+
		"a.A -> a:\n    4:4:int x(int):98:98 -> s\n    27:27:int x(int):0:0 -> s\n      # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":4,\"2\":5},\"outline\":\"Lo;a(I)I\"}\n",
		"Exception in thread \"main\" java.io.IOException\n\tat o.a(:1)\n\tat a.s(:27)\n")
	f.Add("a.A -> a:\n    4:4:void m():10:10 -> a\n    4:4:void n():20 -> a\n      # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(La;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n",
		"Caused by: a: b: c\n  at a.a(a.java:4)\n  at a.a(a, int[])\n")
	f.Add("a.A -> a:\n    9:1:void m():4000000000:1 -> a\n    void n():1:4294967295 -> a\n    4294967295:0:void o() -> a\n", "\tat a.a(:4294967295)\n\tat a.a\n\tat a.a(:-1)\n")
	f.Fuzz(func(t *testing.T, mapping, text string) {
		obj, err := r8.Format.Open(context.Background(), formattest.InputOf("mapping.txt", []byte(mapping), formats.Limits{}))
		if err != nil {
			return
		}
		classes := map[string]*retrace.Class{}
		a := &obj.Artifacts[0]
		for part := range a.Parts {
			if _, err := a.ExplodeClasses(context.Background(), part, func(c *symbol.Class) error {
				c = c.Clone()
				classes[c.Name] = retrace.NewClass(c, c)
				return nil
			}); err != nil {
				return
			}
		}
		class := func(name string) *retrace.Class {
			if name == "" {
				return nil
			}
			return classes[name]
		}
		for _, o := range []retrace.Options{{School: report.Own}, {School: report.R8, Verbose: true}, {School: report.List}} {
			var out [2]bytes.Buffer
			for i := range out {
				retraceAll(t, &out[i], class, o, text)
			}
			if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
				t.Fatalf("%v: twice retraced:\n%s\n%s", o, &out[0], &out[1])
			}
		}
	})
}

// retraceAll retraces text, printed into to.
func retraceAll(t *testing.T, to *bytes.Buffer, class func(string) *retrace.Class, o retrace.Options, text string) {
	options := report.Options{Managed: report.ManagedOptions{School: o.School, Verbose: o.Verbose, All: true}}
	err := report.Split(context.Background(), strings.NewReader(text), all.Dialects, options, func(s *report.Report) error {
		answers := make([][]symbol.Answer, len(s.Threads))
		for i := range s.Threads {
			answers[i] = make([]symbol.Answer, len(s.Threads[i].Frames))
			retrace.Retrace(&s.Threads[i], class, o, answers[i])
			for k := range answers[i] {
				a := &answers[i][k]
				if len(a.Or) >= retrace.MaxAlternatives {
					t.Fatalf("%d alternatives", len(a.Or))
				}
				if a.Status != symbol.Found && a.Err == nil && s.Threads[i].Frames[k].Managed != nil {
					t.Fatalf("%v without a reason", a.Status)
				}
			}
		}
		return report.Print(to, s, answers)
	})
	if err != nil {
		t.Skip(err)
	}
}

// R8's suite says how many warnings each of its traces gives. Those about the mapping are ours too; a line that is no
// frame is printed as it is by both, but only R8 warns of it.
func TestR8Warnings(t *testing.T) {
	var cases []struct {
		Name, Mapping string
		Warnings      int `json:"expected_warnings"`
	}
	readJSON(t, "proguard/r8-retrace-stacktraces.json", &cases)
	notOfTheMapping := map[string]bool{"CircularReferenceStackTrace": true, "InvalidStackTrace": true}
	for _, c := range cases {
		want := c.Warnings
		if notOfTheMapping[c.Name] {
			want = 0
		}
		obj := formattest.Open(t, &r8.Format, formattest.InputOf("mapping.txt", []byte(c.Mapping), formats.Limits{}))
		got := 0
		for part := range obj.Artifacts[0].Parts {
			q, err := obj.Artifacts[0].ExplodeClasses(t.Context(), part, func(*symbol.Class) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			got += len(q.Warnings)
		}
		if got != want {
			t.Errorf("%s: %d warnings, want %d", c.Name, got, want)
		}
	}
}
