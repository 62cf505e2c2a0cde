package jobs

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/jobs/wire"
)

// summaryLine decodes a record with the counts of an input; ok is false for records of stacks.
func summaryLine(t *testing.T, line string) (s wire.SummaryRecord, ok bool) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if members["threads"] == nil {
		t.Errorf("a script that reads a record a stack finds no threads in %s", line)
	}
	if members["recognized"] == nil {
		return s, false
	}
	s.Summary = new(wire.Summary)
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatal(err)
	}
	return s, true
}

// TestStrict gives inputs with frames, with none, and with some that have no symbols.
func TestStrict(t *testing.T) {
	t.Parallel()
	mapping := formattest.Testdata(t, "r8/shop.map.txt")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	raw, err := os.ReadFile(formattest.Testdata(t, "r8/shop.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := file("known.txt", string(raw))
	none := file("none.txt", "nothing to see\n")
	native := file("native.txt", strings.Repeat("#00 pc 0000000000001000  /data/liba.so\n", 3)+"#00 pc 0000000000001000  [vdso]\n")

	for name, c := range map[string]struct {
		code   int
		files  []string
		counts []string // inputs with a record of counts
		strict []string // the same with --strict
	}{
		"all known":     {0, []string{known}, nil, []string{known}},
		"no symbols":    {0, []string{native}, nil, []string{native}},
		"nothing":       {3, []string{none}, []string{none}, []string{none}},
		"one of two":    {3, []string{known, none}, []string{none}, []string{known, none}},
		"the other one": {3, []string{none, known}, []string{none}, []string{none, known}},
	} {
		for _, strict := range []bool{false, true} {
			args, code, want := append([]string{"symbolicate", "--json", "--symbols", mapping}, c.files...), 0, c.counts
			if strict {
				args, code, want = append(args, "--strict"), c.code, c.strict
			}
			out, errOut := mustRun(t, []int{code}, args...)
			var got []string
			for line := range strings.Lines(out) {
				if s, ok := summaryLine(t, line); ok {
					got = append(got, s.Input)
					if (s.Recognized == 0) != (s.Input == none) || s.Recognized == 0 && (s.Looks == "" || s.LookedFor == "") {
						t.Errorf("%s: %s", name, line)
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, strict %v: counts of %v, want %v\n%s", name, strict, got, want, out)
			}
			if said := strings.Contains(errOut, "no frame was recognized"); said != slices.Contains(c.files, none) {
				t.Errorf("%s: %s", name, errOut)
			}
		}
	}

	out, errOut := mustRun(t, []int{0}, "symbolicate", "--json", "--strict", "--symbols", mapping, native)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	s, ok := summaryLine(t, lines[len(lines)-1])
	if !ok || s.Recognized != 4 || s.Answered != 0 || len(s.Unanswered) != 2 {
		t.Fatalf("counts %+v", s.Summary)
	}
	for i, want := range []wire.Unanswered{
		{Frames: 3, Image: "/data/liba.so", Status: "no-artifact", Reason: `no artifact is called "liba.so"`},
		{Frames: 1, Image: "[vdso]", Status: "no-artifact", Reason: "the code is the kernel's: no file has it"},
	} {
		if s.Unanswered[i] != want {
			t.Errorf("%+v, want %+v", s.Unanswered[i], want)
		}
	}
	if first, _, _ := strings.Cut(errOut, "\n"); !strings.Contains(first, `"frames":3`) || strings.Count(errOut, "not symbolicated") != 2 {
		t.Error(errOut)
	}
}

// TestStrictServed asks a server in each of its forms, and through another symlake.
func TestStrictServed(t *testing.T) {
	t.Parallel()
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	const known, unknown = "#00 pc 00000000000046ac  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n", "#01 pc 0000000000000010  libc.so\n"

	for text, want := range map[string][2]int{"nothing\n": {0, 0}, known: {1, 1}, known + unknown: {2, 1}, strings.Repeat(known, 2000) + unknown: {2001, 2000}} {
		for _, query := range []string{"", "?output=records"} {
			res, err := http.Post(s.url+"/v1/symbolicate"+query, "text/plain", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			said := cmp.Or(res.Header.Get(wire.SummaryHeader), res.Trailer.Get(wire.SummaryHeader))
			var counts wire.Summary
			if err := json.Unmarshal([]byte(said), &counts); err != nil || counts.Recognized != want[0] || counts.Answered != want[1] || (counts.Looks == "") != (want[0] > 0) {
				t.Errorf("%q: %v, counts %s of %.20q", query, err, said, text)
			}
			if told := strings.Contains(string(body), `"recognized":0`); told != (want[0] == 0 && query != "") {
				t.Errorf("%q: records of %.20q: %s", query, text, body)
			}
		}
	}

	question, err := json.Marshal(map[string]any{"stacks": []map[string]string{{"text": "nothing"}, {"text": known + unknown}}})
	if err != nil {
		t.Fatal(err)
	}
	_, text := s.ask(t, "POST", "/v1/symbolicate", "application/json", string(question))
	var answer struct{ Results []wire.Summary }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	if none, some := answer.Results[0], answer.Results[1]; none.Recognized != 0 || none.Looks == "" || some.Recognized != 2 || len(some.Unanswered) != 1 || some.Unanswered[0].Image != "libc.so" {
		t.Error(text)
	}

	dir := t.TempDir()
	none, some := filepath.Join(dir, "none.txt"), filepath.Join(dir, "some.txt")
	for path, text := range map[string]string{none: "nothing\n", some: known + unknown} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, []int{0}, "--store", s.url, "symbolicate", "--strict", some)
	out, errOut := mustRun(t, []int{3}, "--store", s.url, "symbolicate", "--strict", "--json", some, none)
	var inputs []string
	for line := range strings.Lines(out) {
		if c, ok := summaryLine(t, line); ok {
			inputs = append(inputs, c.Input)
		}
	}
	if !slices.Equal(inputs, []string{some, none}) || !strings.Contains(errOut, "libc.so") {
		t.Errorf("counts of %v\n%s", inputs, errOut)
	}
}

// TestStrictTables answers a table with a row of text without a frame.
func TestStrictTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		code int
		row  string
	}{
		"known":   {0, `{"stack":"#00 pc 0000000000001000  /data/liba.so\n"}`},
		"nothing": {3, `{"stack":"nothing"}`},
	} {
		path := filepath.Join(dir, name+".ndjson")
		if err := os.WriteFile(path, []byte(c.row+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, strict := range []string{"--no-progress", "--strict"} {
			code := 0
			if strict == "--strict" {
				code = c.code
			}
			out, _ := mustRun(t, []int{code}, "symbolicate", "--symbols", formattest.Testdata(t, "r8/shop.map.txt"), "--input", path, "--output", filepath.Join(dir, "out"), "--force", "--report", "-", strict)
			if recognized := !strings.Contains(out, `"recognized":0`); recognized != (c.code == 0) {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

// TestUnreadEvent gives an event of a service that nothing is known of, alone and beside a stack.
func TestUnreadEvent(t *testing.T) {
	t.Parallel()
	mapping := formattest.Testdata(t, "r8/shop.map.txt")
	const event = `{"id":7,"crash":{"calls":[{"fn":"pay","cls":"s.b","ln":3},{"fn":"main","cls":"s.a","ln":4}]}}` + "\n"
	for text, recognized := range map[string]bool{event: false, event + "\tat s.b.a(SourceFile:8)\n": true} {
		path := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errOut := mustRun(t, []int{0}, "symbolicate", "--symbols", mapping, path)
		if out[:len(event)] != event || !strings.Contains(errOut, "2 frames at .crash.calls with fn, cls, ln") || strings.Count(errOut, ".crash.calls") != 1 {
			t.Errorf("%s\n%s", out, errOut)
		}
		out, _ = mustRun(t, []int{3}, "symbolicate", "--symbols", mapping, "--json", "--strict", path)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		s, ok := summaryLine(t, lines[len(lines)-1])
		if !ok || (s.Recognized > 0) != recognized || len(s.Unread) != 1 || s.Unread[0].Path != ".crash.calls" || s.Unread[0].Frames != 2 || s.Unread[0].Reason != report.WhyShape {
			t.Errorf("recognized %v: %s", recognized, out)
		}
	}
}
