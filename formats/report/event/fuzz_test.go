package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/event"
	"github.com/symlake/symlake/formats/report/js"
	"github.com/symlake/symlake/formats/report/jvm"
	"github.com/symlake/symlake/formats/symbol"
)

// dialects read events and two kinds of text in their strings.
var dialects = []report.Dialect{event.Dialect, js.Dialect, jvm.Dialect}

// answered splits a text, and prints it with the same answer for each frame.
func answered(t testing.TB, text string) (plain, printed []byte, frames int) {
	t.Helper()
	var before, after bytes.Buffer
	err := report.Split(t.Context(), strings.NewReader(text), dialects, report.Options{}, func(r *report.Report) error {
		if err := report.Print(&before, r, nil); err != nil {
			return err
		}
		var answers [][]symbol.Answer
		for _, th := range r.Threads {
			list := make([]symbol.Answer, len(th.Frames))
			for i := range list {
				list[i] = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "a.b\"c.d", File: "/x/e.kt", Line: 7, Column: 3}, {Function: "outer.f"}}}
			}
			frames += len(list)
			answers = append(answers, list)
		}
		return report.Print(&after, r, answers)
	})
	if err != nil {
		t.Fatal(err)
	}
	return before.Bytes(), after.Bytes(), frames
}

// FuzzEvents reads and prints any JSON: without answers it comes out unchanged, and with answers it stays JSON.
func FuzzEvents(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(formattest.Root(), "testdata", "events", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal("no events", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`{"frames":[{"filename":"a.js","lineno":1,"colno":2,"lineno":"3"},{}],"stack":"E\n\u0009at a.b.c(D.java:1)\n\ud800"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || len(text) > 1<<16 {
			t.Skip()
		}
		plain, printed, _ := answered(t, text)
		if string(plain) != text {
			t.Errorf("%q came out as %q", text, plain)
		}
		if !json.Valid(printed) {
			t.Errorf("%q was printed as %q", text, printed)
		}
	})
}

// TestEventsLinear counts allocations of events of many shapes, and of twice as many.
func TestEventsLinear(t *testing.T) {
	for name, part := range map[string]string{
		"frames":     `{"stacktrace":{"frames":[{"filename":"a.js","abs_path":"https://h/a.js","lineno":1,"colno":2},{"module":"a.b","function":"c","lineno":3}]}},`,
		"images":     `{"type":"elf","image_addr":"0x1000","image_size":16,"code_id":"0123456789abcdef01"},`,
		"strangers":  `{"fn":"a","ln":3,"lib":{"x":[]}},`,
		"strings":    `"E: x\n\tat a.b.c(D.java:1)\n",`,
		"escapes":    `"{\"a\":\"E: x\\n\\tat a.b.c(D.java:1)\\n\"}",`,
		"scopes":     `{"threads":[{"frames":[{"instruction_addr":"0x1001"}]}],"debug_meta":{"images":[{"type":"elf","image_addr":"0x1000"}]}},`,
		"exceptions": `{"type":"a.b","frames":[{"declaringClass":"a.b","methodName":"c","fileName":"D.java","lineNumber":1}]},`,
	} {
		t.Run(name, func(t *testing.T) {
			allocations := func(times int) float64 {
				text := `{"list":[` + strings.Repeat(part, times) + `0]}`
				return testing.AllocsPerRun(1, func() { _, _, _ = answered(t, text) })
			}
			if once, twice := allocations(200), allocations(400); twice > 2.4*once+100 {
				t.Errorf("%v allocations for a text, %v for twice as much", once, twice)
			}
		})
	}
}
