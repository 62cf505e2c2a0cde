package all

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
)

// TestDecoded reads texts as pages, chats and other systems pass them on, and looks at what comes out. The suite
// reporttest reads each dialect's reports in other encodings.
func TestDecoded(t *testing.T) {
	t.Parallel()
	const java = "java.lang.IllegalStateException: no card\n\tat a.b.c(SourceFile:12)\n\tat d.e.f(Unknown Source)\n"
	tests := []struct {
		name   string
		in     string
		out    string // "": the input
		frames int
	}{
		{"a mark alone", "\ufeff", "\x00", 0},
		{"Latin-1", "\tat a.Gr\xf6\xdfe.b(Gr\xf6\xdfe.java:3)\n", "\tat a.Größe.b(Größe.java:3)\n", 1},
		{"Latin-1 without frames", "caf\xe9\n", "", 0},
		{"Latin-1 of Windows", "\tat a.b.c(X.java:1)\ncaf\xe9\x92s\n", "\tat a.b.c(X.java:1)\ncafé’s\n", 2}, // Java takes the line below its frames for an exception
		{"Latin-1 at the end of a line", "\tat a.b.c(X.java:1)\ncaf\xe9\n", "\tat a.b.c(X.java:1)\ncafé\n", 2},
		{"a space of Latin-1", "\tat\xa0a.b.c(SourceFile:12)\n", "\tat a.b.c(SourceFile:12)\n", 1},
		{"both encodings", "caf\xc3\xa9 caf\xe9\n", "", 0},
		{"a letter that was cut", "caf\xc3\xa9 10 \xe2\x82", "", 0},
		{"bytes that are no text", "\x01\x02\xe9\x00\n", "", 0},
		{"an odd byte in UTF-16", "\xff\xfea\x00b", "a\ufffd", 0},
		{"spaces without frames", "prix\u00a0: 10\u202f€\n", "", 0},
		{"spaces with frames", "a\u00a0: b\n\u00a0\u00a0at\u00a0a.b.c(SourceFile:12)\n", "a : b\n  at a.b.c(SourceFile:12)\n", 2},
		{"spaces in JSON", "{\"a\u00a0b\":\"c\u200bd\"}\n", "", 0},
		{"returns without frames", "10 %\r20 %\r\n", "", 0},
		{"returns in pairs", strings.ReplaceAll(java, "\n", "\r\r\n"), "", 3},
		{"escapes", strings.ReplaceAll(strings.ReplaceAll(java, "\n", `\n`), "\t", `\t`), java, 3},
		{"escapes of escapes", strings.ReplaceAll(strings.ReplaceAll(java, "\n", `\\n`), "\t", `\\t`), java, 3},
		{"escapes in a log", `E app: stack="x\n\tat a.b.c(SourceFile:12)\n" code=3`, "E app: stack=\"\nx\n\tat a.b.c(SourceFile:12)\n\" code=3", 4},
		{"an escaped letter", `at a.Gr\u00f6.b(X.java:3)\nat c.d.e(Y.java:4)`, "at a.Grö.b(X.java:3)\nat c.d.e(Y.java:4)", 2},
		{"escapes without frames", `a\nb\nc`, "", 0},
		{"a path", "    at f (C:\\new\\tmp\\app.js:1:20)\n", "", 1},
		{"an expression", "s/\\n/x/g\n\tat a.b.c(SourceFile:12)\n", "", 2}, // Java takes the line above a frame for an exception
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := strings.TrimPrefix(test.out, "\x00")
			if test.out == "" {
				want = test.in
			}
			var out bytes.Buffer
			frames := 0
			err := report.Split(t.Context(), strings.NewReader(test.in), Dialects, report.Options{}, func(r *report.Report) error {
				for i := range r.Threads {
					frames += len(r.Threads[i].Frames)
				}
				return report.Print(&out, r, nil)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" || frames != test.frames {
				t.Errorf("%d frames, want %d: %s", frames, test.frames, diff)
			}
		})
	}
}

// TestEscapesLinear: a line of nothing but escapes costs as much as its length.
func TestEscapesLinear(t *testing.T) {
	cost := func(n int) float64 {
		line := strings.Repeat(`\\\\n at`, n)
		return testing.AllocsPerRun(1, func() {
			if err := report.Split(t.Context(), strings.NewReader(line), Dialects, report.Options{}, func(*report.Report) error { return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
	if once, twice := cost(2_000), cost(4_000); twice > 2.5*once+256 {
		t.Errorf("%v allocations, %v for twice the line", once, twice)
	}
}
