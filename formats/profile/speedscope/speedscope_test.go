package speedscope_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/profiletest"
	"github.com/symlake/symlake/formats/profile/speedscope"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	begin   = `{"$schema":"https://www.speedscope.app/file-format-schema.json",`
	sampled = begin + `"shared":{"frames":[{"name":"main"},{"name":"libcart.so+0x1f3a","later":[1.50]},{"name":"t","file":"https://shop.test/app.js","line":1,"col":201}, {"name":"(idle)","file":"app.js","line":3}]},` +
		`"profiles":[{"type":"sampled","name":"Main","unit":"milliseconds","startValue":0,"endValue":3.5,"samples":[[0,1],[0, 2,1],[]],"weights":[1,2.5,0]}],"name":"shop","activeProfileIndex":0,"exporter":"x"}`
	evented = begin + "\n" + `"profiles":[{"type":"evented","name":"a","unit":"nanoseconds","startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":2},{"type":"C","frame":1,"at":5},{"type":"C","frame":0,"at":9.0}]}],` +
		`"shared":{"frames":[{"name":"main"},{"name":"libcart.so+0x1f3a"}]}}`
)

func TestForm(t *testing.T) {
	t.Parallel()
	profiletest.Run(t, speedscope.Format,
		profiletest.Fixture{Name: "sampled", Data: []byte(sampled), Samples: 3, Places: 2, Again: true, Keeps: [][]byte{[]byte(`"weights":[1,2.5,0]`), []byte(`"exporter":"x"`), []byte(`{"name":"main"}`)}},
		profiletest.Fixture{Name: "evented", Data: []byte(evented), Samples: 2, Places: 1, Again: true},
		profiletest.Fixture{Name: "empty", Data: []byte(begin + `"shared":{"frames":[]},"profiles":[]}`)},
	)
}

func FuzzSpeedscope(f *testing.F) {
	f.Add([]byte(sampled))
	f.Add([]byte(evented))
	profiletest.Fuzz(f, speedscope.Format)
}

func TestBegins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		sampled: true, "\ufeff\n" + evented: true, strings.ReplaceAll(sampled, "/", `\/`): true,
		"": false, "{}": false, "[" + sampled: false, `{"shared":{"frames":[]},"profiles":[]}`: false, `{"nodes":[{"callFrame":{}}]}`: false, `speedscope.app/file-format-schema.json"`: false,
	} {
		if got := speedscope.Format.Begins([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// Inlined functions become frames of their own in stacks and events, and frames that become one are one.
func TestAnswer(t *testing.T) {
	t.Parallel()
	o := &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			a := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add<int>", File: "add.h", Line: 3, Column: 1}, {Function: "Cart::total()", File: "cart.cpp", Line: 42}}}
			answer(i, &a)
		}
		return nil
	}}
	in := begin + `"shared":{"frames":[{"name":"main"},{"name":"libcart.so+0x1f3a","x":1},{"name":"libcart.so+0x1f40"},{"name":"end"}]},"profiles":[{"type":"sampled","samples":[[0,1],[0,2,3]],"weights":[1,1]},` +
		`{"type":"evented","events":[{"type":"O","frame":2,"at":1},{"type":"O","frame":3,"at":2},{"type":"C","frame":3,"at":3},{"type":"C","frame":2,"at":4}]}]}`
	want := begin + `"shared":{"frames":[{"name":"main"},{"name":"Cart::total()","x":1,"file":"cart.cpp","line":42},{"name":"add<int>","file":"add.h","line":3,"col":1},{"name":"end"}]},"profiles":[{"type":"sampled","samples":[[0,1,2],[0,1,2,3]],"weights":[1,1]},` +
		`{"type":"evented","events":[{"type":"O","frame":1,"at":1},{"type":"O","frame":2,"at":1},{"type":"O","frame":3,"at":2},{"type":"C","frame":3,"at":3},{"type":"C","frame":2,"at":4},{"type":"C","frame":1,"at":4}]}]}`
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{speedscope.Format}, profile.Bytes("x", []byte(in)), &out, o); err != nil || out.String() != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, out.String(), want)
	}
}

// What is written is read again as it was.
func TestWrite(t *testing.T) {
	t.Parallel()
	read := func(text string) *samples.Profile {
		p := &samples.Profile{}
		if err := profile.Samples(context.Background(), []*profile.Format{speedscope.Format}, profile.Bytes("x", []byte(text)), p); err != nil {
			t.Fatal(err)
		}
		profiletest.Check(t, p)
		return p
	}
	for text, weights := range map[string][]int64{sampled: {1e6, 2.5e6, 0}, evented: {2, 3, 4}} {
		p := read(text)
		for i, w := range weights {
			if p.Value(i, 1) != w || p.Types[1].Unit != "nanoseconds" {
				t.Errorf("sample %d: %d %v, want %d", i, p.Value(i, 1), p.Types, w)
			}
		}
		var out bytes.Buffer
		if err := speedscope.Format.Write(&out, p); err != nil || !json.Valid(out.Bytes()) || !speedscope.Format.Begins(out.Bytes()) {
			t.Fatalf("%v: %s", err, out.String())
		}
		again := read(out.String())
		if len(again.Frames) != len(p.Frames) || again.Value(1, 1) != weights[1] || again.Threads[0].Name != p.Threads[0].Name {
			t.Errorf("%s comes back as %+v", text, again)
		}
	}
	var out bytes.Buffer
	if err := speedscope.Format.Write(&out, &samples.Profile{}); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("an empty one: %v: %s", err, out.String())
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	many := begin + `"shared":{"frames":[` + strings.TrimSuffix(strings.Repeat(`{"name":"libcart.so+0x1f3a"},`, 50_000), ",") + `]},"profiles":[{"type":"sampled","samples":[[0,99999999]],"weights":[1]}]}`
	o := (&profiletest.Store{Found: true}).Options()
	o.Memory = 1 << 20
	var out bytes.Buffer
	if err := profile.Answer(context.Background(), []*profile.Format{speedscope.Format}, profile.Bytes("x", []byte(many)), &out, o); err != nil || out.String() != many || len(o.Counts.Kept) == 0 {
		t.Errorf("%v: %d bytes of %d, %v", err, out.Len(), len(many), o.Counts.Kept)
	}
}

// The cost grows with the profile, not faster.
func TestLinear(t *testing.T) {
	cost := func(n int) uint64 {
		var frames, stacks strings.Builder
		for i := range n {
			fmt.Fprintf(&frames, `,{"name":"libcart.so+0x%x"}`, i)
			fmt.Fprintf(&stacks, `,[0,%d]`, i)
		}
		var text strings.Builder
		text.WriteString(begin + `"shared":{"frames":[` + frames.String()[1:] + `]},"profiles":[{"type":"sampled","samples":[` + stacks.String()[1:] + `],"weights":[]}]}`)
		var out bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := (&profiletest.Store{Found: true}).Options()
		o.Memory = 64 << 20
		if err := profile.Answer(context.Background(), []*profile.Format{speedscope.Format}, profile.Bytes("x", []byte(text.String())), &out, o); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := cost(1000), cost(8000); big > 16*small {
		t.Errorf("%d bytes for 1,000 stacks, %d for 8,000", small, big)
	}
}
