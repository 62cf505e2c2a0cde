package trace_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/trace"
)

func TestChrome(t *testing.T) {
	s, report, err := readText(t, []byte(`{"otherData":{"traceEvents":"no"}, "displayTimeUnit":"ns",
"traceEvents": [
  {"name":"process_name","ph":"M","pid":7,"args":{"name":"com.example"}},
  {"name":"thread_name","ph":"M","pid":7,"tid":8,"args":{"name":"ui \"x\""}},
  {"name":"inner","ph":"X","ts":12.5,"dur":2,"pid":7,"tid":8,"cat":"a,b","args":{"deep":[{"x":"]}"}]}},
  {"name":"outer","ph":"X","ts":10,"dur":1e1,"pid":7,"tid":8},
  {"ph":"B","name":"b\u00e9gin","pid":"7","tid":9,"ts":"3.0015"},
  {"ph":"B","name":"nested","pid":7,"tid":9,"ts":4},
  {"ph":"E","pid":7,"tid":9,"ts":5},
  {"ph":"E","pid":7,"tid":9,"ts":6},
  {"ph":"E","pid":7,"tid":9,"ts":7},
  {"ph":"B","name":"open","pid":7,"tid":"worker","ts":8},
  {"name":"long","ph":"X","ts":15,"dur":100,"pid":7,"tid":8},
  {"name":"moment","ph":"i","ts":11,"pid":7,"tid":8,"s":"t"},
  {"name":"mem","ph":"C","ts":2,"pid":7,"args":{"used":3.5,"free":"4","odd":null}},
  {"name":"mem","ph":"C","ts":1,"pid":7,"args":{"used":2}},
  {"name":"async","ph":"b","id":1,"ts":2,"pid":7},
  {"name":"late","ph":"X","ts":-5,"dur":1,"pid":7,"tid":8},
  {"name":"no phase"},
  17
], "stackFrames": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []slice{
		{Thread: "8", Name: "outer", Start: 10000, End: 20000},
		{Thread: "8", Name: "inner", Start: 12500, End: 14500, Depth: 1},
		{Thread: "8", Name: "long", Start: 15000, End: 20000, Depth: 1},
		{Thread: "9", Name: "bégin", Start: 3001, End: 6000},
		{Thread: "9", Name: "nested", Start: 4000, End: 5000, Depth: 1},
		{Thread: "4194305", Name: "open", Start: 8000, End: 115000, Unclosed: true},
	}
	if diff := cmp.Diff(want, s.slices); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string][]float64{"mem.used": {2, 3.5}, "mem.free": {4}}, s.counts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"11000 moment"}, s.moments); diff != "" {
		t.Error(diff)
	}
	if s.tracks[0].Name != `ui "x"` || s.tracks[0].Process != "com.example" || s.tracks[0].PID != 7 {
		t.Errorf("%+v", s.tracks[0])
	}
	if report.Orphans != 1 || report.Unclosed != 1 || report.Clipped != 1 || report.Passed != 1 || report.Bad != 3 || report.FirstBad.Want != "a time that is not negative" {
		t.Errorf("%+v", report)
	}
}

// A tracer that was killed leaves an array without end.
func TestChromeCut(t *testing.T) {
	whole := `[{"name":"a","ph":"B","ts":1,"pid":1,"tid":1},` + "\n" + `{"name":"b","ph":"B","ts":2,"pid":1,"tid":1}`
	s, report, err := readText(t, []byte(whole+",\n"))
	if err != nil || len(s.slices) != 2 || report.Unclosed != 2 {
		t.Errorf("%v, %+v", err, report)
	}
	s, _, err = readText(t, []byte(whole[:len(whole)-5]))
	if err == nil || err.Error() != "chrome: file+0x56: corrupt input: want the rest of a value" || len(s.slices) != 1 {
		t.Errorf("%v, %v", err, s.slices)
	}
	if _, _, err = readText(t, []byte(whole+"}")); err == nil || err.Error() != "chrome: file+0x5b: corrupt input: want JSON" {
		t.Error(err)
	}
	long := `[{"ph":"B","name":"` + strings.Repeat(`x\"`, trace.MaxLineBytes) + `","ts":1},` + whole[1:]
	if s, report, err = readText(t, []byte(long)); err != nil || len(s.slices) != 2 || report.Bad != 1 {
		t.Errorf("an event of 3 MiB: %v, %+v", err, report)
	}
}

// Calls drawn at random, written as X events in any order, come out as they
// were drawn; also where they must be sorted outside of memory.
func TestChromeOrder(t *testing.T) {
	const memory = 320_000 // 10,000 events
	for _, calls := range []int{2_000, 100_000} {
		d := rand.New(rand.NewPCG(5, uint64(calls)))
		var want []slice
		var events []string
		now := int64(0)
		var draw func(depth int, end int64)
		draw = func(depth int, end int64) {
			for len(want) < calls {
				start := now + 1 + int64(d.IntN(5))
				long := int64(1+d.IntN(1<<max(1, 20-3*depth))) + 4
				if depth > 0 && start+long >= end {
					return
				}
				now = start
				at := len(want)
				want = append(want, slice{Thread: "1", Name: fmt.Sprint("f", at%1000), Start: start * 1000, End: (start + long) * 1000, Depth: depth})
				events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"name":"f%d","ts":%d,"dur":%d}`, at%1000, start, long))
				if depth < 6 {
					draw(depth+1, start+long)
				}
				now = start + long
			}
		}
		draw(0, 0)
		d.Shuffle(len(events), func(i, k int) { events[i], events[k] = events[k], events[i] })
		s, scratches := newSeen(t), 0
		report, err := trace.Read(context.Background(), strings.NewReader("["+strings.Join(events, ",\n")+"]"), trace.Options{SortBytes: memory, Scratch: func() (trace.Scratch, error) {
			scratches++
			return os.Create(filepath.Join(t.TempDir(), "scratch"))
		}}, s.event)
		if err != nil || report.Clipped != 0 {
			t.Fatalf("%v %+v", err, report)
		}
		s.done()
		if len(want) != len(s.slices) {
			t.Fatalf("%d calls of %d", len(s.slices), len(want))
		}
		for i := range want {
			if want[i] != s.slices[i] {
				t.Fatalf("call %d: %+v, want %+v", i, s.slices[i], want[i])
			}
		}
		if (scratches == 1) != (calls > 10_000) {
			t.Errorf("%d calls with %d scratches", calls, scratches)
		}
	}
	// Without scratch there is a limit.
	many := "[" + strings.Repeat(`{"ph":"X","name":"f","ts":1},`, 10_001)
	_, err := trace.Read(context.Background(), strings.NewReader(many), trace.Options{SortBytes: memory}, func(*trace.Event) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "limit exceeded: want fewer events, without scratch") {
		t.Error(err)
	}
}
