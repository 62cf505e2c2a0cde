package cpuprofile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/cpuprofile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

// Profiles as their writers have them, cut down.
const (
	node20 = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2,3,4]},` +
		`{"id":2,"callFrame":{"functionName":"(program)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":3},` +
		`{"id":3,"callFrame":{"functionName":"t","scriptId":"83","url":"https://shop.test/app.js?v=1","lineNumber":0,"columnNumber":100},"hitCount":1e0,"children":[5],"positionTicks":[{"line":1,"ticks":1}],"deoptReason":"no, thanks"},` +
		`{"id":4,"callFrame":{"functionName":"runMain","scriptId":"9","url":"node:internal/modules","lineNumber":10,"columnNumber":5},"hitCount":0,"children":[6]},` +
		`{"id":5,"callFrame":{"functionName":"n","scriptId":"83","url":"https://shop.test/app.js?v=1","lineNumber":0,"columnNumber":200},"hitCount":1},` +
		`{"id":6,"callFrame":{"functionName":"n","scriptId":"83","url":"https://shop.test/app.js?v=1","lineNumber":0,"columnNumber":200},"hitCount":2}],` +
		`"startTime":1000,"endTime":9000,"samples":[2,2,3,5,6,6],"timeDeltas":[0,1000,1250,900,1,2], "later":{"nodes":[1.50]}}`
	heap = `{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"selfSize":0,"id":1,"children":[ ` +
		`{"callFrame":{"functionName":"a","scriptId":"1","url":"file:///srv/app.js","lineNumber":2,"columnNumber":7},"selfSize":64,"id":2,"children":[]} ]},"samples":[{"size":64,"nodeId":2,"ordinal":1}]}`
	old = `{"head":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":0,"columnNumber":0,"hitCount":0,"callUID":1,"children":[` +
		`{"functionName":"b","scriptId":"1","url":"http://shop.test/app.js","lineNumber":1,"columnNumber":8,"hitCount":4,"callUID":2,"children":[],"id":2,"positionTicks":[{"line":1,"ticks":4}]}],"id":1},"startTime":1.5,"endTime":2,"samples":[2,2]}`
	trace = `{"traceEvents":[{"args":{"name":"Main"},"cat":"__metadata","name":"thread_name","ph":"M","pid":7,"tid":8,"ts":0},` +
		`{"args":{"data":{"startTime":5}},"cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"Profile","ph":"P","pid":7,"tid":8,"ts":1},` +
		`{"args":{"data":{"cpuProfile":{"nodes":[{"callFrame":{"codeType":"other","functionName":"(root)","scriptId":0},"id":1},{"callFrame":{"codeType":"JS","columnNumber":9,"functionName":"a","lineNumber":0,"scriptId":3,"url":"https://shop.test/app.js"},"id":2,"parent":1}],"samples":[2,2]},"timeDeltas":[3,4]}},"cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","name":"ProfileChunk","ph":"P","pid":7,"tid":9,"ts":2}]}`
	hermes = `{"traceEvents":[{"name":"process_name","ph":"M","cat":"__metadata","pid":7,"ts":"1","tid":"-1","args":{"name":"hermes"}}],"samples":[{"cpu":"-1","name":"","ts":"1000","pid":7,"tid":"8","weight":"1","sf":3},{"cpu":"-1","name":"","ts":"3000","pid":7,"tid":"8","weight":"1","sf":2}],` +
		`"stackFrames":{"1":{"name":"[root]","category":"root"},"2":{"funcVirtAddr":"1889","offset":"37","name":"i","category":"JavaScript","parent":1},"3":{"line":"4","column":"11","funcLine":"3","funcColumn":"1","name":"h(http://10.0.2.2:8081/index.bundle?dev=false:4:11)","category":"JavaScript","parent":2},"4":{"name":"[Native] apply","category":"Native","parent":3}}}`
	hermesNodes = `{"samples":[2,2],"timeDeltas":[0,10],"nodes":[{"id":1,"callFrame":{"functionName":"[root]","scriptId":"0","url":"[root]","lineNumber":0,"columnNumber":0},"children":[2]},` +
		`{"id":2,"callFrame":{"functionName":"f(main.jsbundle:1:51)","scriptId":"1","url":"main.jsbundle","lineNumber":1,"columnNumber":51},"hitCount":2}],"startTime":1,"endTime":11}`
)

func TestForm(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, cpuprofile.Format,
		profiletest.Fixture{Name: "node", Data: []byte(node20), Samples: 6, Places: 2, Probes: 3, Again: true, Keeps: [][]byte{[]byte(`"later":{"nodes":[1.50]}`), []byte("no, thanks"), []byte(`"hitCount":1e0`), []byte("node:internal/modules")}},
		profiletest.Fixture{Name: "heap", Data: []byte(heap), Samples: 1, Places: 1, Probes: 1, Again: true},
		profiletest.Fixture{Name: "old", Data: []byte(old), Samples: 2, Places: 1, Probes: 2, Again: true},
		profiletest.Fixture{Name: "trace", Data: []byte(trace), Samples: 2, Places: 1, Probes: 1, Again: true},
		profiletest.Fixture{Name: "hermes", Data: []byte(hermes), Samples: 2, Places: 2, Again: true},
		profiletest.Fixture{Name: "hermes nodes", Data: []byte(hermesNodes), Samples: 2, Places: 1, Again: true},
		profiletest.Fixture{Name: "no samples", Data: []byte(`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],"startTime":1,"endTime":1}`)},
	)
}

func FuzzCPUProfile(f *testing.F) {
	for _, seed := range []string{node20, heap, trace, hermes} {
		f.Add([]byte(seed))
	}
	profiletest.Fuzz(f, cpuprofile.Format)
}

func TestBegins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		node20: true, heap: true, old: true, trace: true, hermes: true, hermesNodes: true, "\ufeff \n" + node20: true, "[" + node20: true,
		`{"samples":[` + strings.Repeat("1,", 40_000): true,
		`{}`: false, `[]`: false, `{"nodes":[]}`: false, `{"nodes":[{"id":1,"name":"x"}]}`: false, `{"samples":[1,2,3]}`: false, `{"samples":[{"a":1}],"nodes":[]}`: false,
		`{"profile":{"samples":[{"stack_id":1}],"frames":[]}}`:                                                            false,
		`{"exception":{"values":[{"stacktrace":{"frames":[{"function":"a","lineno":1}]}}]}}`:                              false,
		`{"traceEvents":[{"name":"a","ph":"B","ts":1,"pid":1,"tid":1}]}`:                                                  false,
		`[{"name":"a","ph":"B","ts":1,"pid":1,"tid":1,"args":{"sf":3}}]`:                                                  false,
		`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[]},"profiles":[{"samples":[`: false,
		`{"resourceSpans":[{"callFrame":{}}]}`:                                                                            false, `{"params":{"callFrames":[{"functionName":"a","url":"b"}]}}`: false,
	} {
		if got := cpuprofile.Format.Begins([]byte(text)); got != want {
			t.Errorf("%.80q: %v", text, got)
		}
	}
}

// script answers places of one script, by line from 1 and column from 0.
type script map[[2]uint32]symbol.Frame

func (s script) options() *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			at := frames[i].At.Value
			a := symbol.Answer{Status: symbol.Hole}
			if f, ok := s[[2]uint32{uint32(at>>32) + 1, uint32(at)}]; ok {
				a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{f}}
			}
			answer(i, &a)
		}
		return nil
	}}
}

func answered(t testing.TB, text string, o *profile.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{cpuprofile.Format}, profile.Bytes("x", []byte(text)), &out, o); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Errorf("no JSON: %s", out.String())
	}
	return out.String()
}

func frame(name, file string, line, column uint32) symbol.Frame {
	return symbol.Frame{Function: name, File: file, Line: line, Column: column}
}

func jsNode(id int, name string, line, column, hits int, children string, ticks string) string {
	return fmt.Sprintf(`{"id":%d,"callFrame":{"functionName":%q,"scriptId":"3","url":"https://shop.test/app.js","lineNumber":%d,"columnNumber":%d},"hitCount":%d,"children":[%s],"positionTicks":[%s]}`, id, name, line, column, hits, children, ticks)
}

const root = `{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2,3]}`

// Nodes that become one function below one node are merged, and so are their children, answered or not.
func TestMerge(t *testing.T) {
	t.Parallel()
	in := `{"nodes":[` + root + ",\n" +
		jsNode(2, "a", 0, 10, 1, "4", `{"line":1,"ticks":1}`) + ",\n" + jsNode(3, "b", 0, 50, 2, "5,6", `{"line":1,"ticks":2}`) + ",\n" +
		`{"id":4,"callFrame":{"functionName":"(garbage collector)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":3},` + "\n" +
		`{"id":5,"callFrame":{"functionName":"(garbage collector)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":4},` + "\n" +
		jsNode(6, "c", 0, 90, 5, "", "") + `],"samples":[2,3,4,5,6],"timeDeltas":[1,2,3,4,5]}`
	total := frame("Cart.total", "src/cart.ts", 7, 2)
	o := script{{1, 10}: total, {1, 11}: total, {1, 50}: total, {1, 51}: total, {1, 90}: frame("add", "src/cart.ts", 9, 0), {1, 91}: frame("add", "src/cart.ts", 9, 4)}.options()
	got := answered(t, in, o)
	want := `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2]},` + "\n" +
		`{"id":2,"callFrame":{"functionName":"total","scriptId":"3","url":"src/cart.ts","lineNumber":6,"columnNumber":2},"hitCount":3,"children":[4,6],"positionTicks":[{"line":7,"ticks":3}]},` + "\n" +
		`{"id":4,"callFrame":{"functionName":"(garbage collector)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":7},` + "\n" +
		`{"id":6,"callFrame":{"functionName":"add","scriptId":"3","url":"src/cart.ts","lineNumber":8,"columnNumber":0},"hitCount":5,"children":[],"positionTicks":[]}],"samples":[2,2,4,4,6],"timeDeltas":[1,2,3,4,5]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(o.Counts.Kept) > 0 {
		t.Error(o.Counts.Kept)
	}
	p := &samples.Profile{}
	if err := profile.Samples(context.Background(), []*profile.Format{cpuprofile.Format}, profile.Bytes("x", []byte(got)), p); err != nil {
		t.Fatal(err)
	}
	profiletest.Check(t, p)
	if len(p.Samples) != 5 || p.Samples[0].Stack != p.Samples[1].Stack || p.Value(0, 1) != 2000 || p.Frames[p.Stacks[p.Samples[4].Stack].Frame].Function != "add" {
		t.Errorf("%+v", p)
	}
}

// The same in a tree of nested nodes: sizes are added, and samples name the node that stays.
func TestMergeNested(t *testing.T) {
	t.Parallel()
	node := func(id, column, size int, below string) string {
		return fmt.Sprintf(`{"callFrame":{"functionName":"a","scriptId":"1","url":"app.js","lineNumber":0,"columnNumber":%d},"selfSize":%d,"id":%d,"children":[%s]}`, column, size, id, below)
	}
	in := `{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"selfSize":0,"id":1,"children":[` +
		node(2, 10, 100, node(4, 90, 1, "")) + `, ` + node(3, 50, 20, node(5, 90, 2, "")+", "+node(6, 10, 7, "")) + `]},"samples":[{"size":9,"nodeId":3,"ordinal":1},{"size":9,"nodeId":5}]}`
	f, g := frame("total", "cart.ts", 7, 2), frame("add", "cart.ts", 9, 0)
	got := answered(t, in, script{{1, 10}: f, {1, 11}: f, {1, 50}: f, {1, 51}: f, {1, 90}: g, {1, 91}: g}.options())
	var out struct {
		Head    any
		Samples []struct{ NodeID int }
	}
	if err := json.Unmarshal([]byte(got), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"selfSize":0,"id":1,"children":[` +
		`{"callFrame":{"functionName":"total","scriptId":"1","url":"cart.ts","lineNumber":6,"columnNumber":2},"selfSize":120,"id":2,"children":[` +
		`{"callFrame":{"functionName":"add","scriptId":"1","url":"cart.ts","lineNumber":8,"columnNumber":0},"selfSize":3,"id":4,"children":[]},` +
		`{"callFrame":{"functionName":"total","scriptId":"1","url":"cart.ts","lineNumber":6,"columnNumber":2},"selfSize":7,"id":6,"children":[]}]}]},` +
		`"samples":[{"size":9,"nodeId":2,"ordinal":1},{"size":9,"nodeId":4}]}`
	var a, b any
	if json.Unmarshal([]byte(got), &a); json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Profiles stand in lists and in objects, too.
func TestWithin(t *testing.T) {
	t.Parallel()
	s := script{{1, 200}: frame("f", "a.ts", 3, 0), {1, 201}: frame("f", "a.ts", 3, 4)}
	for in, profiles := range map[string]int{"[" + node20 + ",\n" + node20 + "]": 2, `{"method":"Profiler.stop","profile":` + node20 + `}`: 1, `{"id":1,"result":{},"profile":{"profile":` + node20 + `}}`: 1} {
		o := s.options()
		got := answered(t, in, o)
		want := strings.ReplaceAll(in, `"functionName":"n","scriptId":"83","url":"https://shop.test/app.js?v=1","lineNumber":0,"columnNumber":200`, `"functionName":"f","scriptId":"83","url":"a.ts","lineNumber":2,"columnNumber":0`)
		if got != want || o.Counts.Samples != uint64(6*profiles) || o.Counts.Answered != 1 {
			t.Errorf("%d samples, %s", o.Counts.Samples, got)
		}
	}
}

// Trees that make no sense are answered, and nothing in them is merged.
func TestOddTrees(t *testing.T) {
	t.Parallel()
	total := frame("total", "src/cart.ts", 7, 2)
	s := script{{1, 10}: total, {1, 11}: total, {1, 50}: total, {1, 51}: total}
	for name, nodes := range map[string]string{
		"circle":  root + "," + jsNode(2, "a", 0, 10, 1, "3", "") + "," + jsNode(3, "b", 0, 50, 1, "2", ""),
		"itself":  jsNode(2, "a", 0, 10, 1, "2", "") + "," + jsNode(3, "b", 0, 50, 1, "", ""),
		"twice":   root + "," + jsNode(2, "a", 0, 10, 1, "", "") + "," + jsNode(2, "b", 0, 50, 1, "", ""),
		"callers": root + "," + jsNode(2, "a", 0, 10, 1, "4", "") + "," + jsNode(3, "b", 0, 50, 1, "4", "") + "," + jsNode(4, "b", 0, 50, 1, "", ""),
	} {
		o := s.options()
		got := answered(t, `{"nodes":[`+nodes+`],"samples":[2,9]}`, o)
		if len(o.Counts.Kept) == 0 || strings.Count(got, `"functionName":"total"`) != strings.Count(nodes, "app.js") {
			t.Errorf("%s: %v: %s", name, o.Counts.Kept, got)
		}
	}
	o := s.options()
	got := answered(t, `{"nodes":[`+root+","+jsNode(2, "a", 0, 10, 1, "77", "")+","+jsNode(3, "b", 0, 50, 1, "", "")+`],"samples":[2,3,99]}`, o)
	if strings.Count(got, "total") != 1 || len(o.Counts.Kept) != 2 || !strings.Contains(got, `"samples":[2,2,99]`) {
		t.Errorf("%v: %s", o.Counts.Kept, got)
	}
}

// A line of the script leads to the source's line by its end, if that is in the same function; else to the function's first.
func TestTicks(t *testing.T) {
	t.Parallel()
	s := script{{11, 4}: frame("f", "a.ts", 20, 9), {11, 5}: frame("f", "a.ts", 20, 11), {12, 1 << 30}: frame("f", "a.ts", 22, 0), {13, 1 << 30}: frame("other", "a.ts", 90, 0)}
	got := answered(t, `{"nodes":[`+jsNode(2, "f", 10, 4, 9, "", `{"line":12,"ticks":4},{"line":13,"ticks":2},{"line":11,"ticks":3}`)+`]}`, s.options())
	if want := `[{"line":22,"ticks":4},{"line":20,"ticks":5}]`; !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// Depth, circles and lists of any length cost what their bytes cost.
func TestHostile(t *testing.T) {
	t.Parallel()
	deep := `{"head":` + strings.Repeat(`{"callFrame":{"functionName":"a","url":"app.js","lineNumber":0,"columnNumber":1},"hitCount":1,"id":1,"children":[`, 20_000)
	o := script{}.options()
	o.Memory = 32 << 20
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{cpuprofile.Format}, profile.Bytes("x", []byte(deep)), &out, o); err != nil || out.String() != deep {
		t.Errorf("cut and deep: %v, %d bytes of %d", err, out.Len(), len(deep))
	}
	deep += strings.Repeat("]}", 20_000) + "}"
	out.Reset()
	if err := profile.Answer(context.Background(), []*profile.Format{cpuprofile.Format}, profile.Bytes("x", []byte(deep)), &out, o); err != nil || out.String() != deep || len(o.Counts.Kept) == 0 {
		t.Errorf("deep: %v, %d bytes of %d, %v", err, out.Len(), len(deep), o.Counts.Kept)
	}
	// More nodes than memory holds are answered, and stay apart.
	var many strings.Builder
	many.WriteString(`{"nodes":[` + root)
	for i := range 20_000 {
		many.WriteString("," + jsNode(i+2, "a", 0, 10, 1, "", ""))
	}
	many.WriteString("]}")
	o = script{{1, 10}: frame("f", "a.ts", 1, 0), {1, 11}: frame("f", "a.ts", 1, 0)}.options()
	o.Memory = 1 << 20
	if got := answered(t, many.String(), o); strings.Count(got, "a.ts") != 20_000 || len(o.Counts.Kept) != 1 {
		t.Errorf("%d of 20,000 answered, %v", strings.Count(got, "a.ts"), o.Counts.Kept)
	}
}

// The cost grows with the profile, not faster: of lists of nodes, of nodes that become one, of nested nodes.
func TestLinear(t *testing.T) {
	total := frame("f", "a.ts", 1, 0)
	s := script{{1, 10}: total, {1, 11}: total}
	for name, make := range map[string]func(n int) string{
		"merged": func(n int) string {
			var nodes, ids strings.Builder
			for i := range n {
				fmt.Fprintf(&ids, ",%d", i+2)
				nodes.WriteString("," + jsNode(i+2, "a", 0, 10, 1, "", fmt.Sprintf(`{"line":%d,"ticks":1}`, i+1)))
			}
			return `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":""},"children":[` + ids.String()[1:] + "]}" + nodes.String() + `],"samples":[` + ids.String()[1:] + "]}"
		},
		"chain": func(n int) string {
			var nodes strings.Builder
			for i := range n {
				nodes.WriteString("," + jsNode(i+2, "a", 0, i, 1, fmt.Sprint(i+3), ""))
			}
			return `{"nodes":[` + root + nodes.String() + `]}`
		},
		"nested": func(n int) string {
			return `{"head":` + strings.Repeat(`{"callFrame":{"functionName":"a","url":"app.js","lineNumber":0,"columnNumber":10},"selfSize":1,"id":1,"children":[`, n/8) + strings.Repeat("]}", n/8) + "}"
		},
	} {
		cost := func(n int) uint64 {
			text := make(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			answered(t, text, s.options())
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if small, big := cost(2000), cost(16_000); big > 16*small {
			t.Errorf("%s: %d bytes for 2,000 nodes, %d for 16,000", name, small, big)
		}
	}
}
