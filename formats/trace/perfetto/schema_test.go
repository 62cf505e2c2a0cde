package perfetto_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/formats/trace/perfetto"
)

// slice is a slice as Perfetto's schema has it, or a value of a counter.
type slice struct {
	Thread   string         `json:"thread"`
	TID      int64          `json:"tid"`
	PID      int64          `json:"pid"`
	Track    string         `json:"track"`
	Name     string         `json:"name"`
	Start    int64          `json:"start"`
	End      int64          `json:"end"`
	Depth    int            `json:"depth"`
	CPU      int64          `json:"cpu"`
	Args     map[string]any `json:"args"`
	Location string         `json:"location"`
	Instant  bool           `json:"instant"`
	At       int64          `json:"at"`
	Value    float64        `json:"value"`
}

// decode reads a file with Perfetto's own schema, which checks it.
func decode(t testing.TB, file []byte) (all []slice) {
	t.Helper()
	dir := os.Getenv("SYMLAKE_TRACE")
	if _, err := os.Stat(filepath.Join(dir, ".versions")); dir == "" || err != nil {
		formattest.Missing(t, "a folder with Perfetto's schema", "make readers makes it; then set SYMLAKE_TRACE to it, as make test does")
	}
	path := filepath.Join(t.TempDir(), "x.perfetto-trace")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(dir, "py/bin/python"), formattest.Testdata(t, "trace/check.py"), path).Output()
	if err != nil {
		var why *exec.ExitError
		if errors.As(err, &why) {
			t.Fatalf("%v: %s", err, why.Stderr)
		}
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for d.More() {
		var one slice
		if err := d.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// plain gives names as they are.
func plain(n *trace.Name) (trace.Label, error) { return trace.Label{Text: n.Text}, nil }

// convert writes traces as one file.
func convert(t testing.TB, label func(*trace.Name) (trace.Label, error), paths ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := perfetto.New(&out)
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w.Trace(label)
		beside := func(suffix string, replace bool) (io.ReadCloser, error) {
			p := path
			if replace {
				p = strings.TrimSuffix(p, filepath.Ext(p))
			}
			f, err := os.Open(p + suffix)
			if errors.Is(err, os.ErrNotExist) {
				return nil, nil
			}
			return f, err
		}
		if _, err := trace.Read(context.Background(), f, trace.Options{Name: filepath.Base(path), PID: int64(i) + 1, Beside: beside}, w.Event); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Every slice of the fixtures is in the file, with its facts, and nothing else.
func TestExpected(t *testing.T) {
	for _, f := range []struct {
		trace, expected string
		depth           int // of the outermost, in the expected slices
	}{
		{"trace/small.txt", "trace/small.expected.json", 1},
		{"trace/quirks.txt", "trace/quirks.expected.json", 1},
		{"trace/ring.bin", "trace/ring.expected.json", 0},
	} {
		text, err := os.ReadFile(formattest.Testdata(t, f.expected))
		if err != nil {
			t.Fatal(err)
		}
		var expected struct {
			Slices []struct {
				Name, Meta        string
				Start, End, Depth int64
				Unclosed          bool
			}
		}
		if err := json.Unmarshal(text, &expected); err != nil {
			t.Fatal(err)
		}
		var want []slice
		for _, e := range expected.Slices {
			args := map[string]any{}
			if e.Meta != "" {
				args["meta"] = e.Meta
			}
			if e.Unclosed {
				args["unclosed"] = true
			}
			want = append(want, slice{Thread: "main", TID: 1, PID: 1, Name: e.Name, Start: e.Start, End: e.End, Depth: int(e.Depth) - f.depth, Args: args})
		}
		got := slices.DeleteFunc(decode(t, convert(t, plain, formattest.Testdata(t, f.trace))), func(s slice) bool { return s.Track != "" })
		byStart := func(a, b slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth)) }
		slices.SortStableFunc(got, byStart)
		slices.SortStableFunc(want, byStart)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.trace, diff)
		}
	}
}

// Counters and states have tracks of their own below the thread's.
func TestTracks(t *testing.T) {
	tracks := map[string]int{}
	var cpu []float64
	for _, s := range decode(t, convert(t, plain, formattest.Testdata(t, "trace/small.txt"))) {
		tracks[s.Track]++
		if s.Thread != "main" {
			t.Errorf("%+v is not of the thread", s)
		}
		if s.Track == "CPU time" {
			cpu = append(cpu, s.Value)
		}
	}
	want := map[string]int{"": 157, "state": 41, "CPU time": 20, "major page faults": 20, "minor page faults": 20, "context switches": 20,
		"allocated bytes": 20, "allocated objects": 20, "thread allocated bytes": 20, "thread freed bytes": 20}
	if diff := gocmp.Diff(want, tracks); diff != "" {
		t.Error(diff)
	}
	if cpu[0] != 0 || cpu[19] != 9417331-696523 {
		t.Errorf("CPU time: %v", cpu)
	}
}

// Several traces in one file stay apart.
func TestSeveral(t *testing.T) {
	small, ring := formattest.Testdata(t, "trace/small.txt"), formattest.Testdata(t, "trace/ring.bin")
	pids := map[int64]int{}
	for _, s := range decode(t, convert(t, plain, small, ring, small)) {
		if s.Track == "" {
			pids[s.PID]++
		}
	}
	if diff := gocmp.Diff(map[int64]int{1: 157, 2: 195, 3: 157}, pids); diff != "" {
		t.Error(diff)
	}
}

// What a label says about a name stands with each of its slices.
func TestLabels(t *testing.T) {
	label := func(n *trace.Name) (trace.Label, error) {
		return trace.Label{Text: "Original.of(" + n.Text + ")", Or: []string{"Other.one()", "Other.two()"}, Inlined: []string{"Inner.x()"}, File: "Original.kt", Line: 7}, nil
	}
	for _, s := range decode(t, convert(t, label, formattest.Testdata(t, "trace/ring.bin"))) {
		raw, _ := s.Args["obfuscated"].(string)
		want := map[string]any{"obfuscated": raw, "alternatives": []any{"Other.one()", "Other.two()"}, "inlined": []any{"Inner.x()"}}
		delete(s.Args, "unclosed")
		if diff := gocmp.Diff(want, s.Args); diff != "" || raw == "" || s.Name != "Original.of("+raw+")" || s.Location != "Original.kt:7" {
			t.Fatalf("%+v: %s", s, diff)
		}
	}
}

// Names that were forgotten are defined again, texts need not be UTF-8, ids of
// processes and threads may be anything, counters any number.
func TestOdd(t *testing.T) {
	var out bytes.Buffer
	w := perfetto.New(&out)
	w.Trace(plain)
	thread := &trace.Track{Kind: trace.Thread, PID: -7, TID: 1 << 40, Name: "t\xff", CPU: true}
	second := &trace.Track{Index: 1, Kind: trace.Thread, PID: 1, TID: 0, CPU: true}
	count := &trace.Track{Index: 2, Kind: trace.Counter, PID: -7, Name: "load"}
	a, b := &trace.Name{Text: "a\xfe"}, &trace.Name{Text: "b"}
	for _, e := range []trace.Event{
		{Kind: trace.NewTrack, Track: thread}, {Kind: trace.NewTrack, Track: second}, {Kind: trace.NewTrack, Track: count},
		{Kind: trace.Begin, Track: thread, Name: a, Time: 1, CPU: 100},
		{Kind: trace.Begin, Track: second, Name: a, Time: 1, CPU: 7},
		{Kind: trace.Forget},
		{Kind: trace.Begin, Track: thread, Name: b, Time: 2, CPU: 105},
		{Kind: trace.Instant, Track: second, Name: b, Time: 2},
		{Kind: trace.End, Track: thread, Time: 3, CPU: 110, Unclosed: true},
		{Kind: trace.End, Track: thread, Time: 3, CPU: 111},
		{Kind: trace.End, Track: second, Time: 4, CPU: 9},
		{Kind: trace.Count, Track: count, Time: 4, Value: -2},
		{Kind: trace.Count, Track: count, Time: 5, Value: 0.25},
		{Kind: trace.Count, Track: count, Time: 6, Value: 1e300},
	} {
		if err := w.Event(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{}
	want := []slice{
		{TID: 2, PID: 2, Name: "b", Start: 2, Depth: 1, Args: args, Instant: true},
		{Thread: "t\ufffd", TID: 1, PID: 1, Name: "b", Start: 2, End: 3, Depth: 1, CPU: 5, Args: map[string]any{"unclosed": true}},
		{Thread: "t\ufffd", TID: 1, PID: 1, Name: "a\ufffd", Start: 1, End: 3, CPU: 11, Args: args},
		{TID: 2, PID: 2, Name: "a\ufffd", Start: 1, End: 4, CPU: 2, Args: args},
		{Track: "load", At: 4, Value: -2}, {Track: "load", At: 5, Value: 0.25}, {Track: "load", At: 6, Value: 1e300},
	}
	if diff := gocmp.Diff(want, decode(t, out.Bytes())); diff != "" {
		t.Error(diff)
	}
}

// A writer that failed stays failed.
func TestFails(t *testing.T) {
	w := perfetto.New(failing{})
	w.Trace(plain)
	track := &trace.Track{Kind: trace.Thread, PID: 1, TID: 1}
	err := w.Event(&trace.Event{Kind: trace.NewTrack, Track: track})
	n := &trace.Name{Text: strings.Repeat("x", 1000)}
	for i := int64(0); err == nil && i < 1<<20; i++ {
		err = w.Event(&trace.Event{Kind: trace.Begin, Track: track, Name: n, Time: i})
	}
	if !errors.Is(err, io.ErrClosedPipe) || !errors.Is(w.Close(), io.ErrClosedPipe) {
		t.Fatal(err)
	}
	// A label's error is the writer's.
	w = perfetto.New(io.Discard)
	w.Trace(func(*trace.Name) (trace.Label, error) { return trace.Label{}, io.ErrNoProgress })
	if err := w.Event(&trace.Event{Kind: trace.NewTrack, Track: track}); err != nil {
		t.Fatal(err)
	}
	if err := w.Event(&trace.Event{Kind: trace.Begin, Track: track, Name: n}); !errors.Is(err, io.ErrNoProgress) {
		t.Fatal(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
