package speedscope_test

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

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/formats/trace/speedscope"
)

// file is the format, as the viewer has it.
type file struct {
	Schema   string `json:"$schema"`
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue int64
		Events               []struct {
			Type  string
			Frame int
			At    int64
		}
	}
	Shared struct {
		Frames []struct {
			Name, File string
			Line       int
		}
	}
}

type call struct {
	Name              string
	Start, End, Depth int64
}

// calls reads a file as the viewer does: within a profile calls nest, an end names what it ends.
func calls(t *testing.T, text []byte) map[string][]call {
	t.Helper()
	var f file
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&struct {
		*file
		Exporter string
	}{file: &f}); err != nil {
		t.Fatal(err)
	}
	all := map[string][]call{}
	for _, p := range f.Profiles {
		if p.Type != "evented" || p.Unit != "nanoseconds" || all[p.Name] != nil {
			t.Fatalf("profile %q: %s, %s", p.Name, p.Type, p.Unit)
		}
		var open []int
		var found []call
		last := p.StartValue
		for _, e := range p.Events {
			if e.At < last || e.At > p.EndValue {
				t.Fatalf("%s: %d after %d", p.Name, e.At, last)
			}
			last = e.At
			name := f.Shared.Frames[e.Frame].Name
			if e.Type == "O" {
				open = append(open, len(found))
				found = append(found, call{name, e.At, -1, int64(len(open) - 1)})
				continue
			}
			top := len(open) - 1
			if c := &found[open[top]]; e.Type != "C" || c.Name != name {
				t.Fatalf("%s: %s of %s ends %s", p.Name, e.Type, name, c.Name)
			} else {
				c.End = e.At
			}
			open = open[:top]
		}
		if len(open) > 0 {
			t.Fatalf("%s: %d calls stay open", p.Name, len(open))
		}
		all[p.Name] = found
	}
	return all
}

func plain(n *trace.Name) (trace.Label, error) { return trace.Label{Text: n.Text}, nil }

func TestExpected(t *testing.T) {
	for _, f := range []struct {
		trace, expected, profile string
		depth                    int64
	}{
		{"trace/small.txt", "trace/small.expected.json", "small main (1)", 1},
		{"trace/quirks.txt", "trace/quirks.expected.json", "quirks main (1)", 1},
	} {
		in, err := os.Open(formattest.Testdata(t, f.trace))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		var out bytes.Buffer
		w := speedscope.New(&out, nil)
		w.Trace(plain)
		name := strings.TrimSuffix(filepath.Base(f.trace), ".txt")
		if _, err := trace.Read(context.Background(), in, trace.Options{Name: name}, w.Event); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(formattest.Testdata(t, f.expected))
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Slices []call }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		for i := range want.Slices {
			want.Slices[i].Depth -= f.depth
		}
		got := calls(t, out.Bytes())[f.profile]
		byStart := func(a, b call) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth)) }
		slices.SortStableFunc(got, byStart)
		slices.SortStableFunc(want.Slices, byStart)
		if diff := gocmp.Diff(want.Slices, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.trace, diff)
		}
	}
}

// Threads with mixed events, more of them than fit in memory; names that
// are forgotten in between.
func TestSpills(t *testing.T) {
	var out bytes.Buffer
	made := 0
	w := speedscope.New(&out, func() (trace.Scratch, error) {
		made++
		return os.Create(filepath.Join(t.TempDir(), "scratch"))
	})
	w.Trace(plain)
	const threads, rounds = 7, 160_000
	var tracks []*trace.Track
	event := func(e trace.Event) {
		t.Helper()
		if err := w.Event(&e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range threads {
		tracks = append(tracks, &trace.Track{Index: i, Kind: trace.Thread, TID: int64(i), PID: 1})
		event(trace.Event{Kind: trace.NewTrack, Track: tracks[i]})
	}
	event(trace.Event{Kind: trace.NewTrack, Track: &trace.Track{Index: threads, Kind: trace.Counter, Name: "c"}})
	names := []*trace.Name{{ID: 0, Text: "a"}, {ID: 1, Text: "b"}}
	for i := range rounds {
		if i == rounds/2 {
			event(trace.Event{Kind: trace.Forget})
			names = []*trace.Name{{ID: 0, Text: "b"}, {ID: 1, Text: "a"}}
		}
		at := int64(i) * 1000
		for _, track := range tracks {
			event(trace.Event{Kind: trace.Begin, Track: track, Name: names[0], Time: at})
			event(trace.Event{Kind: trace.Begin, Track: track, Name: names[1], Time: at + 1})
			event(trace.Event{Kind: trace.End, Track: track, Time: at + 2})
			event(trace.Event{Kind: trace.End, Track: track, Time: at + 500})
		}
		event(trace.Event{Kind: trace.Count, Track: &trace.Track{Index: threads}, Time: at})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if made != 1 {
		t.Fatalf("%d scratches", made)
	}
	// The viewer's own reading of 100 MB takes long: begin, end and count are looked at.
	text := out.String()
	if n := strings.Count(text, `"type":"O"`); n != threads*rounds*2 || strings.Count(text, `"type":"C"`) != n {
		t.Errorf("%d calls", n)
	}
	if n := strings.Count(text, fmt.Sprintf("\"startValue\":0,\"endValue\":%d,", (rounds-1)*1000+500)); n != threads {
		t.Errorf("%d profiles", n)
	}
	half := fmt.Sprintf("\n{\"type\":\"O\",\"frame\":1,\"at\":%d},\n{\"type\":\"O\",\"frame\":0,\"at\":%d}", rounds/2*1000, rounds/2*1000+1)
	if n := strings.Count(text, half); n != threads {
		t.Errorf("%d times the names change", n)
	}
	if head := text[:200]; !strings.Contains(head, "\"shared\":{\"frames\":[{\"name\":\"a\"}\n,{\"name\":\"b\"}\n]},\"profiles\":[\n{") {
		t.Errorf("%q", head)
	}
}

func TestFails(t *testing.T) {
	track := &trace.Track{Kind: trace.Thread, PID: 1, TID: 1}
	name := &trace.Name{Text: "a"}
	w := speedscope.New(io.Discard, nil)
	w.Trace(func(*trace.Name) (trace.Label, error) { return trace.Label{}, io.ErrNoProgress })
	w.Event(&trace.Event{Kind: trace.NewTrack, Track: track})
	if err := w.Event(&trace.Event{Kind: trace.Begin, Track: track, Name: name}); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	// Too much for memory, and no scratch.
	w.Trace(plain)
	err := w.Event(&trace.Event{Kind: trace.NewTrack, Track: track})
	for i := int64(0); err == nil && i < 10<<20; i++ {
		err = w.Event(&trace.Event{Kind: trace.Begin, Track: track, Name: name, Time: i})
	}
	if err == nil || !strings.Contains(err.Error(), "no scratch") {
		t.Error(err)
	}
}
