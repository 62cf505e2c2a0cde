package trace_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
)

// Every slice is the expected one.
func TestExpected(t *testing.T) {
	for _, f := range []struct {
		trace, expected string
		depth           int // of the outermost, in the expected slices
		orphans         uint64
	}{
		{"trace/small.txt", "trace/small.expected.json", 1, 0},
		{"trace/quirks.txt", "trace/quirks.expected.json", 1, 1},
		{"trace/ring.bin", "trace/ring.expected.json", 0, 12},
	} {
		s, report := readFile(t, formattest.Testdata(t, f.trace))
		want := expected(t, formattest.Testdata(t, f.expected))
		for i := range want {
			want[i].Depth -= f.depth
		}
		got := s.calls()
		for i := range got {
			got[i].Thread = ""
		}
		if diff := cmp.Diff(byStart(want), byStart(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.trace, diff)
		}
		if report.Orphans != f.orphans || report.Slices != uint64(len(want)) || report.Bad != 0 {
			t.Errorf("%s: %+v", f.trace, report)
		}
	}
}

// The large one is expected as a hash of its lines.
func TestExpectedLarge(t *testing.T) {
	s, _ := readFile(t, formattest.Fixture(t, "own-traces/nanoscope/large.txt"))
	text, err := os.ReadFile(formattest.Fixture(t, "own-traces/nanoscope/large.expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Count int    `json:"slice_count"`
		Depth int    `json:"max_depth"`
		Sum   int64  `json:"sum_duration"`
		Hash  string `json:"sha256_of_lines"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	got := byStart(s.calls())
	lines, depth, sum := make([]string, len(got)), 0, int64(0)
	for i, one := range got {
		lines[i] = fmt.Sprintf("%d %d %d %s", one.Start, one.End, one.Depth+1, one.Name)
		depth, sum = max(depth, one.Depth+1), sum+one.End-one.Start
	}
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
	if len(got) != want.Count || depth != want.Depth || sum != want.Sum || !strings.HasPrefix(hash, want.Hash) {
		t.Errorf("%d slices, depth %d, sum %d, %s; want %+v", len(got), depth, sum, hash, want)
	}
}

// Counters and states beside a Nanoscope trace.
func TestBeside(t *testing.T) {
	s, _ := readFile(t, formattest.Testdata(t, "trace/small.txt"))
	if got := s.counts["CPU time"]; len(got) != 20 || got[0] != 0 || got[19] != 9417331-696523 {
		t.Errorf("CPU time: %v", got)
	}
	if got := s.counts["allocated bytes"]; len(got) != 20 || got[0] != 3654 || got[19] != 39591 {
		t.Errorf("allocated bytes: %v", got)
	}
	if len(s.counts) != 8 {
		t.Errorf("%d counters", len(s.counts))
	}
	var states []slice
	for _, one := range s.slices {
		if one.Thread == "state" {
			states = append(states, one)
		}
	}
	// 40 changes, and the state before the first.
	if len(states) != 41 {
		t.Fatalf("%d states", len(states))
	}
	want := []slice{
		{Thread: "state", Name: "WaitingForDeoptimization", End: 777000},
		{Thread: "state", Name: "WaitingForDebuggerToAttach", Start: 777000, End: 1554000},
		{Thread: "state", Name: "WaitingWeakGcRootRead", Start: 1554000, End: 2331000},
	}
	if diff := cmp.Diff(want, states[:3]); diff != "" {
		t.Error(diff)
	}
	if last := states[40]; last.Name != "Blocked" || last.Start != 31080000 || !last.Unclosed {
		t.Errorf("last state: %+v", last)
	}
}
