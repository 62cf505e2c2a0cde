package gecko_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/gecko"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/samples"
	"github.com/symlake/symlake/formats/symbol"
)

var list = []*profile.Format{gecko.Format}

// newest is a profile of version 70: shared tables, libraries of frames, offsets to callers. Frames 0 and 1 are native, 2 is a
// script's, 3 a label. Spaces and 1e3 are spelled as no tool spells them.
const newest = `{"meta": {"interval": 1, "startTime": 1000.5, "preprocessedProfileVersion": 70, "version": 34, "product": "shop", "symbolicated": false, "unknown": 1e3},
 "libs": [{"name": "libcart.so", "path": "/usr/lib/libcart.so", "debugName": "libcart.so", "debugPath": "", "breakpadId": "E1D8BC56A4CB48EEA9D9DB622B8689800", "codeId": "56BCD8E1CBA4EE48A9D9DB622B868980AEEA5AF3C7", "arch": "x86_64"}],
 "shared": {
  "stringArray": ["(root)", "0x1f3a", "0x2000", "r", "https://shop.example/app.min.js", "label", "libcart.so"],
  "sources": {"length": 1, "id": ["a"], "filename": [4], "startLine": [1], "startColumn": [1], "sourceMapURL": ["app.min.js.map"], "content": [null]},
  "sourceLocationTable": {"length": 0, "source": [], "line": [], "column": []},
  "resourceTable": {"length": 2, "name": [6, 4], "host": [null, 4], "type": [1, 5]},
  "nativeSymbols": {"length": 0, "libIndex": [], "address": [], "name": [], "functionSize": []},
  "funcTable": {"length": 4, "name": [1, 2, 3, 5], "isJS": [false, false, true, false], "relevantForJS": [false, false, false, true], "resource": [0, 0, 1, -1], "source": [null, null, 0, null], "lineNumber": [null, null, 1, null], "columnNumber": [null, null, 30, null], "originalLocation": [null, null, null, null], "odd": ["x", "y", "z", "w"]},
  "frameTable": {"length": 4, "address": [7994, 8192, -1, -1], "lib": [0, 0, -1, -1], "inlineDepth": [0, 0, 0, 0], "category": [1, 2, 3, 4], "subcategory": [0, 0, 0, 0], "func": [0, 1, 2, 3], "nativeSymbol": [null, null, null, null], "innerWindowID": [0, 0, 5, 0], "line": [null, null, 1, null], "column": [null, null, 44, null], "originalLocation": [null, null, null, null]},
  "stackTable": {"length": 4, "frame": [3, 1, 0, 2], "prefixOffset": [0, 1, 1, 2]}},
 "threads": [{"name": "main", "pid": "12", "tid": 13, "processName": "shop", "samples": {"length": 3, "stack": [2, 3, null], "time": [1, 2.5, 3], "weight": null, "weightType": "samples"},
   "markers": {"length": 2, "data": [null, {"type": "x", "cause": {"tid": 1, "stack": 2}}], "name": [0, 0], "startTime": [1, 2], "endTime": [1, 2], "phase": [0, 0], "category": [0, 0]},
   "nativeAllocations": {"length": 1, "time": [1], "weight": [64], "weightType": "bytes", "stack": [1]}}],
 "counters": []}`

// browser is a profile of Firefox. Address 0x7f0000001f3a is where the processor was in one sample, and returned to in another.
const browser = `{"meta":{"version":32,"startTime":1000,"interval":1,"stackwalk":1,"processType":0,"product":"Firefox"},
 "libs":[{"start":139637976727552,"end":139637976793088,"offset":4096,"name":"libxul.so","path":"/usr/lib/libxul.so","debugName":"libxul.so","debugPath":"","breakpadId":"E1D8BC56A4CB48EEA9D9DB622B8689800","arch":"x86_64"}],
 "threads":[{"name":"GeckoMain","pid":7,"tid":7,
  "samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":[[1,1,0],[2,2],[3,3]]},
  "markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[[0,1,2,0,0,{"type":"t","stack":{"name":"SyncProfile","tid":7,"samples":{"schema":{"stack":0,"time":1},"data":[[1,1]]}}}]]},
  "frameTable":{"schema":{"location":0,"relevantForJS":1,"innerWindowID":2,"implementation":3,"line":4,"column":5,"category":6,"subcategory":7},"data":[[0],[1,false,0,null,null,null,2,0],[2,false,0,null,null,null,2,0],[3,false,9,null,1,44,3]]},
  "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[2,3]]},
  "stringTable":["(root)","0x7f0000000f3a","0x7f0000002000","r (https://shop.example/app.min.js:1:30)[0]"]}],
 "processes":[]}`

// asker answers native places with an inlined function, and places of scripts.
func asker(questions *[]string) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			f := &frames[i]
			a := &symbol.Answer{Status: symbol.Found}
			if f.Script != nil {
				*questions = append(*questions, fmt.Sprintf("%s %s 0x%x", f.Image, f.Kind, f.At.Value))
				a.Frames = []symbol.Frame{{Function: "Cart.total", File: "src/cart.ts", Line: 3, Column: uint32(f.At.Value)}}
			} else {
				*questions = append(*questions, fmt.Sprintf("%s %s 0x%x", f.Image, f.Arch, f.At.Value))
				a.Frames = []symbol.Frame{{Function: fmt.Sprintf("price(%x)", f.At.Value), Linkage: "_Z5price", File: "cart.h", Line: 7, Column: 2}, {Function: "total()", File: "cart.cc", Line: 30}}
				if f.At.Value == 0x2000 {
					a.Frames = []symbol.Frame{{Function: "main", File: "main.cc", Line: 4}}
				}
			}
			answer(i, a)
		}
		return nil
	}}
}

func nothing(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
	for i := range frames {
		answer(i, &symbol.Answer{Status: symbol.NoArtifact})
	}
	return nil
}

func answered(t testing.TB, raw string, o *profile.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := profile.Answer(t.Context(), list, profile.Bytes("x", []byte(raw)), &out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stacks are the stacks of a profile, outermost first.
func stacks(t testing.TB, raw string) (all []string, p *samples.Profile) {
	t.Helper()
	p = &samples.Profile{}
	if err := profile.Samples(t.Context(), list, profile.Bytes("x", []byte(raw)), p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Samples {
		var names []string
		for at := p.Samples[i].Stack; at != samples.None; at = p.Stacks[at].Caller {
			f := &p.Frames[p.Stacks[at].Frame]
			text := f.Function
			if f.Inlined {
				text += "*"
			}
			if f.File != "" {
				text += fmt.Sprintf("@%s:%d", f.File, f.Line)
			}
			names = append(names, text)
		}
		slices.Reverse(names)
		all = append(all, strings.Join(names, " > "))
	}
	return all, p
}

// A processed profile gets functions, native symbols, original locations and rows for inlined functions.
func TestProcessed(t *testing.T) {
	t.Parallel()
	var questions []string
	o := asker(&questions)
	out := answered(t, newest, o)
	id := "56bcd8e1cba4ee48a9d9db622b868980aeea5af3c7 e1d8bc56-a4cb-48ee-a9d9-db622b868980 libcart.so"
	if want := []string{"[" + id + "] x86_64 0x1f3a", "[" + id + "] x86_64 0x2000", "[app.min.js] sourcemap 0x1d", "[app.min.js] sourcemap 0x2b"}; !slices.Equal(questions, want) {
		t.Errorf("asked for %q", questions)
	}
	if c := &o.Counts; c.Samples != 3 || c.Places != 4 || c.Answered != 4 || len(c.Kept) != 0 {
		t.Errorf("%+v", *c)
	}
	all, p := stacks(t, out)
	if want := []string{"label > main@main.cc:4 > total()@cart.cc:30 > price(1f3a)*@cart.h:7", "label > main@main.cc:4 > Cart.total@src/cart.ts:3"}; !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
	if p.Name != "shop" || p.Lost != 1 || p.Duration != 2e6 || p.Period != 1e6 || p.Threads[0] != (samples.Thread{PID: 12, TID: 13, Name: "main", Process: "shop"}) || p.Samples[1].Time != 2500000 || p.Start != 1000500000 {
		t.Errorf("%+v", p)
	}
	for _, part := range []string{
		`"symbolicated": true, "unknown": 1e3`, `"odd": ["x", "y", "z", "w","x"]`, `"length": 5, "address": [7994, 8192, -1, -1,7994], "lib": [0, 0, -1, -1,0], "inlineDepth": [0, 0, 0, 0,1], "category": [1, 2, 3, 4,1]`,
		`"nativeSymbols": {"length": 2, "libIndex": [0,0], "address": [7994,8192]`, `"frame": [3, 1, 0,4, 2], "prefixOffset": [0, 1, 1,1, 3]`, `"stack": [3, 4, null]`, `"cause": {"tid": 1, "stack": 3}`, `"stack": [1]`,
		`"originalLocation": [null, null, 0, null,null]`, `"sourceLocationTable": {"length": 2, "source": [4,4], "line": [3,3], "column": [44,30]}`, `"content": [null,null,null,null,null]`,
	} {
		if !strings.Contains(out, part) {
			t.Errorf("the profile has no %s", part)
		}
	}
	if !json.Valid([]byte(out)) {
		t.Error("the answer is no JSON")
	}
	again := answered(t, out, asker(&questions))
	if again != out {
		t.Errorf("an answered profile changes:\n%s\n%s", out, again)
	}
}

// In a profile of the browser, a sample's own frame is where the processor was, and all others are return addresses.
func TestBrowser(t *testing.T) {
	t.Parallel()
	var questions []string
	out := answered(t, browser, asker(&questions))
	id := "[e1d8bc56-a4cb-48ee-a9d9-db622b868980 libxul.so] x86_64 "
	if want := []string{id + "0x1f39", id + "0x1f3a", id + "0x2fff", id + "0x3000", "[app.min.js] sourcemap 0x1d", "[app.min.js] sourcemap 0x2b"}; !slices.Equal(questions, want) {
		t.Errorf("asked for %q", questions)
	}
	all, _ := stacks(t, out)
	want := []string{
		"(root) > total()@cart.cc:30 > price(1f3a)@cart.h:7",
		"(root) > total()@cart.cc:30 > price(1f39)@cart.h:7 > total()@cart.cc:30 > price(3000)@cart.h:7",
		"(root) > total()@cart.cc:30 > price(1f39)@cart.h:7 > total()@cart.cc:30 > price(2fff)@cart.h:7 > Cart.total@src/cart.ts:3",
	}
	if !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
	if !json.Valid([]byte(out)) || !strings.Contains(out, `"Cart.total (src/cart.ts:3:30)"`) || !strings.Contains(out, `"total() (in libxul.so) (cart.cc:30)"`) || !strings.Contains(out, `[[2,1]]}}}]]`) {
		t.Error(out)
	}
	late := strings.Replace(browser, `"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[2,3]]}`, `"stackTable":{"data":[[null,0],[0,1],[1,2],[2,3]],"schema":{"prefix":0,"frame":1}}`, 1)
	if got, _ := stacks(t, answered(t, late, asker(&questions))); !slices.Equal(got, want) {
		t.Errorf("with rows before their schema: %q", got)
	}
	inner := strings.Replace(browser, `"processes":[]`, `"processes":[`+browser+`]`, 1)
	if got, _ := stacks(t, answered(t, inner, asker(&questions))); !slices.Equal(got, append(slices.Clone(want), want...)) {
		t.Errorf("with a process in it: %q", got)
	}
}

// perThread is a profile of version 40, 50, 57 or 59: tables of threads, with the members that the version has.
func perThread(version int) string {
	strs := `["0x1f3a", "r", "https://shop.example/app.min.js", "libcart.so"]`
	file := `"fileName": [null, 2]`
	shared, own, libs, lib := "", `"stringArray": `+strs+`,`, `"libs": [{"name": "libcart.so", "debugName": "libcart.so", "breakpadId": ""}],`, ""
	if version >= 56 {
		shared, own = `"shared": {"stringArray": `+strs+`},`, ""
	}
	if version >= 58 {
		file, shared = `"source": [null, 0]`, `"shared": {"sources": {"length": 1, "uuid": [null], "filename": [2]}, "stringArray": `+strs+`},`
	}
	if version < 41 {
		libs, lib = "", libs
	}
	return fmt.Sprintf(`{"meta": {"preprocessedProfileVersion": %d, "interval": 1, "symbolicated": false}, %s %s "threads": [{"name": "t", %s %s
 "frameTable": {"length": 2, "address": [7994, -1], "inlineDepth": [0, 0], "func": [0, 1], "nativeSymbol": [null, null], "line": [null, 1], "column": [null, 44]},
 "funcTable": {"length": 2, "name": [0, 1], "isJS": [false, true], "resource": [0, -1], %s, "lineNumber": [null, 1], "columnNumber": [null, 30]},
 "resourceTable": {"length": 1, "lib": [0], "name": [3], "type": [1]},
 "nativeSymbols": {"length": 0, "libIndex": [], "address": [], "name": []},
 "stackTable": {"length": 2, "frame": [0, 1], "prefix": [null, 0], "category": [4, 5]},
 "samples": {"length": 1, "stack": [1], "timeDeltas": [5], "weight": [3], "weightType": "tracing-ms"}}]}`, version, libs, shared, lib, own, file)
}

// Older versions have their tables in threads, and no places of sources.
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []int{40, 50, 57, 59} {
		var questions []string
		out := answered(t, perThread(version), asker(&questions))
		all, p := stacks(t, out)
		if want := []string{"total()@cart.cc:30 > price(1f3a)*@cart.h:7 > Cart.total@src/cart.ts:3"}; !slices.Equal(all, want) || !json.Valid([]byte(out)) {
			t.Errorf("version %d: %q\n%s", version, all, out)
		}
		if p.Value(0, p.Default) != 3e6 {
			t.Errorf("version %d: %+v %v", version, p.Types, p.Values)
		}
		if !strings.Contains(out, `"category": [4,4, 5]`) || !strings.Contains(out, `"column": [null, 44,null]`) {
			t.Errorf("version %d: %s", version, out)
		}
	}
	old := perThread(37) // its callers have return addresses
	var questions []string
	if answered(t, old, asker(&questions)); questions[0] != "[libcart.so]  0x1f39" {
		t.Errorf("asked for %q", questions)
	}
}

// A profile of Android's Firefox has methods of Java, which a mapping may have renamed.
func TestJava(t *testing.T) {
	t.Parallel()
	raw := strings.NewReplacer(`"r (https://shop.example/app.min.js:1:30)[0]"`, `"a.b.c()"`, `"product":"Firefox"`, `"product":"Firefox","platform":"Android"`).Replace(browser)
	out := answered(t, raw, &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			a := &symbol.Answer{Status: symbol.NoArtifact}
			if m := frames[i].Managed; m != nil && m.Class == "a.b" && m.Method == "c" && m.Line < 0 {
				a = &symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "com.example.Cart.total", Line: 4}}}
			}
			answer(i, a)
		}
		return nil
	}})
	if all, _ := stacks(t, out); !strings.HasSuffix(all[2], " > com.example.Cart.total") || !strings.Contains(out, `"com.example.Cart.total()"`) {
		t.Errorf("%q", all)
	}
}

// Without symbols, and however a profile is cut, it stays byte for byte. What came before a cut is answered.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{newest, browser, perThread(57)} {
		for n := len(`{"meta": {"interval": 1, "startTime": 1000.5, "preprocessedProfileVersion": 70`); n <= len(raw); n += max(1, min(len(raw)-n, 41)) {
			if !gecko.Format.Begins([]byte(raw[:n])) {
				continue
			}
			o := &profile.Options{Ask: nothing}
			if out := answered(t, raw[:n], o); out != raw[:n] {
				t.Fatalf("%d of %d bytes: %s", n, len(raw), out)
			}
			if cut := n < len(raw); cut != (len(o.Counts.Kept) > 0) {
				t.Errorf("%d of %d bytes: %+v", n, len(raw), o.Counts.Kept)
			}
			var questions []string
			answered(t, raw[:n], asker(&questions))
			stacks(t, raw[:n])
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, newest)
	_ = z.Close()
	z2, err := gzip.NewReader(strings.NewReader(answered(t, packed.String(), &profile.Options{Ask: nothing})))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z2); err != nil || string(b) != newest {
		t.Errorf("%v: %s", err, b)
	}
}

// Tables that do not fit together stay, and are counted.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][2]string{
		"a stack that is its own caller": {`"prefixOffset": [0, 1, 1, 2]`, `"prefixOffset": [0, 1, 5, 2]`},
		"a frame without a function":     {`"func": [0, 1, 2, 3]`, `"func": [0, 1, 2, 99]`},
		"columns of different lengths":   {`"func": [0, 1, 2, 3]`, `"func": [0, 1, 2, 3, 3, 3]`},
		"a table without columns":        {`"length": 4, "address"`, `"length": 4000000000, "address"`},
		"a stack without a frame":        {`"frame": [3, 1, 0, 2]`, `"frame": [3, 1, -7, 2]`},
		"a bracket that is too many":     {`"counters": []`, `"counters": ]`},
	} {
		raw := strings.Replace(newest, change[0], change[1], 1)
		o := &profile.Options{Ask: nothing}
		if out := answered(t, raw, o); out != raw {
			t.Errorf("%s: %s", name, out)
		}
		if len(o.Counts.Kept) == 0 {
			t.Errorf("%s is not counted where nothing is answered", name)
		}
		var questions []string
		o = asker(&questions)
		answered(t, raw, o)
		if len(o.Counts.Kept) == 0 {
			t.Errorf("%s is not counted", name)
		}
		stacks(t, raw)
	}
	cycle := strings.NewReplacer(`"prefixOffset": [0, 1, 1, 2]`, `"prefix": [1, 2, 0, 3]`).Replace(newest)
	stacks(t, cycle)
	o := &profile.Options{Ask: nothing}
	if answered(t, cycle, o); len(o.Counts.Kept) == 0 {
		t.Error("a cycle is not counted")
	}
	deep := `{"meta":{"preprocessedProfileVersion":70},"x":` + strings.Repeat("[", 1<<20)
	if out := answered(t, deep, &profile.Options{Ask: nothing}); out != deep {
		t.Error("a deep value changes")
	}
	if err := profile.Answer(t.Context(), list, profile.Bytes("x", []byte(newest)), io.Discard, &profile.Options{Ask: nothing, Memory: 100}); !errors.Is(err, formats.ErrLimit) {
		t.Errorf("above the room: %v", err)
	}
}

// Begins knows profiles only.
func TestBegins(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		newest: true, browser: true, perThread(40): true, ` {"libs":[{"breakpadId":"0"}],"threads":[{"stackTable":{}}]}`: true, `{"libs":[{"breakpadId":"0"},`: true,
		`{"meta":{"version":3}}`: false, `{}`: false, `[]`: false, `{"nodes":[],"startTime":1,"endTime":2}`: false, `{"$schema":"https://www.speedscope.app/file-format-schema.json"}`: false, "": false,
		`{"resourceProfiles":[]}`: false, `{"threads":[{"frames":[]}]}`: false, `{"meta":{"version":1,"interval":5}}`: false,
	} {
		if got := gecko.Format.Begins([]byte(head)); got != want {
			t.Errorf("%.60s: %v", head, got)
		}
	}
}

// large is a profile with n samples, each with a stack and a frame of its own.
func large(n int) string {
	row := func(f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(f(i))
		}
		return b.String()
	}
	same := func(v string) string { return row(func(int) string { return v }) }
	count := row(func(i int) string { return fmt.Sprint(i) })
	return fmt.Sprintf(`{"meta":{"preprocessedProfileVersion":70,"interval":1},"libs":[{"name":"a.so","debugName":"a.so","breakpadId":""}],"shared":{"stringArray":[%s],
"frameTable":{"length":%d,"address":[%s],"lib":[%s],"func":[%s],"inlineDepth":[%s],"line":[%s],"nativeSymbol":[%s]},"funcTable":{"length":%d,"name":[%s],"isJS":[%s],"resource":[%s]},
"nativeSymbols":{"length":0,"libIndex":[],"address":[],"name":[]},"stackTable":{"length":%d,"frame":[%s],"prefixOffset":[%s]}},"threads":[{"name":"t","samples":{"length":%d,"stack":[%s],"time":[%s]}}]}`,
		row(func(i int) string { return fmt.Sprintf(`"0x%x"`, i) }), n, count, same("0"), count, same("0"), same("null"), same("null"), n, count, same("false"), same("-1"), n, count, row(func(i int) string { return fmt.Sprint(min(i, 1)) }), n, count, count)
}

// The cost grows with the profile, not faster.
func TestLinear(t *testing.T) {
	cost := func(n int) uint64 {
		raw := large(n)
		var questions []string
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		answered(t, raw, asker(&questions))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, big := cost(2000), cost(16000); big > 16*small {
		t.Errorf("%d bytes for 2,000 samples, %d for 16,000", small, big)
	}
}

func FuzzGecko(f *testing.F) {
	for _, raw := range []string{newest, browser, perThread(57), perThread(40)} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !gecko.Format.Begins(raw) || bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
			return
		}
		if out := answered(t, string(raw), &profile.Options{Ask: nothing}); out != string(raw) {
			t.Fatalf("%q became %q", raw, out)
		}
		var questions []string
		out := answered(t, string(raw), asker(&questions))
		if json.Valid(raw) && !json.Valid([]byte(out)) {
			t.Fatalf("%q is no JSON any more: %q", raw, out)
		}
		stacks(t, out)
	})
}
