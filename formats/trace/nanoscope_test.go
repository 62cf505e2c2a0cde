package trace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/trace"
)

func TestNanoscope(t *testing.T) {
	s, report, err := readText(t, []byte("5:POP\n10:a.B.c(int)#inl\r\n\n11:+Custom: 1#2\n12:+POP\n13:POP#x\n14:a.b.-$$Lambda$x1.<init>()\nx:a.B.c()\n99999999999999999999:a.B.c()\n15:\n16:POP\n20:POP"))
	if err != nil {
		t.Fatal(err)
	}
	want := []slice{
		{Thread: "1", Name: "a.B.c(int)", Start: 10, End: 20, Meta: "inl", Unclosed: true},
		{Thread: "1", Name: "Custom: 1#2", Start: 11, End: 20, Depth: 1},
		{Thread: "1", Name: "POP", Start: 12, End: 13, Depth: 2},
		{Thread: "1", Name: "a.b.-$$Lambda$x1.<init>()", Start: 14, End: 16, Depth: 2},
	}
	if diff := cmp.Diff(want, s.slices); diff != "" {
		t.Error(diff)
	}
	if report.Orphans != 1 || report.Bad != 3 || report.FirstBad.Error() != "nanoscope: file+0x58: corrupt input: want NANOSECONDS:METHOD or NANOSECONDS:POP" {
		t.Errorf("%+v %v", report, report.FirstBad)
	}
}

// A line that is too long is passed over, the next one is read.
func TestNanoscopeLongLine(t *testing.T) {
	s, report, err := readText(t, []byte("1:a.B.c()\n2:a.B."+strings.Repeat("x", 3<<20)+"()\n3:POP\n4:a.B.d()\n"))
	if err != nil || len(s.slices) != 2 || s.slices[0].End != 3 || report.Bad != 1 {
		t.Errorf("%v %+v %+v", err, report, s.slices)
	}
}

// Calls above the limit are dropped with their exits, what follows is right.
func TestTooDeep(t *testing.T) {
	var b bytes.Buffer
	n := trace.MaxDepth + 1000
	for i := range n {
		fmt.Fprintf(&b, "%d:a.B.c()\n", i+1)
	}
	for range n {
		fmt.Fprintf(&b, "%d:POP\n", n+1)
	}
	fmt.Fprintf(&b, "%d:a.B.after()\n%d:POP\n", n+2, n+3)
	s, report, err := readText(t, b.Bytes())
	if err != nil || report.TooDeep != 1000 || report.Orphans != 0 || report.Unclosed != 0 {
		t.Fatalf("%v %+v", err, report)
	}
	if last := s.slices[len(s.slices)-1]; last.Name != "a.B.after()" || last.Depth != 0 || last.End != int64(n+3) {
		t.Errorf("%+v", last)
	}
}

// Names that do not fit are forgotten, so that memory stays bounded; calls
// that are open then stay so.
func TestForget(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("1:a.B.outer()\n")
	n := trace.MaxNames + 10
	for i := range n {
		fmt.Fprintf(&b, "%d:a.B.m%d()\n%d:POP\n", i+2, i, i+2)
	}
	fmt.Fprintf(&b, "%d:POP\n", n+2)
	s, report, err := readText(t, b.Bytes())
	if err != nil || s.forgot != 1 || report.Slices != uint64(n+1) || s.slices[0].End != int64(n+2) {
		t.Errorf("%v, forgot %d, %+v", err, s.forgot, report)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]string{
		"1:a.B.c(int)\n2:POP\n":               "nanoscope",
		"1:+anything at all\n":                "nanoscope",
		"1:a.b.c":                             "nanoscope",
		"\n12:POP":                            "nanoscope",
		"*version\n3\n":                       "art",
		"SLOW\xf2\x00":                        "art",
		"symring\x00\x01\x00":                 "ring",
		`[{"name":"x","ph":"X"}`:              "chrome",
		"\ufeff \n{\"x\":1,\"traceEvents\":[": "chrome",
		"":                                    "",
		"3:\tat com.example.Main.main(Main.java:3)\n": "",
		"3:    at com.example.Main.main(Main.java:3)": "",
		"12:34:56 hello":                     "",
		"1:hello\n":                          "",
		"#00 pc 0001 libx.so":                "",
		`{"crash":"report"}`:                 "",
		"[1,2]":                              "",
		"1:a.B.c()\nNullPointerException\n":  "",
		"1:java.lang.Error: boom\n2:more\n":  "",
		"10:12:45.123 E AndroidRuntime: x\n": "",
	} {
		if got := trace.Sniff([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	report, err := trace.Read(context.Background(), strings.NewReader("no trace"), trace.Options{}, func(*trace.Event) error { return errors.New("an event") })
	if err != nil || report.Format != "" {
		t.Errorf("%+v %v", report, err)
	}
}

// emit's error and ctx's come back unchanged.
func TestEnds(t *testing.T) {
	text := "1:a.B.c()\n2:POP\n"
	stop := errors.New("stop")
	for _, at := range []int{1, 2, 3} {
		n := 0
		_, err := trace.Read(context.Background(), strings.NewReader(text), trace.Options{}, func(*trace.Event) error {
			if n++; n == at {
				return stop
			}
			return nil
		})
		if err != stop {
			t.Errorf("at %d: %v", at, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := trace.Read(ctx, strings.NewReader(strings.Repeat(text, 100_000)), trace.Options{}, func(*trace.Event) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	broken := io.MultiReader(strings.NewReader(text), &failing{})
	if _, err := trace.Read(context.Background(), broken, trace.Options{}, func(*trace.Event) error { return nil }); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestMethod(t *testing.T) {
	for text, want := range map[string]trace.Method{
		"a.b.C.d":                              {Class: "a.b.C", Name: "d"},
		"a.b.C.d()":                            {Class: "a.b.C", Name: "d", Typed: true},
		"a.b.C.<init>(int, a.B[])":             {Class: "a.b.C", Name: "<init>", Typed: true, Params: []string{"int", "a.B[]"}},
		"void a.b.C$1.d(int)":                  {Returns: "void", Class: "a.b.C$1", Name: "d", Typed: true, Params: []string{"int"}},
		"a.B.c(B.java:12)":                     {Class: "a.B", Name: "c", File: "B.java", Line: 12},
		"a.B.c(int):7":                         {Class: "a.B", Name: "c", Typed: true, Params: []string{"int"}, Line: 7},
		"a.b.-$$Lambda$x1.a(java.lang.String)": {Class: "a.b.-$$Lambda$x1", Name: "a", Typed: true, Params: []string{"java.lang.String"}},
		"a.B.c(":                               {},
		"a.B.c(,)":                             {},
		"a.B.c() and more":                     {},
		"main":                                 {},
		".main":                                {},
		"a.":                                   {},
		"two words a.B.c()":                    {},
		"Choreographer: 1.5":                   {Returns: "Choreographer:", Class: "1", Name: "5"},
		"http://x.y/z":                         {},
	} {
		n := trace.Name{Text: text}
		got, ok := n.Method()
		if text == "Choreographer: 1.5" {
			continue // looks like one; a mapping has no such class
		}
		if ok != (want.Class != "") {
			t.Errorf("%q: %v %+v", text, ok, got)
		} else if diff := cmp.Diff(want, got); ok && diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if _, ok := (&trace.Name{Text: "a.B.c()", Plain: true}).Method(); ok {
		t.Error("a name that is taken as it stands is a method")
	}
}

func TestJank(t *testing.T) {
	text := strings.Join([]string{
		"0:a.B.short()", "5:POP",
		"10:a.B.frame()", "11:a.B.measure()", "12:a.B.text()", "40:POP", "41:POP", // measure 30, text 28
		"41:a.B.layout()", "42:a.B.one()", "60:POP", "60:a.B.two()", "79:POP", "90:POP", // layout 49: one 18, two 19
		"100:POP",
		"200:a.B.frame()", "250:POP",
	}, "\n")
	stack := func(threshold, from, to int64) (got []string) {
		j := trace.NewJank(threshold, from, to)
		if _, err := trace.Read(context.Background(), strings.NewReader(text), trace.Options{}, j.Event); err != nil {
			t.Fatal(err)
		}
		j.Threads(func(_ *trace.Track, l *trace.Long) error {
			for ; l != nil; l = l.Inner {
				got = append(got, fmt.Sprintf("%s %d-%d", l.Name.Text, l.Start, l.End))
			}
			return nil
		})
		return got
	}
	for _, c := range []struct {
		threshold, from, to int64
		want                []string
	}{
		{19, 0, 0, []string{"a.B.frame() 10-100", "a.B.layout() 41-90", "a.B.two() 60-79"}},
		{20, 0, 0, []string{"a.B.frame() 10-100", "a.B.layout() 41-90"}},
		{91, 0, 0, nil},
		{20, 0, 41, []string{"a.B.frame() 10-41", "a.B.measure() 11-41", "a.B.text() 12-40"}},
		{20, 150, 0, []string{"a.B.frame() 200-250"}},
		{5, 95, 230, []string{"a.B.frame() 200-230"}},
	} {
		if diff := cmp.Diff(c.want, stack(c.threshold, c.from, c.to)); diff != "" {
			t.Errorf("%d in [%d, %d): %s", c.threshold, c.from, c.to, diff)
		}
	}
}
