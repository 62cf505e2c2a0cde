package csv_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	nativeStack = "backtrace \"of\" crash\n#00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n#01 pc 0000000000005000  /apex/lib64/libc.so"
	scriptEvent = `{"exception":{"values":[{"stacktrace":{"frames":[{"filename":"https://h.example/app.min.js","function":"f","lineno":1,"colno":44}]}}]}}`
	scriptStack = "Error: x\n    at f (https://h.example/app.min.js:1:44)\n    at g (https://h.example/app.min.js:1:99)"
)

// answered splits a table and prints it with an answer for each frame, or without.
func answered(t testing.TB, in, function string) (out string, frames int) {
	t.Helper()
	var b bytes.Buffer
	err := report.Split(t.Context(), strings.NewReader(in), all.Dialects, report.Options{}, func(r *report.Report) error {
		frames += r.Frames()
		var answers [][]symbol.Answer
		for i := range r.Threads {
			list := make([]symbol.Answer, len(r.Threads[i].Frames))
			for k := range list {
				if function != "" {
					list[k] = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: function, File: "a.c", Line: 7, Column: 3}}}
				}
			}
			answers = append(answers, list)
		}
		return report.Print(&b, r, answers)
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), frames
}

// TestTables answers the stacks in tables, which stay tables.
func TestTables(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"crash_id", "Stack Trace", "device", "payload"},
		{"1", nativeStack, "a,b", scriptEvent},
		{"2", "no stack", "", "{}"},
		{"", scriptStack + "\n", "say \"hi\"\n", ""},
	}
	for name, c := range map[string]struct {
		comma rune
		crlf  bool
	}{"commas": {',', false}, "semicolons": {';', false}, "tabs": {'\t', false}, "line ends": {',', true}} {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma, w.UseCRLF = c.comma, c.crlf
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if same, frames := answered(t, b.String(), ""); same != b.String() || frames != 5 {
			t.Errorf("%s: %d frames, want 5; %q became %q", name, frames, b.String(), same)
		}
		out, _ := answered(t, b.String(), `toy.Named "q"`)
		r := csv.NewReader(strings.NewReader(out))
		r.Comma = c.comma
		got, err := r.ReadAll()
		if err != nil || len(got) != len(rows) {
			t.Fatalf("%s: %d rows: %v\n%s", name, len(got), err, out)
		}
		if strings.Count(out, "toy.Named") < 5 || !strings.Contains(got[1][1], `toy.Named "q"`) || !json.Valid([]byte(got[1][3])) {
			t.Errorf("%s: %s", name, out)
		}
		if got[0][1] != rows[0][1] || got[2][1] != rows[2][1] || got[3][2] != rows[3][2] {
			t.Errorf("%s: other fields changed: %q", name, got)
		}
	}
}

// TestNoTables reads other text below a line that looks like names of columns.
func TestNoTables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Error, message\n    at f (https://h.example/a.js:1:2)\n":                                                1,
		"id,stack\n1,2,3\n#00 pc 00000000000047d4  /data/app/libcart.so\n":                                       1,
		"id,stack\n1,\"" + scriptStack + "\"\nend of table\n#00 pc 00000000000047d4  /data/app/libcart.so\n":     3,
		"id,stack\n1,\"x\n#00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n":                   1,
		"time, level, message\n1, E, \"x\"\n#00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n": 1,
	} {
		if out, frames := answered(t, text, ""); out != text || frames != want {
			t.Errorf("%q: %d frames, want %d: %q", text, frames, want, out)
		}
	}
}

// FuzzTables: tables come out unchanged, and answered ones have as many records.
func FuzzTables(f *testing.F) {
	f.Add("id,stack\n1,\"" + scriptStack + "\"\n2,\"\"\"x\"\"\"\n")
	f.Add("id;log\r\n1;\"#00 pc 00000000000047d4  /data/app/libcart.so\r\n\"\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || strings.ContainsAny(text, "\r\\{[") || len(text) > 1<<12 {
			return
		}
		for _, c := range text {
			if c >= 0x80 || c < ' ' && c != '\n' {
				return
			}
		}
		if out, _ := answered(t, text, ""); out != text {
			t.Fatalf("%q became %q", text, out)
		}
		if d := all.Dialects[1].Documents[0]; !d.Begins([]byte(text)[:strings.IndexByte(text+"\n", '\n')]) || d.Parts([]byte(text)) == nil {
			return
		}
		out, _ := answered(t, text, "toy.Named")
		if got, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || len(got) != len(rows) {
			t.Fatalf("%q became %q: %d records, want %d: %v", text, out, len(got), len(rows), err)
		}
	})
}
