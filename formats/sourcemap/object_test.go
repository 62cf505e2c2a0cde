package sourcemap

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func TestFormat(t *testing.T) {
	formattest.Run(t, &Format, formattest.Testdata(t, "js/app.min.js.map"), formattest.Testdata(t, "js/index.android.bundle.map"),
		formattest.Testdata(t, "js/index.android.bundle.hbc.map"), formattest.Testdata(t, "js/index.android.bundle.composed.map"))
}

// The compiler's map beside the packager's answers as the map that Metro composed of both; but for
// columns at which the compiler puts several segments: Metro's map has them in another order.
func TestCompose(t *testing.T) {
	for _, c := range []struct{ compiler, composed string }{
		{formattest.Testdata(t, "js/index.android.bundle.hbc.map"), formattest.Testdata(t, "js/index.android.bundle.composed.map")},
		{"rn-live/app.hbc.map", "rn-live/app.composed.map.gz"},
	} {
		if strings.HasPrefix(c.compiler, "rn-live") {
			c.compiler, c.composed = formattest.Fixture(t, c.compiler), formattest.Fixture(t, c.composed)
		}
		got, want := mustExplode(t, folder(t, c.compiler)), mustExplode(t, inputOf(t, c.composed))
		if len(want.ranges) == 0 {
			t.Fatal("no ranges")
		}
		for _, g := range want.ranges {
			f := got.at(g.Start)
			if got.several(g.Start) {
				continue
			}
			if len(f) != 1 || f[0].File != g.frames[0].File || f[0].Line != g.frames[0].Line || f[0].Column != g.frames[0].Column || f[0].Name != g.frames[0].Name {
				t.Fatalf("%#x: %+v, want %+v", g.Start, f, g.frames)
			}
			if g.frames[0].Linkage != "" && f[0].Linkage != g.frames[0].Linkage {
				t.Fatalf("%#x: function %q, want %q", g.Start, f[0].Linkage, g.frames[0].Linkage)
			}
		}
	}
}

// several: the map has more than one segment at that column.
func (x *exploded) several(pos uint64) bool {
	i, found := slices.BinarySearchFunc(x.ranges, pos, func(a answer, pos uint64) int { return cmp.Compare(a.Start, pos) })
	return found && x.ranges[i].End == pos+1
}

// Without its packager's map, a compiler's leads to the bundle.
func TestCompilerAlone(t *testing.T) {
	x := mustExplode(t, inputOf(t, formattest.Testdata(t, "js/index.android.bundle.hbc.map")))
	if f := x.ranges[0].frames[0].File; f != "out/index.android.bundle" {
		t.Error(f)
	}
}

// A map inside its script is that script's: by its name, and with its functions.
func TestInline(t *testing.T) {
	const script, text = "function a(){b()}\n", `{"version":3,"sources":["a.ts"],"names":["add"],"mappings":"AAAA,SAASA,IAAI"}`
	for how, url := range map[string]string{
		"base64":  "data:application/json;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(text)),
		"percent": "data:application/json," + strings.NewReplacer(`"`, "%22", "{", "%7B", "}", "%7D").Replace(text),
	} {
		in := formattest.InputOf("https://host/js/app.js", []byte(script+"//# sourceMappingURL="+url+"\n"), formats.Limits{})
		x := mustExplode(t, in)
		if f := x.place(0, 13); len(f) != 1 || f[0].File != "a.ts" || f[0].Linkage != "add" {
			t.Errorf("%s: %+v", how, f)
		}
		if !slices.Contains(x.artifact.Names, symbol.Name{Kind: symbol.NameFile, Text: "app.js"}) || !slices.Contains(x.artifact.Names, symbol.Name{Kind: symbol.NamePath, Text: "js/app.js"}) {
			t.Errorf("%s: %v", how, x.artifact.Names)
		}
	}
	for _, bad := range []string{"data:application/json;base64,!!!", "data:application/json;base64,e30", "data:application/json;base64"} {
		_, err := explodeAll(formattest.InputOf("app.js", []byte(script+"//# sourceMappingURL="+bad), formats.Limits{}))
		var fault *formats.Error
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, none := range []string{"", "//# sourceMappingURL=app.js.map", `x="//# sourceMappingURL="`} {
		if x, err := explodeAll(formattest.InputOf("app.js", []byte(script+none), formats.Limits{})); x != nil || err != nil {
			t.Errorf("%s: %v %v", none, x, err)
		}
	}
}

// A debug id is the map's identity; without one what it answers from is, and the contents of sources are not.
func TestIdentity(t *testing.T) {
	id := func(text string) string {
		return mustExplode(t, formattest.InputOf("a.js.map", []byte(text), formats.Limits{})).artifact.Canonical
	}
	const one = `{"version":3,"sources":["a"],"mappings":"AAAA"`
	if got := id(one + `,"debug_id":"11111111-1111-1111-1111-111111111111","debugId":"85314830023F4CF1A267535F4E37BB17"}`); got != "85314830-023f-4cf1-a267-535f4e37bb17" {
		t.Error(got)
	}
	plain := id(one + "}")
	if !strings.HasPrefix(plain, "sha256:") || plain != id(one+`,"sourcesContent":["x"],"file":"b.js"}`) {
		t.Error("sourcesContent or file changes the id", plain)
	}
	for _, other := range []string{`{"version":3,"sources":["b"],"mappings":"AAAA"}`, `{"version":3,"sources":["a"],"mappings":"AACA"}`, one + `,"sourceRoot":"r"}`, one + `,"ignoreList":[0]}`} {
		if id(other) == plain {
			t.Errorf("%s has the id of another", other)
		}
	}
}

// Scopes of the specification's proposal: names of functions, and inlined ones with their calls.
func TestScopes(t *testing.T) {
	// outer (lines 0 to 9) calls inner (2 to 4), which the bundler inlined at columns 10 to 20.
	names := `["outer","Function","inner"]`
	scopes := scopeText([][]int{{1, 7, 0, 0, 0, 2}, {1, 7, 2, 0, 4, 0}, {2, 2, 0}, {2, 5, 0}, {4, 6, 0, 0}, {4, 2, 10, 2}, {8, 0, 7, 4}, {5, 10}, {5, 20}})
	x := mustExplode(t, formattest.InputOf("a.js.map", []byte(`{"version":3,"sources":["a.ts"],"names":`+names+`,"mappings":"AAAA,UAEA,UAFA","scopes":"`+scopes+`"}`), formats.Limits{}))
	for _, c := range []struct {
		column uint32
		want   string
	}{{3, "outer a.ts:1:0"}, {12, "inner a.ts:3:0 < outer a.ts:8:4"}, {25, "outer a.ts:1:0"}, {45, " a.ts:1:0"}} {
		var got []string
		for _, f := range x.place(0, c.column) {
			got = append(got, fmt.Sprintf("%s %s:%d:%d", f.Linkage, f.File, f.Line, f.Column))
		}
		if s := strings.Join(got, " < "); s != c.want {
			t.Errorf("column %d: %q, want %q", c.column, s, c.want)
		}
	}
}

// scopeText encodes items: the numbers are VLQs without sign.
func scopeText(items [][]int) string {
	const digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var all []string
	for _, item := range items {
		s := ""
		for _, v := range item {
			for ; v >= 32; v >>= 5 {
				s += string(digit[v&31|32])
			}
			s += string(digit[v])
		}
		all = append(all, s)
	}
	return strings.Join(all, ",")
}

// What no map may be: refused with the place and the reason.
func TestRefused(t *testing.T) {
	const head = `{"version":3,"sources":["a"],"names":["n"],"mappings":`
	for _, c := range []struct{ text, want string }{
		{head + `"AAAA"`, "',' or '}'"},
		{head + `"AAA`, "the end of a string"},
		{head + `"AAAg"}`, "numbers of 32 bits"},
		{head + `"A///////////D"}`, "numbers of 32 bits"},
		{head + `"ACAA"}`, "a source below 1, not 1"},
		{head + `"AAAAC"}`, "a name below 1, not 1"},
		{head + `"AAAA","mappings":"A"}`, "one mappings"},
		{head + `"AAAA"}{}`, "nothing behind the map"},
		{head + `"AAAA","x":[[[` + strings.Repeat("[", 200) + `}`, "values less nested"},
		{`{"version":3,"sections":[{"offset":{"line":2,"column":0},"map":` + head + `""}},{"offset":{"line":1,"column":0},"map":` + head + `""}}]}`, "a section behind the one before"},
		{`{"version":3,"sections":[{"offset":{"line":0,"column":4294967296},"map":` + head + `""}}]}`, "an integer from 0 to 2147483647"},
		{head + `"` + strings.Repeat(";", symbol.MaxLine) + `"}`, "at most 16777216 lines"},
	} {
		_, err := explodeAll(formattest.InputOf("a.js.map", []byte(c.text), formats.Limits{}))
		var fault *formats.Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Want, c.want) || fault.Offset == 0 {
			t.Errorf("%.80s: %v, want %s", c.text, err, c.want)
		}
	}
	nested := head + `"AAAA"}`
	for range 6 {
		nested = `{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":` + nested + `}]}`
	}
	if _, err := explodeAll(formattest.InputOf("a.js.map", []byte(nested), formats.Limits{})); !errors.Is(err, formats.ErrLimit) {
		t.Error(err)
	}
}

// A map with columns of 10^9 and segments out of order answers all the same.
func TestUnordered(t *testing.T) {
	x := mustExplode(t, formattest.InputOf("a.js.map", []byte(`{"version":3,"sources":["a"],"mappings":"gggg8BAAA,hgggkBACA,gggggBACA"}`), formats.Limits{}))
	last := uint64(0)
	for _, g := range x.ranges {
		if g.Start < last {
			t.Fatal("out of order")
		}
		last = g.End
	}
	if len(x.ranges) != 3 {
		t.Error(x.ranges)
	}
}

// A line of many segments answers as one of few, in order or not: its last segment may begin first.
func TestLongLine(t *testing.T) {
	const n = 3*pieceLength + 5
	digit := func(v int) string {
		return string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[v])
	}
	for _, back := range []bool{false, true} {
		// Two segments begin at each second column, each a line further.
		var b strings.Builder
		b.WriteString("EAAA")
		for i := 1; i < n; i++ {
			b.WriteString("," + digit(i%2*4) + "ACA")
		}
		if back { // to column 1
			b.WriteString(",")
			for v := uint(2*(n/2*2+1) | 1); ; v >>= 5 {
				if v < 32 {
					b.WriteString(digit(int(v)))
					break
				}
				b.WriteString(digit(int(v&31 | 32)))
			}
			b.WriteString("AAA")
		}
		in := formattest.InputOf("a.js.map", []byte(`{"version":3,"sources":["a"],"mappings":"`+b.String()+`"}`), formats.Limits{})
		for _, in := range []*formats.Input{in, formattest.Unmapped(in)} {
			x := mustExplode(t, in)
			for i := 1; i < len(x.ranges); i++ {
				if x.ranges[i].Start < x.ranges[i-1].End {
					t.Fatalf("back %v: range %#x in another", back, x.ranges[i].Start)
				}
			}
			if got := x.place(0, 3); len(got) != 1 || got[0].Line != 1 {
				t.Fatalf("column 3: %v", got)
			}
			for i := 1; i < n; i++ {
				column, first := uint32(2+(i+1)/2*2), i%2
				if got := x.place(0, column+uint32(1-first)); len(got) != 1 || int(got[0].Line) != i+1 {
					t.Fatalf("back %v, segment %d of column %d: %v", back, i, column, got)
				}
			}
			if got := x.place(0, 1); (len(got) == 1) != back {
				t.Errorf("column 1: %v", got)
			}
		}
	}
}

// contents is a map with so many bytes of sourcesContent, made as it is read.
type contents struct{ size int64 }

func (c contents) ReadAt(b []byte, off int64) (int, error) {
	const head, tail = `{"version":3,"sources":["a"],"sourcesContent":["`, `"],"mappings":"AAAA"}`
	n := 0
	for ; n < len(b) && off < c.size; n++ {
		switch {
		case off < int64(len(head)):
			b[n] = head[off]
		case off >= c.size-int64(len(tail)):
			b[n] = tail[off-c.size+int64(len(tail))]
		default:
			b[n] = 'x'
		}
		off++
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Contents of sources cost time alone: 300 MB of them take no memory.
func TestContentsAreNotHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	in := formattest.InputOf("a.js.map", nil, formats.Limits{})
	in.Mapped, in.Size, in.Bytes = nil, 300<<20, contents{300 << 20}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := mustExplode(t, in)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 8<<20 || len(x.ranges) != 1 {
		t.Errorf("%d bytes allocated, %d ranges", spent, len(x.ranges))
	}
}

// What a map waits for is asked by name: the script beside it, and the packager's map.
func TestCompanions(t *testing.T) {
	var asked []string
	in := inputOf(t, formattest.Testdata(t, "js/index.android.bundle.hbc.map"))
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		asked = append(asked, want.Name)
		return nil, formats.ErrNoCompanion
	}
	mustExplode(t, in)
	if !slices.Contains(asked, "index.android.bundle.packager.map") || !slices.Contains(asked, "index.android.bundle.map") {
		t.Error(asked)
	}
}

// A name that is too long is cut, in each list of names, and the map is read.
func TestLongNames(t *testing.T) {
	for _, c := range []struct{ spelled, name string }{
		{strings.Repeat("n", 127041), symbol.CutName(strings.Repeat("n", 127041))},
		{strings.Repeat(`\u006e`, 127041), symbol.CutName(strings.Repeat("n", 127041))},
		{strings.Repeat("n", 2<<20), symbol.CutName(strings.Repeat("n", 2<<20))},
	} {
		text := `{"version":3,"file":"` + c.spelled + `","sources":["` + c.spelled + `"],"names":["` + c.spelled + `"],"mappings":"AAAAA","x_facebook_sources":[[{"names":["` + c.spelled + `"],"mappings":"AAA"}]]}`
		in := formattest.InputOf("a.js.map", []byte(text), formats.Limits{})
		for _, in := range []*formats.Input{in, formattest.Unmapped(in)} {
			f := mustExplode(t, in).place(0, 0)
			if len(f) != 1 || f[0].File != c.name || f[0].Name != c.name || f[0].Linkage != c.name {
				t.Errorf("%d bytes: %.80v", len(c.spelled), f)
			}
		}
	}
}

// A source root stands before each source. A long root does not make each source cost its length.
func TestLongRoot(t *testing.T) {
	text := `{"version":3,"sourceRoot":"` + strings.Repeat("r", 60<<10) + `","sources":["a"` + strings.Repeat(`,"b"`, 10000) + `],"mappings":"AAAA"}`
	_, err := explodeAll(formattest.InputOf("a.js.map", []byte(text), formats.Limits{}))
	if !errors.Is(err, formats.ErrLimit) {
		t.Error(err)
	}
}
