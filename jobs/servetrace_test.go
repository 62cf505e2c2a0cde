package jobs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// traced replays the lines of a trace, and returns each call with its thread, depth, times and name.
func traced(t *testing.T, text string) (calls []string, format string, notes []string) {
	t.Helper()
	type open struct {
		at   int64
		call int
	}
	names, last, stacks := []string{}, map[int]int64{}, map[int][]open{}
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line struct {
			Thread *struct{ Index int }
			Name   *struct {
				Index int
				Text  string
			}
			On    int
			Steps []int64
			Trace *struct {
				Format string
				Notes  []string
			}
			Error string
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil || line.Error != "" {
			t.Fatalf("%v %s", err, in.Text())
		}
		switch {
		case line.Name != nil:
			if line.Name.Index != len(names) {
				t.Fatalf("name %d stands at %d", line.Name.Index, len(names))
			}
			names = append(names, line.Name.Text)
		case line.Trace != nil:
			format, notes = line.Trace.Format, line.Trace.Notes
		}
		for i := 0; i+1 < len(line.Steps); i += 2 {
			last[line.On] += line.Steps[i]
			stack := stacks[line.On]
			if n := line.Steps[i+1]; n >= 0 {
				stacks[line.On] = append(stack, open{last[line.On], len(calls)})
				calls = append(calls, fmt.Sprintf("%d %d %d %s", line.On, len(stack), last[line.On], names[n]))
				continue
			}
			top := stack[len(stack)-1]
			stacks[line.On] = stack[:len(stack)-1]
			calls[top.call] += fmt.Sprintf(" %d", last[line.On]-top.at)
		}
	}
	return calls, format, notes
}

// The server gives the calls of a trace the names that the command gives them.
func TestServeTrace(t *testing.T) {
	t.Parallel()
	store := ingested(t, "r8")
	s := startServe(t, store, "--max-body", "1MiB")
	const mapping = "89a3f476d274c700f1e6babfebf4009d1cab0556636efe206b13edafc49717fa"
	for _, name := range []string{"shop.txt", "quirks.txt", "small.txt"} {
		file := formattest.Testdata(t, "trace/"+name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, answer := s.ask(t, "POST", "/v1/trace?artifact="+mapping, "application/octet-stream", string(text))
		if code != 200 {
			t.Fatalf("%s: %d %s", name, code, answer)
		}
		calls, format, _ := traced(t, answer)
		if format != "nanoscope" {
			t.Errorf("%s: %s", name, format)
		}
		out, _ := mustRun(t, []int{0}, "--store", store, "symbolicate", "--artifact", mapping, "--json", file)
		want := map[string]int{}
		for line := range strings.Lines(out) {
			var slice struct {
				Name       string
				Start, End int64
				Depth      int
				Thread     string
			}
			if err := json.Unmarshal([]byte(line), &slice); err != nil {
				t.Fatal(err)
			}
			if slice.Name != "" && slice.End > 0 {
				want[fmt.Sprintf("%d %s %d", slice.Start, slice.Name, slice.End-slice.Start)]++
			}
		}
		for _, c := range calls {
			parts := strings.SplitN(c, " ", 3)
			if want[parts[2]] == 0 {
				t.Errorf("%s: %s is no call that the command prints", name, c)
				break
			}
		}
		if len(calls) == 0 {
			t.Errorf("%s: no call", name)
		}
	}
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/v1/trace", "no trace at all", 400}, {"/v1/trace", "", 400}, {"/v1/trace?nonsense=1", "1:a.b.c()\n", 400}, {"/v1/trace?app=a&app=b", "1:a.b.c()\n", 400},
		{"/v1/trace?app=" + strings.Repeat("a", 5000), "1:a.b.c()\n", 400}, {"/v1/trace", strings.Repeat("1:a.b.c()\n", 1<<17), 413},
	} {
		if code, text := s.ask(t, "POST", c.path, "application/octet-stream", c.body); code != c.code || !strings.Contains(text, `"error":`) {
			t.Errorf("%.40s: %d %s, want %d", c.path, code, text, c.code)
		}
	}
	// A trace that breaks off gives its calls, and says so.
	code, answer := s.ask(t, "POST", "/v1/trace", "application/octet-stream", "*version\n3\nclock=wall\n*threads\n1\tmain\n*methods\n0x10\ta/B\tc\t()V\tB.java\n*end\nSLOW\x03\x00\x20\x00")
	if code != 200 {
		t.Fatalf("%d %s", code, answer)
	}
	if _, format, notes := traced(t, answer); format != "art" || !strings.Contains(strings.Join(notes, " "), "the trace ends early") {
		t.Errorf("%s %q", format, notes)
	}
	if log := s.text(); strings.Contains(log, "panic") || strings.Contains(log, "com.example") {
		t.Error(log)
	}
}
