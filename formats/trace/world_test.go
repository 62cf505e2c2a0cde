package trace_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/trace"
)

// slice is a call as events tell of it.
type slice struct {
	Thread   string `json:"thread,omitempty"`
	Name     string `json:"name"`
	Start    int64  `json:"start"`
	End      int64  `json:"end"`
	Depth    int    `json:"depth"` // from 0
	Unclosed bool   `json:"unclosed"`
	Meta     string `json:"meta"`
}

// seen is what a trace's events say, checked for the package's invariants.
type seen struct {
	t       testing.TB
	tracks  []*trace.Track
	last    []int64 // by track
	open    [][]int // by track: of slices
	slices  []slice // in order of begin
	cpu     [][2]int64
	counts  map[string][]float64
	moments []string
	names   map[int32]*trace.Name
	forgot  int
}

func newSeen(t testing.TB) *seen {
	return &seen{t: t, counts: map[string][]float64{}, names: map[int32]*trace.Name{}}
}

func (s *seen) event(e *trace.Event) error {
	s.t.Helper()
	if e.Kind == trace.Forget {
		s.names, s.forgot = map[int32]*trace.Name{}, s.forgot+1
		return nil
	}
	if e.Kind == trace.NewTrack {
		if e.Track.Index != len(s.tracks) {
			s.t.Fatalf("track %d after %d", e.Track.Index, len(s.tracks))
		}
		if p := e.Track.Parent; p != nil && (p.Index >= len(s.tracks) || s.tracks[p.Index] != p || p.Kind != trace.Thread) {
			s.t.Fatalf("track %q has a parent that was not told of", e.Track.Name)
		}
		s.tracks, s.last, s.open = append(s.tracks, e.Track), append(s.last, 0), append(s.open, nil)
		return nil
	}
	i := e.Track.Index
	if i >= len(s.tracks) || s.tracks[i] != e.Track {
		s.t.Fatalf("an event on a track that was not told of")
	}
	if e.Time < s.last[i] {
		s.t.Fatalf("track %d: time %d after %d", i, e.Time, s.last[i])
	}
	s.last[i] = e.Time
	if n := e.Name; n != nil {
		if known := s.names[n.ID]; known != nil && known != n || n.ID >= trace.MaxNames {
			s.t.Fatalf("name %q has ID %d, as another", n.Text, n.ID)
		}
		s.names[n.ID] = n
	}
	switch e.Kind {
	case trace.Begin:
		one := slice{Name: e.Name.Text, Start: e.Time, Depth: len(s.open[i]), End: -1, Thread: fmt.Sprint(e.Track.TID)}
		for _, a := range e.Name.Args {
			if a.Key == "meta" {
				one.Meta = a.Value
			}
		}
		if one.Depth >= trace.MaxDepth {
			s.t.Fatalf("depth %d", one.Depth)
		}
		if e.Track.Kind != trace.Thread {
			one.Thread = e.Track.Name
		}
		s.open[i] = append(s.open[i], len(s.slices))
		s.slices, s.cpu = append(s.slices, one), append(s.cpu, [2]int64{e.CPU})
	case trace.End:
		top := len(s.open[i]) - 1
		if top < 0 {
			s.t.Fatal("an end without begin")
		}
		one := &s.slices[s.open[i][top]]
		one.End, one.Unclosed = e.Time, e.Unclosed
		s.cpu[s.open[i][top]][1] = e.CPU
		s.open[i] = s.open[i][:top]
	case trace.Count:
		if e.Track.Kind != trace.Counter {
			s.t.Fatal("a value on a track of calls")
		}
		s.counts[e.Track.Name] = append(s.counts[e.Track.Name], e.Value)
	case trace.Instant:
		s.moments = append(s.moments, fmt.Sprintf("%d %s", e.Time, e.Name.Text))
	}
	return nil
}

// done checks that everything was ended.
func (s *seen) done() {
	s.t.Helper()
	for i, open := range s.open {
		if len(open) > 0 {
			s.t.Fatalf("%d calls stay open on track %d", len(open), i)
		}
	}
}

// calls are the slices of threads.
func (s *seen) calls() (calls []slice) {
	for _, one := range s.slices {
		if one.Thread != "state" && one.Thread != "blocked" {
			calls = append(calls, one)
		}
	}
	return calls
}

// readFile reads a trace with the files beside it.
func readFile(t testing.TB, path string) (*seen, trace.Report) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newSeen(t)
	report, err := trace.Read(context.Background(), f, trace.Options{Name: "app", Beside: func(suffix string, replace bool) (io.ReadCloser, error) {
		p := path
		if replace {
			p = strings.TrimSuffix(p, filepath.Ext(p))
		}
		f, err := os.Open(p + suffix)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return f, err
	}}, s.event)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s.done()
	return s, report
}

// readText reads a trace; an error is the input's.
func readText(t testing.TB, text []byte) (*seen, trace.Report, error) {
	t.Helper()
	s := newSeen(t)
	report, err := trace.Read(context.Background(), bytes.NewReader(text), trace.Options{}, s.event)
	if err != nil && !formats.Rejects(err) {
		t.Fatal(err)
	}
	s.done()
	return s, report, err
}

// expected are a fixture's slices, by start and depth.
func expected(t testing.TB, path string) []slice {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Slices []slice }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Slices
}

func byStart(all []slice) []slice {
	slices.SortStableFunc(all, func(a, b slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth)) })
	return all
}
